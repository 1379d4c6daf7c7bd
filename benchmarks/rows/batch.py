"""`batch`: 10,000 traces of 50 events and nine rules, against the same rules by hand in Python and in C++."""

from __future__ import annotations

import json

from benchmarks.data import CACHE, JUDGE, NINE_RULES, YARDSTICK, DataSet, data_set, native_pass
from benchmarks.measure import OUTSTEP, PYTHON, Command, Measured, interleaved
from benchmarks.table import Line

RUNS = 5
BY_HAND, NATIVE = 0.65, 0.45


def lines() -> list[Line]:
    data, program = data_set("M"), native_pass()
    commands = {
        "outstep": judging(data),
        "ev_py.py": Command([PYTHON, str(YARDSTICK / "ev_py.py"), str(data.raw)]),
        "check": Command(
            [OUTSTEP, "check", "--json", "--contract", str(NINE_RULES), str(data.canonical)],
            exits=1,
            surroundings=lambda: {"OUTSTEP_CACHE_DIR": str(CACHE)},
        ),
    }
    if program is not None:
        commands["ev.cpp"] = Command([str(program), str(data.raw)])
    found = interleaved(commands, RUNS)
    flaw = data.flaw(json.loads(found["outstep"].stdout)["violated"])
    flaw_by_hand = data.flaw(json.loads(found["ev_py.py"].stdout))
    return [
        _line("nine rules, native adapter", found["outstep"], data, "ev_py.py", found, BY_HAND, flaw or flaw_by_hand),
        _line("the same", found["outstep"], data, "ev.cpp", found, NATIVE, flaw),
        _line("outstep check --json", found["check"], data, "ev_py.py", found, None, _flaw_of_report(data, found)),
    ]


def judging(data: DataSet) -> Command:
    """Return the command that judges a data set by the nine rules."""
    return Command([PYTHON, str(JUDGE), str(NINE_RULES), str(data.canonical), str(CACHE)])


def _flaw_of_report(data: DataSet, found: dict[str, Measured]) -> str:
    violated: dict[str, int] = {}
    for finding in json.loads(found["check"].stdout)["findings"]:
        if finding["verdict"] == "violated":
            violated[finding["rule"]] = violated.get(finding["rule"], 0) + 1
    return data.flaw(violated)


def _line(
    what: str,
    ours: Measured,
    data: DataSet,
    baseline: str,
    found: dict[str, Measured],
    target: float | None,
    flaw: str,
) -> Line:
    measured = f"{ours.seconds:.2f} s, {data.events / ours.seconds / 1e6:.2f} M events/s"
    if baseline not in found:
        return Line(what, measured, f"{baseline} skipped: it needs g++ and libsimdjson-dev", failure=flaw)
    floor = found[baseline].seconds
    return Line(what, measured, f"{baseline} {floor:.2f} s", floor / ours.seconds, target=target, failure=flaw)
