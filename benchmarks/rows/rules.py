"""`rules`: a contract of a hundred rules against one of ten, on the same events."""

from __future__ import annotations

import json

from benchmarks.data import CACHE, FOLDER, JUDGE, NINE_RULES, data_set
from benchmarks.measure import PYTHON, Command, interleaved
from benchmarks.table import Line

RUNS = 3
MOST = 3
TEN = """\
  - for: call refund.create
    rules:
      - {{id: VERIFIED_{n}, require: 'verified[args.customerId]'}}
      - {{id: PAID_{n}, require: 'order[args.orderId].status == "PAID" || args.amountCents == {n}'}}
      - {{id: APPROVED_{n}, require: 'policy[args.orderId].approved'}}
      - id: AMOUNT_{n}
        require:
          - args.amountCents <= order[args.orderId].refundableCents + {n}
          - args.amountCents <= policy[args.orderId].maxRefundCents + {n}
      - {{id: ONCE_{n}, at_most: {n} + 1, per: args.orderId}}
      - {{id: ANSWERED_{n}, then: ok its result}}
  - {{id: CLAIMED_{n}, for: claim issued, require: match.order in refund}}
  - id: TOLD_{n}
    for: ok result refund.create
    then: message where mentions(text, this.data.refundId)
  - {{id: CLOSED_{n}, for: call ticket.close, require: args.n != {n}}}
  - {{id: NEVER_{n}, never: call kb.search where args.q == "no such thing {n}"}}
"""
"""Ten rules as contracts have them; each further ten differ in a number."""


def lines() -> list[Line]:
    data = data_set("M")
    commands = {}
    for tens in (1, 10):
        file = FOLDER / f"rules-{tens}0.yaml"
        head = NINE_RULES.read_text("utf-8").partition("\nrules:\n")[0]
        file.write_text(head + "\nrules:\n" + "".join(TEN.format(n=n) for n in range(tens)), "utf-8")
        commands[f"{tens}0"] = Command([PYTHON, str(JUDGE), str(file), str(data.canonical), str(CACHE)])
    found = interleaved(commands, RUNS)
    few, many = found["10"].seconds, found["100"].seconds
    is_same = json.loads(found["10"].stdout)["events"] == json.loads(found["100"].stdout)["events"] == data.events
    flaw = "" if is_same else "not all events were judged"
    return [Line("100 rules", f"{many:.2f} s", f"10 rules {few:.2f} s", many / few, "×", "at most", MOST, flaw)]
