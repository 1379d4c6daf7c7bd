"""`text`: looking for claims and mentions in messages; for information."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from statistics import median

from benchmarks.table import Line
from benchmarks.yardstick.gen import Filler
from outstep.expr.claims import ClaimFinder
from outstep.expr.mentions import mentions
from outstep.workflow.contracts import load_contract

ROUNDS = 5
MESSAGES = 2000


def lines() -> list[Line]:
    filler = Filler(random.Random(7), 120)
    plain = [filler() for _ in range(MESSAGES)]
    issued = [f"Refund for order ORD-{number} has been issued. {text}" for number, text in enumerate(plain)]
    finder = ClaimFinder({"issued": [r"refund for order (?P<order>\S+) has been issued"]})
    pack = ClaimFinder({claim.name: claim.patterns for claim in load_contract("refund").claims})
    jobs: dict[str, tuple[Callable[[str], object], Sequence[str], Callable[[str], object]]] = {
        "claim, one pattern, none made": (finder.find, plain, _holds("refund for order")),
        "claim, one pattern, made": (finder.find, issued, _holds("refund for order")),
        "claims of pack `refund`, none made": (pack.find, plain, _holds("refund for order")),
        "claims of pack `refund`, made": (pack.find, issued, _holds("refund for order")),
        "mentions, absent": (lambda text: mentions(text, "RF-0-1"), plain, _holds("rf-0-1")),
        "mentions, present": (
            lambda text: mentions(text, "ORD-7"),
            [f"{text} ORD-7" for text in plain],
            _holds("ord-7"),
        ),
    }
    return [_line(what, *job) for what, job in jobs.items()]


def _holds(part: str) -> Callable[[str], object]:
    return lambda text: part in text.lower()


def _line(what: str, job: Callable[[str], object], texts: Sequence[str], floor: Callable[[str], object]) -> Line:
    spent: list[float] = []
    least: list[float] = []
    for _ in range(ROUNDS):
        spent.append(_microseconds(job, texts))
        least.append(_microseconds(floor, texts))
    ours, plain = median(spent), median(least)
    return Line(what, f"{ours:.2f} µs a message", f"`in` {plain:.2f} µs", ours / plain)


def _microseconds(job: Callable[[str], object], texts: Sequence[str]) -> float:
    begun = time.process_time()
    for text in texts:
        job(text)
    return (time.process_time() - begun) / len(texts) * 1e6
