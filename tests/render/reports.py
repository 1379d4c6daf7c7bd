"""Reports made by hand for the tests of renderers."""

from __future__ import annotations

from typing import Any

from outstep.errors import Place, Problem
from outstep.findings import SCHEMA, ContractSummary, Finding, Report, RuleSummary, TraceSummary, Witness

HOSTILE = 'x\x1b[31m\x1b]0;owned\x07\u202e\n  --> fake.jsonl line 1\r"</script>`'


def finding(**fields: Any) -> Finding:
    told: dict[str, Any] = {
        "rule": "VERIFY",
        "level": "block",
        "verdict": "violated",
        "message": "not verified",
        "sentence": "not verified",
        "trace": "t1",
        "event": 4,
        "of": 7,
        "seq": 4,
        "turn": 2,
        "agent": "main",
        "place": Place(source="s.jsonl", line=5),
        "contract": "shop",
        "contract_place": Place(source="c.yaml", line=9, column=3),
        "witness": (
            Witness(seq=4, type="tool.call", quote='call pay(id="A1")', place=Place(source="s.jsonl", line=5)),
        ),
    }
    return Finding(**{**told, **fields})


def report(*findings: Finding, **fields: Any) -> Report:
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": "outstep 0",
        "gate": "block" if findings else "pass",
        "exit_code": 1 if findings else 0,
        "contracts": (ContractSummary(id="shop"),),
        "traces": (TraceSummary(id="t1", sources=("s.jsonl",), events=7, calls=2, satisfied=1),),
        "rules": (RuleSummary(rule="VERIFY", level="block", contract="shop", satisfied=1),),
        "findings": findings,
    }
    return Report(**{**told, **fields})


def hostile() -> Report:
    """A report in which every text that can come from a trace or a file name is hostile."""
    place = Place(source=HOSTILE, pointer=HOSTILE)
    bad = finding(
        message=HOSTILE,
        sentence=HOSTILE,
        trace=HOSTILE,
        agent=HOSTILE,
        call_id=HOSTILE,
        key=HOSTILE,
        values=(HOSTILE,),
        missing=(HOSTILE,),
        place=place,
        waived=HOSTILE,
        witness=(Witness(seq=4, quote=HOSTILE, place=place), Witness(seq=5, note=HOSTILE, quote=HOSTILE, place=place)),
    )
    return report(
        bad,
        traces=(TraceSummary(id=HOSTILE, sources=(HOSTILE,), events=1), TraceSummary(id="t2", events=1)),
        faults=(Problem(code="adapter/damaged-record", sentence=HOSTILE, place=place, excerpt=HOSTILE, help=HOSTILE),),
    )
