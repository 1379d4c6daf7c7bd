"""A contract of a shop and traces for it, in memory."""

from __future__ import annotations

from outstep import Trace
from outstep.adapters.write import write
from outstep.contracts.loader import load_contract
from outstep.contracts.model import Contract
from outstep.tracetext import parse_trace

CONTRACT = b"""
outstep: contract/v1
id: shop
tools:
  order.get: {effect: read}
  refund.create: {effect: write}
facts:
  order: {from: ok result order.get, key: data.id}
rules:
  - id: KNOWN_ORDER
    for: call refund.create
    require: order[args.orderId].id == args.orderId
  - {id: ONCE, for: call refund.create, at_most: 1, per: args.orderId}
"""

BAD = """
user "refund A1"
call refund.create {"orderId": "A1"} turn 1
result ok {"refundId": "R1"}
call refund.create {"orderId": "A1"} turn 2
result ok {"refundId": "R2"}
say "done" turn 3
end completed
"""

GOOD = """
user "refund A1"
call order.get {"id": "A1"} turn 1
result ok {"id": "A1"}
call refund.create {"orderId": "A1"} turn 2
result ok {"refundId": "R1"}
say "done" turn 3
end completed
"""


def contract(text: bytes = CONTRACT) -> Contract:
    return load_contract(text, name="shop.yaml")


def trace(text: str, id: str = "t1") -> Trace:
    header, events = parse_trace(f"id {id}\n{text}")
    return Trace(header=header, events=events)


def lines(*traces: Trace) -> bytes:
    return b"".join(write([[one.header, *one.events] for one in traces]))
