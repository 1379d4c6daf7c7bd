"""Write the compiled form of every pack beside its YAML: `make packs`."""

from __future__ import annotations

from pathlib import Path

from outstep.contracts import packs
from outstep.contracts.bundled import compile_pack


def main() -> None:
    """Compile all packs."""
    folder = Path(packs.__file__).parent
    for name in packs.NAMES:
        (folder / f"{name}.json").write_bytes(compile_pack(name))


if __name__ == "__main__":
    main()
