"""The command line: arguments in, a report on stdout, everything else on stderr (docs/cli.md)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

SEARCH_EVERY = 20_000
"""New objects after which those that only hold each other are searched for."""


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `words` this process is the command, and ends with it."""
    if words is not None:
        from outstep.cli.commands import run

        return run(words)
    try:
        return _own_process()
    finally:
        # What lives until the end needs no search for what could be let go.
        gc.freeze()


def _own_process() -> int:
    # Imports make nothing that could be let go of, and searching for it by the usual 700 objects takes a tenth of the
    # time of a short command.
    gc.set_threshold(SEARCH_EVERY)
    _import_msgspec()
    from outstep.cli.commands import run

    return run(sys.argv[1:])


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which brings `inspect` along: a sixth of the start of a command.

    msgspec takes three names from it if it is installed, and else the same ones from `typing`, which has them from
    Python 3.11 on. Whoever imports `typing_extensions` later gets it as ever.
    """
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    except ImportError:
        # An msgspec that cannot do without it, or none at all: the next import tells.
        pass
    finally:
        del sys.modules[name]
