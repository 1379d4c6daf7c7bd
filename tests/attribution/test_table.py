"""Every row of the method, where it applies and where something keeps it from being told (docs/attribution.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import structs

from outstep.adapters.base import Document
from outstep.attribution.answer import Answer
from outstep.contracts.loader import load
from outstep.contracts.model import Contract
from outstep.findings import Finding
from outstep.tracetext import parse_trace
from outstep.workflow.attributing import read_trace
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.trace_files import Opened
from outstep.workflow.traces import Trace

HERE = Path(__file__).parent
ROWS: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "table.yaml").read_text("utf-8"))
PAGE = (HERE.parents[1] / "docs" / "attribution.md").read_text("utf-8")


@pytest.mark.parametrize("name", ROWS)
def test_a_row_says_what_the_table_says(name: str) -> None:
    row = ROWS[name]
    trace, contract = _trace(row), _contract(row)
    found = _findings(trace, contract, row)
    if row.get("holds"):
        assert not found
        return
    assert found, "the rule of the row does not fire"
    answer = read_trace(trace, contract, next(rule for rule in contract.rules if rule.id == found[0].rule), found[0])
    says = [reading.factor for reading in answer.readings] or "nothing"
    last = answer.readings[-1] if answer.readings else None
    assert says == row["says"], answer
    if "code" in row:
        assert (last.code if last is not None else answer.code) == row["code"]
    if "left" in row:
        assert list(answer.left) == row["left"]
    if "rests_on" in row:
        assert [one.event for one in (last.rests_on if last is not None else answer.rests_on)] == row["rests_on"]
    _is_evidence_linked(answer, trace)


def test_every_row_stands_on_the_page_and_the_page_names_no_other() -> None:
    source = "".join(path.read_text("utf-8") for path in (HERE.parents[1] / "src/outstep/attribution").glob("*.py"))
    written = set(re.findall(r'(?:cannot_tell\(\s*|code=f?)"([a-z-]+)(?:\{[^"]*)?"', source))
    codes = {code for code in written if not code.endswith("-")} | {
        "went-on-failed",
        "went-on-denied",
        "claimed-failed",
        "claimed-denied",
        "claimed-unanswered",
    }
    assert codes == set(re.findall(r"^\| `([a-z-]+)`", PAGE, re.MULTILINE))


def _is_evidence_linked(answer: Answer, trace: Trace) -> None:
    for reading in answer.readings:
        assert reading.rests_on, "a reading without an event"
        assert reading.ruled_out, "a reading that rules nothing out"
        assert reading.factor not in {one.factor for one in reading.ruled_out}
        assert all(1 <= one.event <= len(trace.events) for one in reading.rests_on)
    if not answer.readings:
        assert answer.because
        assert not set(answer.left) & {one.factor for one in answer.ruled_out}


def _trace(row: dict[str, Any]) -> Trace:
    header, events = parse_trace(row["trace"] + "end completed\n")
    header = structs.replace(
        header, id="t", tools=dict.fromkeys(row.get("tools", ()), "1"), skills=tuple(row.get("skills", ()))
    )
    return Trace(header=header, events=events)


def _contract(row: dict[str, Any]) -> Contract:
    return load(f"outstep: contract/v1\nid: c\n{row['contract']}".encode(), name="c.yaml")[0]


def _findings(trace: Trace, contract: Contract, row: dict[str, Any]) -> list[Finding]:
    opened = Opened(trace=trace, documents=tuple[Document, ...](), faults=())
    report = check_groups([opened.group], [contract], CheckOptions())
    return [
        finding
        for finding in report.findings
        if finding.rule == row.get("rule", "R") and row.get("event", finding.event) == finding.event
    ]
