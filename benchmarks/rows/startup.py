"""`startup`: one `outstep check` of a short session as a process of its own, against a Python that does nothing."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks import sessions
from benchmarks.data import CACHE
from benchmarks.measure import OUTSTEP, PYTHON, ROOT, Command, Measured, interleaved, run
from benchmarks.table import Line

RUNS = 15
WARM, COLD, MODULES = 6, 12, 40
PASS = "python -c pass"
REFUND = ROOT / "src" / "outstep" / "contracts" / "packs" / "refund.yaml"
DSH_REFUND = ROOT / "examples" / "refund" / "dsh-refund.yaml"
BANNED = ("yaml", "pydantic", "rich", "asyncio")
COSTLY = ("jsonschema", "re2", "dataclasses", "zstandard")
"""Named when they are there, since each costs some milliseconds."""
COUNT = """
import json, sys
from outstep.cli import main
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    main(sys.argv[2:])
own = sum(name.split(".")[0] == "outstep" for name in sys.modules)
json.dump({"own": own, "there": [name for name in sys.argv[1].split(",") if name in sys.modules]}, sys.stdout)
"""


def lines() -> list[Line]:
    native, chat, dsh = sessions.native(), sessions.chat(), sessions.dsh()
    with tempfile.TemporaryDirectory() as folder:

        def cold() -> Mapping[str, str]:
            return {"OUTSTEP_CACHE_DIR": tempfile.mkdtemp(dir=folder)}

        commands = {
            PASS: Command([PYTHON, "-c", "pass"]),
            "native, pack `refund`": _check(native, "refund"),
            "openai-chat, pack `refund`": _check(chat, "refund"),
            "dsh, pack `refund` (nothing fits)": _check(dsh, "refund"),
            "dsh, contract file, warm cache": _check(dsh, str(DSH_REFUND)),
            "native, contract file, warm cache": _check(native, str(REFUND)),
            "native, contract file, cold cache": _check(native, str(REFUND))._replace(surroundings=cold),
        }
        found = interleaved(commands, RUNS)
    floor = found.pop(PASS)
    timed = [_line(what, one, floor) for what, one in found.items()]
    return [*timed, *_modules({"native": native, "openai-chat": chat, "dsh": dsh})]


def _check(session: Path, contract: str) -> Command:
    words = [OUTSTEP, "check", str(session), "--contract", contract]
    return Command(words, exits=1, surroundings=_warm)


def _warm() -> Mapping[str, str]:
    return {"OUTSTEP_CACHE_DIR": str(CACHE)}


def _line(what: str, found: Measured, floor: Measured) -> Line:
    return Line(
        what,
        f"{found.seconds * 1e3:.1f} ms",
        f"{PASS} {floor.seconds * 1e3:.1f} ms",
        found.seconds / floor.seconds,
        bound="at most",
        target=COLD if "cold" in what else WARM,
    )


def _modules(files: Mapping[str, Path]) -> list[Line]:
    """Count the modules of Outstep that one warm check imports, and look for those that cost."""
    counted: list[Line] = []
    banned: dict[str, None] = {}
    for name, session in files.items():
        contract = str(DSH_REFUND) if name == "dsh" else "refund"
        words = [PYTHON, "-c", COUNT, ",".join((*BANNED, *COSTLY)), "check", str(session), "--contract", contract]
        said = json.loads(run(Command(words, surroundings=_warm)).stdout)
        banned |= dict.fromkeys(name for name in said["there"] if name in BANNED)
        also = ", ".join(name for name in said["there"] if name in COSTLY)
        own: int = said["own"]
        measured = f"{own}, with {also}" if also else f"{own}"
        counted.append(Line(f"own modules, {name}", measured, "", own, "modules", "at most", MODULES))
    listed = ", ".join(BANNED)
    return [*counted, Line(f"any of {listed}", ", ".join(banned), "", len(banned), "modules", "at most", 0)]
