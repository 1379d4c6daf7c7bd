"""What the language page shows can be written as it is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from outstep.contracts.loader import load
from tests.contracts.loading import codes

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

HEAD = """
params: {allowed: [pay]}
tools: {deploy: {effect: write}, test: {}, build: {}, order.get: {}, order.cancel: {}, order.ship: {}, mail.send: {},
  vault.get: {}, refund.create: {}, migrate: {}, pay: {}, edit: {}, shell: {}, transfer_to_human: {}}
facts:
  status: {from: [{from: ok result order.get, key: data.id, value: data.state},
    {from: ok result order.cancel, key: args.id, value: '"CANCELLED"'}]}
  token: {from: ok result vault.get, value: data.token}
  shop: {from: state}
  order: {from: ok result order.get, key: data.id}
  verified: {from: result order.get, key: args.customerId, value: ok && data.verified == true}
claims: {tests_pass: ["tests? ... (pass|passed)"]}
"""

JOBS = {
    "order of steps": ["for: call deploy, needs: ok result test", "for: call test, needs: ok result build"],
    "state machine": ["for: call order.ship, require: 'status[args.id] == \"PAID\"'"],
    "loop": ["for: call *, at_most: 3, per: [tool, args], in_a_row: true"],
    "budget": ["for: decision, sum: usage.output_tokens, at_most: 200000", "for: decision, at_most: 40"],
    "flow in": ["for: call mail.send, require: known(args.to)"],
    "flow out": ['for: [message, call @write], require: "!carries(this, token)"'],
    "answer names a value": ["for: ok result refund.create, then: 'message where mentions(text, this.data.refundId)'"],
    "approval": [
        'for: ok result deploy, require: approval == "allowed"',
        'for: call deploy, needs: approval where tool == "deploy" && decision == "allowed"',
    ],
    "context": [
        'for: call migrate, needs: context where what == "skill" && name == "db", '
        'since: context where what == "compaction"'
    ],
    "business state": ["for: state, require: state.stock >= 0", "for: end, require: shop.open == 0"],
    "the call's own result": ["for: call pay, then: ok its result"],
    "only these tools": ["never: call * where !(tool in params.allowed)"],
    "read aloud": [
        "for: call refund.create, require: 'verified[order[args.orderId].customerId]'",
        "for: claim tests_pass, needs: result shell where exit == 0, since: ok result edit",
        "never: call *, after: ok result transfer_to_human",
    ],
}


@pytest.mark.parametrize("text", EXAMPLES, ids=[f"example {number}" for number in range(len(EXAMPLES))])
def test_an_example_has_no_mistake_and_no_warning(text: str) -> None:
    warnings = load(text.encode())[1]
    assert list(warnings) == []


def test_there_are_two_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("job", "rule"), [(job, rule) for job, rules in JOBS.items() for rule in rules])
def test_a_job_is_written_as_the_page_shows(job: str, rule: str) -> None:
    assert codes(f"{HEAD}\nrules:\n  - {{id: R, {rule}}}\n") == [], job
