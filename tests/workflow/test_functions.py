"""The kind `python` from a file: where functions are found, what becomes of their answers, and when they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import outstep
from outstep.errors import OutstepError
from outstep.tracetext import parse_trace
from outstep.workflow.contracts import open_contract
from tests.workflow.shop import BAD, GOOD, lines, trace

HEAD = "outstep: contract/v1\nid: own\ntools: {order.get: {}, refund.create: {}}\n"
RULE = '  - {id: OWN, python: "own_checks:check"}\n'
CHECK = """
def check(trace):
    for event in trace.events:
        if event["type"] == "tool.call" and event["tool"] == "refund.create":
            yield f"a refund of {event['args']['orderId']}", event
"""


@pytest.fixture(autouse=True)
def forget_modules() -> Iterator[None]:
    """Let no test see the modules of another one."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if "checks" in name:
            del sys.modules[name]


def written(folder: Path, check: str = CHECK, rules: str = RULE) -> Path:
    """Write a contract and its module, and return where the contract lies."""
    folder.mkdir(exist_ok=True)
    (folder / "own_checks.py").write_text(check, "utf-8")
    (folder / "own.yaml").write_text(f"{HEAD}rules:\n{rules}", "utf-8")
    return folder / "own.yaml"


def codes(report: outstep.Report) -> list[str]:
    return [fault.code for fault in report.faults]


def test_a_module_beside_the_contract_is_found_from_any_folder(tmp_path: Path) -> None:
    report = outstep.check([trace(BAD)], written(tmp_path))
    assert [(found.sentence, found.seq) for found in report.findings if found.rule == "OWN"] == [
        ("a refund of A1", 1),
        ("a refund of A1", 3),
    ]
    assert report.exit_code == 1


def test_two_contracts_may_each_have_a_module_of_one_name(tmp_path: Path) -> None:
    first = written(tmp_path / "a")
    second = written(tmp_path / "b", "def check(trace):\n    return 'the other one'\n")
    report = outstep.check([trace(GOOD)], [first, second])
    assert [found.sentence for found in report.findings if found.rule == "OWN"] == ["a refund of A1", "the other one"]


def test_a_module_of_a_package_and_its_neighbours_are_found(tmp_path: Path) -> None:
    contract = written(tmp_path, rules='  - {id: OWN, python: "more_checks.money:check"}\n')
    (tmp_path / "more_checks").mkdir()
    (tmp_path / "more_checks" / "__init__.py").touch()
    (tmp_path / "more_checks" / "money.py").write_text("from own_checks import check\n", "utf-8")
    assert len(outstep.check([trace(BAD)], contract).findings) == 2


def test_without_a_file_beside_it_the_import_path_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contract = written(tmp_path / "contract")
    (tmp_path / "installed").mkdir()
    os.replace(tmp_path / "contract" / "own_checks.py", tmp_path / "installed" / "own_checks.py")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    assert len(outstep.check([trace(BAD)], contract).findings) == 2


@pytest.mark.parametrize(
    ("check", "rules", "code", "said"),
    [
        (CHECK, '  - {id: OWN, python: "no_checks:check"}\n', "contract/no-module", "there is no module `no_checks`"),
        (CHECK, '  - {id: OWN, python: "own_checks:chekc"}\n', "contract/no-function", "has no function `chekc`"),
        ("import no_such_thing", RULE, "contract/function-import", "No module named 'no_such_thing'"),
        ("1 / 0", RULE, "contract/function-import", "ZeroDivisionError: division by zero"),
        ("def check(:", RULE, "contract/function-import", "SyntaxError"),
        ("raise SystemExit(0)", RULE, "contract/function-import", "SystemExit: 0"),
    ],
)
def test_what_cannot_be_loaded_is_said_with_its_place_in_the_contract(
    tmp_path: Path, check: str, rules: str, code: str, said: str
) -> None:
    with pytest.raises(OutstepError) as caught:
        outstep.check([trace(GOOD)], written(tmp_path, check, rules))
    (problem,) = caught.value.problems
    assert problem.code == code
    assert said in problem.sentence
    assert problem.place is not None
    assert problem.place.line == 5
    assert problem.help


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return trace.events[0]['amount']", "raised `KeyError: 'amount'` (own_checks.py:2)"),
        ("return [object()]", "returned `<object object at 0x…>`, which is no finding"),
        ("trace.events.clear()", "changed the trace that it was given"),
        ("trace.events[0]['x'] = object()", "changed the trace that it was given"),
        ("return ('here', 99)", "returned `('here', 99)`, which is no finding"),
        ("return True", "raised `TypeError: 'bool' object is not iterable`"),
        ("raise SystemExit(0)", "raised `SystemExit: 0` (own_checks.py:2)"),
        ("import itertools; return itertools.repeat('again')", "returned more than 1,000 findings"),
    ],
)
def test_a_function_that_is_no_check_is_a_fault_and_never_a_pass(tmp_path: Path, body: str, said: str) -> None:
    report = outstep.check([trace(GOOD)], written(tmp_path, f"def check(trace):\n    {body}\n"))
    (fault,) = report.faults
    assert fault.code == "engine/broken-check"
    assert fault.sentence.startswith(f"`OWN` could not be checked on trace `t1`: `own_checks:check` {said}")
    assert fault.place is not None
    assert fault.place.line == 5
    assert report.exit_code == 2
    assert [found.reason for found in report.findings] == ["broken-check"]


def test_prints_of_a_function_stay_out_of_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = f"print('imported')\n{CHECK.replace('for event', 'print(1)' + chr(10) + '    for event', 1)}"
    outstep.check([trace(GOOD)], written(tmp_path, check))
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "imported\n1\n"


def test_several_processes_say_the_same(tmp_path: Path) -> None:
    contract = written(tmp_path)
    for name, text in (("a", BAD), ("b", GOOD), ("c", BAD)):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(trace(text, name)))
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    alone = outstep.check(paths, contract)
    assert outstep.check(paths, contract, jobs=2) == alone
    assert len(alone.findings) == 5


def test_reading_a_contract_runs_nothing_and_neither_does_the_cache(tmp_path: Path) -> None:
    contract = written(tmp_path, "raise RuntimeError('this ran')")
    for _ in range(2):
        open_contract(str(contract), cache=tmp_path / "cache")
    with pytest.raises(OutstepError, match="this ran"):
        outstep.check([trace(GOOD)], contract, cache=tmp_path / "cache")
    written(tmp_path)
    assert outstep.check([trace(BAD)], contract, cache=tmp_path / "cache").exit_code == 1


def test_an_included_file_brings_no_code_unless_the_contract_names_the_rule(tmp_path: Path) -> None:
    written(tmp_path / "pack")
    main = tmp_path / "main.yaml"
    main.write_text(
        "outstep: contract/v1\nid: main\ninclude: [./pack/own.yaml]\nrules: [{id: A, never: end}]\n", "utf-8"
    )
    with pytest.raises(OutstepError) as caught:
        open_contract(str(main))
    (problem,) = caught.value.problems
    assert problem.code == "contract/code-from-include"
    assert "levels: {OWN: block}" in problem.help
    main.write_text("outstep: contract/v1\nid: main\ninclude: [./pack/own.yaml]\nlevels: {OWN: warn}\n", "utf-8")
    report = outstep.check([trace(BAD)], main)
    assert [(found.rule, found.level) for found in report.findings] == [("OWN", "warn")] * 2


def test_a_live_monitor_is_handed_the_functions_and_asks_them_at_the_close(tmp_path: Path) -> None:
    contract, _ = open_contract(str(written(tmp_path)))
    header, events = parse_trace(BAD)
    monitor = outstep.Monitor(outstep.ready(contract), header)
    assert [ruling for event in events for ruling in monitor.feed(event)] == []
    assert [ruling.sentence for ruling in monitor.close()] == ["a refund of A1"] * 2
    with pytest.raises(OutstepError, match="was not loaded"):
        outstep.Monitor(contract, header)
