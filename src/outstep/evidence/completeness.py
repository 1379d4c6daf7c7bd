"""What evidence does not hold, counted over all of it: whole bytes are not a whole story.

docs: docs/evidence.md#completeness
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from outstep.evidence.entries import Entry

_COUNTED = re.compile(r"[0-9]+ ")


class Completeness(Struct, frozen=True):
    """How many traces there are, and of how many of them something is not there."""

    traces: int
    missing: dict[str, int]
    """Sentences with the number of traces, the most frequent first."""
    unredacted: int
    """Runs whose documents are stored as they were."""
    runs: int


def completeness(entries: Iterable[Entry]) -> Completeness:
    """Return what runs do not hold; numbers of one trace (`3 gaps may hide events`) are left out."""
    counted: Counter[str] = Counter()
    traces = runs = unredacted = 0
    for entry in entries:
        if entry.kind != "run":
            continue
        runs += 1
        unredacted += entry.redaction is None or entry.redaction.profile == "none"
        for trace in entry.traces:
            traces += 1
            counted.update(set(map(_general, trace.missing)))
    missing = dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
    return Completeness(traces, missing, unredacted, runs)


def lines(told: Completeness, most: int | None = None) -> list[str]:
    """Return it for people, at most so many sentences of what is missing."""
    if not told.traces:
        return []
    whole = "1 trace is" if told.traces == 1 else f"{told.traces} traces are"
    found = [f"{whole} kept as recorded; what the records do not hold:"]
    shown = list(told.missing.items())[:most]
    found += [f"  {_of(number, told.traces)}: {sentence}" for sentence, number in shown]
    if len(shown) < len(told.missing):
        found.append(f"  … and {len(told.missing) - len(shown)} more: outstep evidence verify --json")
    return found


def text(told: Completeness) -> bytes:
    """Return it as the file of an export."""
    return "".join(f"{_plain(line)}\n" for line in lines(told)).encode()


def _plain(line: str) -> str:
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)


def _of(number: int, all: int) -> str:
    return "all" if number == all else f"{number} of {all}"


def _general(sentence: str) -> str:
    """Return a sentence without what belongs to one trace alone."""
    if _COUNTED.match(sentence) is None:
        return sentence
    return _COUNTED.sub("", sentence, count=1).partition(":")[0]
