"""Reports made by hand for the tests of renderers."""

from __future__ import annotations

from typing import Any

from outstep.errors import Place, Problem
from outstep.findings import SCHEMA, ContractSummary, Finding, Report, RuleSummary, TraceSummary, Verdict, Witness

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


TRAPS = (
    HOSTILE,
    "](javascript:alert(1)) <img src=x onerror=alert(1)> </td></tr>",
    "@everyone https://evil.example www.evil.example #1 :skull: a_b_c *x* ~~y~~ `z` ``q`` | cell",
    "$\\color{green}{passed}$ !1 :white_check_mark: %1 ~label GH-1",
    "::error file=x::fake%0A::warning::y",
    "=cmd|' /C calc'!A0,\"a\"\t+1",
    "a\u2028b\u2029c\x85d\u2066e\u2069f\u200fg\x9b31mh\x1b]8;;https://evil.example\x07i\U000e0041j",
    "section_start:1:x\r\x1b[0K ##[error]y %0D",
    "Z" + "\u0301" * 500,
    "]]> <!-- --> <![CDATA[ &amp; & \x00 \x0b \ufffe \uffff \ud800",
    "退款已完成。您好！",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "👩‍🚒🎉",
    '"; rm -rf / #',
    "",
)
"""What a text from a stranger may try in any format, and what is only unusual."""


def golden() -> Report:
    """One report with every verdict, level and kind of message, and one hostile text for every trap."""
    findings = [
        finding(rule=f"R{number}", message=trap, values=(trap,), key=trap, trace="t1", fingerprint=f"{number:032x}")
        for number, trap in enumerate(TRAPS)
    ]
    contract = Place(source="contracts/c.yaml", line=9, column=3)
    findings += [
        finding(
            rule="OPEN",
            verdict="inconclusive",
            reason="hidden-evidence",
            missing=("order: a gap may hide it",),
            event=None,
            of=None,
            seq=None,
            call_id="c-1",
            help="give the whole record",
            witness=(Witness(seq=2, type="gap", quote="gap lost (may hide anything)", note="lost"),),
            fingerprint="a" * 32,
        ),
        finding(
            rule="WARN", level="warn", place=Place(source="a b/ü%.json", pointer="/messages/3"), fingerprint="b" * 32
        ),
        finding(rule="SEEN", level="observe", agent="sub-1", turn=None, fingerprint="c" * 32),
        finding(rule="WAIVED", waived="ops: known (until 2030-01-01)", place=None, fingerprint="d" * 32),
        finding(
            rule="IDLE",
            verdict="vacuous",
            reason="never-exercised",
            trace="",
            place=None,
            event=None,
            seq=None,
            witness=(),
        ),
    ]
    rules = [RuleSummary(rule=one.rule, level=one.level, contract="shop", violated=1) for one in findings]
    rules += [
        RuleSummary(rule="HELD", level="block", contract="shop", satisfied=2),
        RuleSummary(rule="ASLEEP", level="block", contract="shop", vacuous=2),
        RuleSummary(rule="INCOMPLETE_TRACE", level="block", contract="shop", pack="integrity", satisfied=2),
    ]
    unsatisfied: dict[str, Verdict] = {one.rule: one.verdict for one in findings}
    traces = (
        TraceSummary(
            id="t1",
            sources=("s.jsonl",),
            sha256=("0" * 64,),
            events=7,
            verdicts=({**unsatisfied, "ASLEEP": "vacuous"},),
        ),
        TraceSummary(id=HOSTILE, sources=(HOSTILE,), events=1, verdicts=({"ASLEEP": "vacuous"},)),
        TraceSummary(id="broken", events=1, verdicts=(None,)),
    )
    return report(
        *findings,
        gate="error",
        exit_code=2,
        contracts=(ContractSummary(id="shop", title=HOSTILE, source=contract.source, sha256="1" * 64),),
        rules=tuple(rules),
        traces=traces,
        faults=tuple(
            Problem(code="adapter/damaged-record", sentence=trap, place=Place(source=trap, line=3), help=trap)
            for trap in TRAPS
        ),
        warnings=(Problem(code="outcome/unrecorded", sentence="nobody tells", level="warning"),),
    )


def large(traces: int, findings: int) -> Report:
    """A report on many traces with so many findings each, in which no two findings say the same."""
    rules = [f"RULE_{number}" for number in range(findings)]
    summaries, found = [], []
    for number in range(traces):
        trace, source = f"run-{number:05d}", f"runs/batch-{number % 50:02d}/run-{number:05d}.jsonl"
        summaries.append(TraceSummary(id=trace, sources=(source,), events=40, calls=12, violated=findings))
        found += [_one_of_many(rule, at, number * findings + at, trace, source) for at, rule in enumerate(rules)]
    counted = tuple(RuleSummary(rule=rule, level="block", contract="shop", violated=traces) for rule in rules)
    return report(*found, traces=tuple(summaries), rules=counted)


def _one_of_many(rule: str, at: int, number: int, trace: str, source: str) -> Finding:
    is_open = at % 5 == 4
    place = Place(source=source, line=at + 4)
    call = Witness(
        seq=at + 3, type="tool.call", quote=f'call refund(order="ORD-{number}", cents={number})', place=place
    )
    order = Witness(seq=at, type="tool.result", note="the order", quote=f'result ok order.get: {{"id":"ORD-{number}"}}')
    return finding(
        rule=rule,
        level=("block", "warn", "observe")[at % 3],
        verdict="inconclusive" if is_open else "violated",
        message=f"the amount of refund {number} is not shown to lie within what the order allows",
        sentence="`args.cents <= order[args.order].total` is false",
        trace=trace,
        seq=at + 3,
        event=at + 4,
        of=40,
        key=f'"ORD-{number}"',
        values=(f"{number + 100} > {number}",),
        missing=(f'`verified["C-{number}"]`: no result for it is known',) if is_open else (),
        witness=(call, order),
        place=place,
        fingerprint=f"{number:032x}",
        help=f'to accept it until a day: waivers: [{{rule: "{rule}", trace: "{trace}", owner: …, until: …}}]',
    )
