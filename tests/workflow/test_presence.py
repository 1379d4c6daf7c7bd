"""Members that conditions read and that no event of some traces has."""

from __future__ import annotations

from pathlib import Path

import pytest

from outstep.contracts.loader import load_contract
from outstep.tracetext import parse_trace
from outstep.workflow.presence import never_present
from outstep.workflow.traces import Trace
from tests.cli.conftest import SHOP
from tests.command_line import outstep

HEAD = """outstep: contract/v1
tools: {pay: {}, ship: {}, order.get: {}, refund: {args: {properties: {reason: {}}}}}
"""
TRACE = """
call order.get {"id": "A"} as g turn 1
result g ok {"id": "A", "item": {"state": "PAID"}}
call pay {"id": "A", "amount": 5, "card": {"kind": "visa"}} as p turn 2
result p ok text "{\\"paid\\": true}"
call refund {"id": "A"} as r turn 3
result r ok "plain text"
end completed
"""


def found(rule: str, trace: str = TRACE) -> list[tuple[str, str]]:
    header, events = parse_trace(trace)
    contract = load_contract((HEAD + rule + "\n").encode())
    problems = never_present(contract, [Trace(header=header, events=events)])
    assert {problem.code for problem in problems} <= {"condition/never-present"}
    return [(problem.sentence.split("`")[1], problem.help) for problem in problems]


@pytest.mark.parametrize(
    ("rule", "name", "help"),
    [
        ("rules: [{id: A, for: call pay, when: args.amuont > 1, require: args.id != ''}]", "args.amuont", "`amount`"),
        ("rules: [{id: A, never: call pay where args.card.knid == 'visa'}]", "args.card.knid", "`kind`"),
        ("rules: [{id: A, never: result pay where data.payed == true}]", "data.payed", "`paid`"),
        (
            "rules: [{id: A, for: call pay, needs: ok result order.get where data.item.stat == 'PAID'}]",
            "data.item.stat",
            "`state`",
        ),
        (
            "rules: [{id: A, for: call pay, then: ok result pay where args.id == this.args.order}]",
            "args.order",
            "`card`",
        ),
        (
            "facts: {f: {from: ok result order.get, key: data.orderId}}\n"
            "rules: [{id: A, for: call pay, require: args.id in f}]",
            "data.orderId",
            "has(data.orderId)",
        ),
        ("rules: [{id: A, never: call * where args['tpye'] == 1}]", "args.tpye", "has(args.tpye)"),
    ],
)
def test_a_member_that_no_event_has_is_told(rule: str, name: str, help: str) -> None:
    ((told, helped),) = found(rule.replace("['tpye']", ".tpye"))
    assert told == name
    if name != "args.order":
        assert help in helped


@pytest.mark.parametrize(
    "rule",
    [
        "rules: [{id: A, for: call pay, when: args.amount > 1, require: args.nothing == 1}]",
        "rules: [{id: A, never: call pay where has(args.force) && args.force}]",
        "rules: [{id: A, never: call ship where args.anything == 1}]",
        "rules: [{id: A, never: call refund where args.reason == 'x'}]",
        "rules: [{id: A, never: result refund where data.x == 1}]",
        "rules: [{id: A, never: call * where args.amount == 1}]",
    ],
)
def test_what_is_there_or_tested_or_declared_or_never_called_is_not(rule: str) -> None:
    assert found(rule) == []


def test_lint_tells_it_over_recorded_traces(tmp_path: Path) -> None:
    contract = tmp_path / "contract.yaml"
    contract.write_text(
        "outstep: contract/v1\ntools: {refund.create: {}}\n"
        "rules: [{id: A, never: call refund.create where args.amuontCents > 5}]\n",
        "utf-8",
    )
    done = outstep("contract", "lint", str(contract), "--traces", str(SHOP / "good.jsonl"), together=True)
    assert done.returncode == 0
    assert b"warning[condition/never-present]" in done.stdout
    assert b"did you mean `amountCents`?" in done.stdout
    strict = outstep("contract", "lint", str(contract), "--strict", "--traces", str(SHOP / "good.jsonl"), together=True)
    assert strict.returncode == 2
