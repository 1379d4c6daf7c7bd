"""The nine rules by hand: one pass over a yardstick data set, with nothing that a contract language needs.

usage: ev_py.py FILE

The floor that generated code is held against: no lanes, no gaps, no known-order, no witnesses, and exactly these nine
rules; msgspec reads only the members that they look at. Prints the violations counted by rule, as JSON.
"""

# The loop is a single function on purpose: a call an event would cost more than the rules.
# ruff: noqa: C901, PLR0915

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

PRE, POST = "Refund for order ", " has been issued"
Found = list[tuple[str, str, int]]


class Args(msgspec.Struct, gc=False):
    orderId: str | None = None  # noqa: N815
    customerId: str | None = None  # noqa: N815
    amountCents: int = 0  # noqa: N815


class Data(msgspec.Struct, gc=False):
    customerId: str | None = None  # noqa: N815
    verified: bool = False
    id: str | None = None
    status: str | None = None
    refundableCents: int = 0  # noqa: N815
    approved: bool = False
    maxRefundCents: int = 0  # noqa: N815
    orderId: str | None = None  # noqa: N815
    refundId: str | None = None  # noqa: N815


class Event(msgspec.Struct, gc=False):
    trace_id: str
    seq: int
    type: str
    call_id: str | None = None
    name: str | None = None
    args: Args | None = None
    ok: bool = False
    data: Data | None = None
    content: str | None = None


def run(events: Iterable[Any], found: Found) -> None:
    current = None
    verified: set[str] = set()
    refunds: set[str] = set()
    done: set[str] = set()
    orders: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    calls: dict[str, Any] = {}
    open_refunds: dict[str, int] = {}
    unreported: dict[str, int] = {}
    for e in events:
        trace = e.trace_id
        if trace != current:
            if current is not None:
                end(current, open_refunds, unreported, found)
            current = trace
            verified, refunds, done = set(), set(), set()
            orders, policies, calls, open_refunds, unreported = {}, {}, {}, {}, {}
        kind = e.type
        if kind == "tool.call":
            c = e.call_id
            a = e.args
            calls[c] = a
            if e.name == "refund.create":
                order = a.orderId
                seq = e.seq
                if a.customerId not in verified:
                    found.append(("R1", trace, seq))
                o = orders.get(order)
                if o is None or o.status != "PAID" or o.id != order:
                    found.append(("R2", trace, seq))
                p = policies.get(order)
                if p is None or not p.approved:
                    found.append(("R3", trace, seq))
                if o is None or p is None or a.amountCents > min(o.refundableCents, p.maxRefundCents):
                    found.append(("R4", trace, seq))
                if order in refunds:
                    found.append(("R5", trace, seq))
                refunds.add(order)
                open_refunds[c] = seq
        elif kind == "tool.result":
            c = e.call_id
            a = calls.get(c)
            if a is None:
                found.append(("R6", trace, e.seq))
            elif e.ok:
                d = e.data
                name = e.name
                if name == "identity.verify":
                    if d.verified:
                        verified.add(d.customerId)
                elif name == "order.get":
                    orders[d.id] = d
                elif name == "policy.check":
                    policies[d.orderId] = d
                elif name == "refund.create":
                    open_refunds.pop(c, None)
                    done.add(a.orderId)
                    unreported[d.refundId] = e.seq
        elif kind == "assistant.message":
            t = e.content
            i = t.find(PRE)
            if i >= 0:
                j = t.find(POST, i)
                if j > 0 and t[i + 17 : j] not in done:
                    found.append(("R8", trace, e.seq))
            if unreported:
                for r in list(unreported):
                    if r in t:
                        del unreported[r]
    if current is not None:
        end(current, open_refunds, unreported, found)


def end(trace: str, open_refunds: dict[str, int], unreported: dict[str, int], found: Found) -> None:
    found.extend(("R7", trace, seq) for seq in open_refunds.values())
    found.extend(("R9", trace, seq) for seq in unreported.values())


def main() -> None:
    found: Found = []
    with open(sys.argv[1], "rb", buffering=1 << 20) as lines:
        run(map(msgspec.json.Decoder(Event).decode, lines), found)
    print(json.dumps(dict(sorted(Counter(rule for rule, _, _ in found).items()))))


if __name__ == "__main__":
    main()
