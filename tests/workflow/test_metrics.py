"""Scores beside traces: read, shown, and never a gate."""

from __future__ import annotations

from pathlib import Path

import pytest

import outstep
from outstep.contracts.loader import load_contract
from outstep.errors import OutstepError
from outstep.findings import Report
from outstep.render import json as json_report
from outstep.render import terminal
from outstep.render.style import PLAIN

TRACE = (
    '{{"type":"trace","schema":"trace/v1","id":"{id}"}}\n'
    '{{"type":"user.message","seq":1,"text":"hi"}}\n'
    '{{"type":"run.end","seq":2}}\n'
)
HEAD = "outstep: contract/v1\nid: kind\ntools: {look: {}}\n"
CONTRACT = f"{HEAD}rules:\n  - {{id: KIND, level: warn, for: end, require: trace.metrics.kindness >= 0.7}}\n"


def report(folder: Path, scores: str, *, named: str = "", jobs: int = 1) -> Report:
    for id in ("a", "b"):
        (folder / f"{id}.jsonl").write_text(TRACE.format(id=id), "utf-8")
    (folder / "metrics.jsonl").write_text(scores, "utf-8")
    return outstep.check(str(folder / named), load_contract(CONTRACT.encode(), name="kind.yaml"), jobs=jobs)


def score(trace: str, value: object, name: str = "kindness", by: str = "ann") -> str:
    return f'{{"trace": "{trace}", "name": "{name}", "value": {value}, "by": "{by}"}}\n'


@pytest.mark.parametrize("jobs", [1, 2])
def test_scores_are_trends_in_the_report_and_rules_may_warn_of_them(tmp_path: Path, jobs: int) -> None:
    scores = score("a", 0.8) + score("a", 0.6, by="bob") + score("b", 0.5) + score("b", 3, name="stars")
    found = report(tmp_path, scores, jobs=jobs)
    assert (found.faults, found.warnings, found.gate) == ((), (), "pass")
    assert [(one.rule, one.level, one.trace) for one in found.findings] == [("KIND", "warn", "b")]
    assert [(one.name, one.traces, one.mean, one.least, one.most) for one in found.metrics] == [
        ("kindness", 2, 0.6, 0.5, 0.7),
        ("stars", 1, 3.0, 3.0, 3.0),
    ]
    assert "metrics: kindness 0.6 (2 traces, 0.5 to 0.7), stars 3\n" in terminal.render(found, PLAIN)
    assert '"by": "bob"' in json_report.render(found, PLAIN)


def test_a_score_that_is_not_there_is_missing_evidence(tmp_path: Path) -> None:
    found = report(tmp_path, score("a", 0.7))
    assert [(one.trace, one.reason) for one in found.findings] == [("b", "missing-evidence")]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '{"name": "kindness", "value": 1}',
        '{"trace": "b", "value": 1}',
        '{"trace": "b", "name": "kindness"}',
        '{"trace": "b", "name": "kindness", "value": "high"}',
        '{"trace": "b", "name": "kindness", "value": true}',
        '{"trace": "b", "name": "kindness", "value": 1, "judge": "x"}',
        '{"trace": "b", "name": "kindness", "value": 1, "by": 3}',
        '{"trace": "b", "name": "kindness", "value": 1e999}',
        '{"trace": "a", "name": "kindness", "value": 1, "by": "ann"}',
    ],
)
def test_a_line_that_is_no_score_is_a_fault_with_its_place(tmp_path: Path, line: str) -> None:
    found = report(tmp_path, f"{score('a', 1)}\n{line}\n{score('b', 1)}")
    (fault,) = found.faults
    assert fault.code == "metrics/line"
    assert fault.place is not None
    assert fault.place.line == 3
    assert found.exit_code == 2
    assert [one.traces for one in found.metrics] == [2]


def test_numbers_of_another_program_are_left_alone_and_told(tmp_path: Path) -> None:
    found = report(tmp_path, '{"step": 1, "loss": 0.3}\n')
    assert (found.faults, [one.code for one in found.warnings]) == ((), ["metrics/no-trace"])
    found = report(tmp_path, score("of-another-run", 1))
    assert [one.code for one in found.warnings] == ["metrics/no-trace"]


def test_a_pattern_that_fits_the_file_does_not_take_it_for_a_trace(tmp_path: Path) -> None:
    found = report(tmp_path, score("a", 1), named="*.jsonl")
    assert (found.faults, [trace.id for trace in found.traces]) == ((), ["a", "b"])
    assert report(tmp_path, "", named="*.jsonl").faults == ()
    assert [fault.code for fault in report(tmp_path, score("a", 1), named="metrics.jsonl").faults] == [
        "input/no-traces"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "rules:\n  - {id: R, for: end, require: trace.metrics.kindness >= 0.7}\n",
        "rules:\n  - {id: R, for: end, when: has(trace.metrics.kindness), require: trace.harness != ''}\n",
        "rules:\n  - {id: R, for: call look, let: {m: trace.metrics}, require: m.kindness > 1}\n",
        "rules:\n  - {id: R, never: call look where trace.metrics.kindness < 0.2}\n",
        "rules:\n  - {id: R, for: end, require: 'mentions(trace, \"a\")'}\n",
        "applies_when: trace.metrics.kindness > 0\nrules:\n  - {id: R, level: warn, never: call look}\n",
        "facts: {f: {from: call look, value: trace.metrics.kindness}}\nrules:\n"
        "  - {id: R, level: warn, for: end, require: f != 3}\n",
    ],
)
def test_nothing_that_blocks_rests_on_a_score(text: str) -> None:
    with pytest.raises(OutstepError) as raised:
        load_contract((HEAD + text).encode(), name="kind.yaml")
    assert [problem.code for problem in raised.value.problems] == ["contract/block-needs-deterministic"]
    assert raised.value.problems[0].place is not None


def test_a_rule_that_is_lowered_may_read_a_score() -> None:
    text = "rules:\n  - {id: R, level: observe, for: end, require: trace.metrics.kindness >= 0.7}\n"
    assert load_contract((HEAD + text).encode(), name="kind.yaml").rules[0].level == "observe"
