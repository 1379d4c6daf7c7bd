"""The ways of judging one trace: generated code, the exact run, and batches of a stream."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.engine import Compiled, Monitor, judge
from outstep.events import Event, Header
from outstep.findings import Ruling, Verdict


class Judged(Struct, frozen=True):
    """What one way says about one trace."""

    rulings: tuple[Ruling, ...]
    """Sorted by rule, place and key: the order in which they settle is no part of their meaning."""
    verdicts: tuple[Verdict, ...]
    """By rule."""


def judged(rulings: Sequence[Ruling], verdicts: Sequence[Verdict]) -> Judged:
    """Return rulings and verdicts in a form that can be compared."""
    return Judged(tuple(sorted(rulings, key=_order)), tuple(verdicts))


def _order(ruling: Ruling) -> tuple[int, int, str, str]:
    return ruling.rule, -1 if ruling.seq is None else ruling.seq, ruling.key, repr(ruling)


def live(compiled: Compiled, header: Header, events: Sequence[Event], *, exact: bool = False) -> Judged:
    """Judge event by event, with generated code or exactly."""
    monitor = Monitor(compiled, header, exact=exact)
    rulings = [ruling for event in events for ruling in monitor.feed(event)]
    rulings += monitor.close()
    return judged(rulings, monitor.verdicts())


def batched(compiled: Compiled, traces: Sequence[tuple[Header, Sequence[Event]]], size: int) -> list[Judged]:
    """Judge several traces as one stream that comes in batches of `size`."""
    stream: list[Header | Event] = []
    for header, events in traces:
        stream += [header, *events]
    batches = [stream[at : at + size] for at in range(0, len(stream), size)]
    return [judged(judgement.rulings, judgement.verdicts) for judgement in judge(compiled, batches)]
