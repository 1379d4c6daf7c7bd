"""Refund-agent traces as flat JSON Lines, with violations injected at a known rate (benchmarks/yardstick/README.md).

usage: gen.py OUT [--traces N] [--events E] [--rate P] [--pad BYTES] [--seed S]

A trace is a list of episodes of about 50 events; an episode handles one order of one customer. Prints how many
violations of which rule were injected, as JSON. Equal arguments give equal bytes.
"""

from __future__ import annotations

import argparse
import collections
import json
import random

VOCABULARY = (
    "please check the order status and tell the customer about the refund policy for damaged goods returned "
    "within thirty days of delivery while the invoice total includes shipping and tax for the region"
)
RULES = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9"]
EPISODE = 50
SHORTEST = 14
"""Fewer events than this are only user messages."""
EPOCH = 1767225600000
LACKS = {"R5": -2, "R6": -1, "R7": 1}
"""What an injected violation leaves of the room for filler."""


class Filler:
    """Random text of about `size` bytes a piece, from a small vocabulary."""

    def __init__(self, chance: random.Random, size: int) -> None:
        self._chance = chance
        self._size = size
        words = VOCABULARY.split()
        self._text = " ".join(chance.choice(words) for _ in range(60000))
        self._last = len(self._text) - size - 2

    def __call__(self) -> str:
        if self._size <= 0:
            return ""
        start = int(self._chance.random() * self._last)
        length = int(self._size * (0.5 + self._chance.random()))
        return self._text[start : start + length].strip()


class Trace:
    """The lines of one trace."""

    def __init__(self, number: int, chance: random.Random, pad: Filler) -> None:
        self.lines: list[str] = []
        self._number = number
        self._chance = chance
        self._pad = pad
        self._id = f"t{number:07d}"
        self._time = EPOCH + number * 100000
        self._calls = 0

    def _head(self, delay: int) -> str:
        self._time += delay
        return f'"seq":{len(self.lines)},"trace_id":"{self._id}","ts":{self._time}'

    def call(self, name: str, args: str) -> str:
        self._calls += 1
        call = f"c{self._calls}"
        head = self._head(40)
        self.lines.append(f'{{"args":{args},"call_id":"{call}","name":"{name}",{head},"type":"tool.call"}}\n')
        return call

    def result(self, call: str, name: str, data: str) -> None:
        head = self._head(160)
        self.lines.append(
            f'{{"call_id":"{call}","data":{data},"name":"{name}","ok":true,{head},"type":"tool.result"}}\n'
        )

    def message(self, kind: str, content: str) -> None:
        self.lines.append(f'{{"content":"{content}",{self._head(500)},"type":"{kind}"}}\n')

    def chatter(self, pairs: int) -> None:
        """Write events that no rule looks at, two at a time."""
        pad = self._pad
        for _ in range(pairs):
            if self._chance.random() < 0.6:
                call = self.call("kb.search", f'{{"limit":5,"note":"{pad()}","query":"refund policy"}}')
                self.result(call, "kb.search", f'{{"hits":3,"text":"{pad()}"}}')
            else:
                self.message("user.message", pad())
                self.message("assistant.message", pad())

    def episode(self, number: int, size: int, rate: float) -> str | None:
        """Write the handling of one order; return the rule that it violates."""
        pad = self._pad
        order, customer = f"ORD-{self._number}-{number}", f"CUS-{self._number}-{number}"
        flaw = self._chance.choice(RULES) if self._chance.random() < rate else None
        total, most = self._chance.randrange(1000, 90000), self._chance.randrange(1000, 90000)
        pairs, odd = divmod(size - 12 + LACKS.get(flaw or "", 0), 2)
        slots = [0] * 5
        for _ in range(pairs):
            slots[int(self._chance.random() * 5)] += 1
        self.message("user.message", f"I want a refund for {order}. {pad()}")
        self.chatter(slots[0])
        call = self.call("identity.verify", f'{{"customerId":"{customer}","method":"otp","note":"{pad()}"}}')
        verified = "false" if flaw == "R1" else "true"
        self.result(call, "identity.verify", f'{{"customerId":"{customer}","verified":{verified}}}')
        self.chatter(slots[1])
        call = self.call("order.get", f'{{"note":"{pad()}","orderId":"{order}"}}')
        lines = '[{"qty":1,"sku":"A1"},{"qty":2,"sku":"B2"}]'
        status = "SHIPPED" if flaw == "R2" else "PAID"
        self.result(
            call,
            "order.get",
            f'{{"customerId":"{customer}","id":"{order}","lines":{lines},"note":"{pad()}",'
            f'"refundableCents":{total},"status":"{status}"}}',
        )
        self.chatter(slots[2])
        call = self.call("policy.check", f'{{"note":"{pad()}","orderId":"{order}"}}')
        approved = "false" if flaw == "R3" else "true"
        self.result(
            call,
            "policy.check",
            f'{{"approved":{approved},"maxRefundCents":{most},"note":"{pad()}","orderId":"{order}"}}',
        )
        self.chatter(slots[3])
        self._refund(order, customer, number, min(total, most) + (flaw == "R4"), flaw)
        self.chatter(slots[4])
        if odd:
            self.message("user.message", pad())
        self._close(order, number, flaw)
        return flaw

    def _refund(self, order: str, customer: str, number: int, amount: int, flaw: str | None) -> None:
        pad = self._pad
        done = f'{{"refundId":"RF-{self._number}-{number}","status":"succeeded"}}'
        for _ in range(2 if flaw == "R5" else 1):
            call = self.call(
                "refund.create",
                f'{{"amountCents":{amount},"currency":"USD","customerId":"{customer}","note":"{pad()}",'
                f'"orderId":"{order}"}}',
            )
            if flaw != "R7":
                self.result(call, "refund.create", done)
        if flaw == "R6":
            self.result(f"x{self._calls}", "kb.search", f'{{"hits":0,"text":"{pad()}"}}')

    def _close(self, order: str, number: int, flaw: str | None) -> None:
        pad = self._pad
        refund = f"RF-{self._number}-{number}"
        if flaw == "R8":
            text = f"Refund for order {order}0X has been issued. Reference {refund}. {pad()}"
        elif flaw == "R9":
            text = f"Thank you for waiting. {pad()}"
        elif flaw == "R7":
            text = f"We are working on it. {pad()}"
        else:
            text = f"Refund for order {order} has been issued. Reference {refund}. {pad()}"
        self.message("assistant.message", text)
        call = self.call("ticket.close", f'{{"note":"{pad()}","ticketId":"TK-{self._number}-{number}"}}')
        self.result(call, "ticket.close", '{"closed":true}')


def main() -> None:
    given = _arguments()
    chance = random.Random(given.seed)
    pad = Filler(chance, given.pad)
    injected: collections.Counter[str] = collections.Counter()
    total = 0
    with open(given.out, "w", encoding="utf-8", buffering=1 << 20) as out:
        for number in range(given.traces):
            trace = Trace(number, chance, pad)
            left, episode = given.events, 0
            while left > 0:
                size = min(left, EPISODE)
                left -= size
                if size < SHORTEST:
                    for _ in range(size):
                        trace.message("user.message", pad())
                    continue
                episode += 1
                flaw = trace.episode(episode, size, given.rate)
                if flaw is not None:
                    injected[flaw] += 1
            total += len(trace.lines)
            out.write("".join(trace.lines))
    print(json.dumps({"traces": given.traces, "events": total, "injected": dict(sorted(injected.items()))}))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="write a yardstick data set")
    parser.add_argument("out")
    parser.add_argument("--traces", type=int, default=1)
    parser.add_argument("--events", type=int, default=50)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--pad", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
