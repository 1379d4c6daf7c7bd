"""The command line, run in this process, in a folder with small traces and contracts of a shop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from outstep.cli import main

SHOP = Path(__file__).parent / "shop"
SNAPSHOTS = Path(__file__).parent / "snapshots"


class Done(Struct, frozen=True):
    """What a command did."""

    code: int
    out: str
    err: str


Outstep = Callable[..., Done]


@pytest.fixture
def outstep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Outstep:
    """Run a command in the shop, with a cache of its own."""
    monkeypatch.chdir(SHOP)
    monkeypatch.setenv("OUTSTEP_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("OUTSTEP_LANG", "NO_COLOR", "OUTSTEP_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Done:
        capsys.readouterr()
        code = main(list(words))
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run
