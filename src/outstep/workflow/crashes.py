"""Judging trace by trace, where something in the engine breaks: the others are judged all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import tee
from types import TracebackType

from outstep.adapters.base import Batch, ReadLog
from outstep.contracts.model import Rule
from outstep.engine.monitor import Compiled, Judgement, judge
from outstep.errors import OutstepError, Place, Problem
from outstep.events import Header, ToolCall

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


class Carefully:
    """Judges each trace by itself; what breaks becomes a fault that names trace and rule."""

    def __init__(self, log: ReadLog) -> None:
        self._log = log

    def __call__(self, contracts: Sequence[Compiled], batches: Iterator[Batch]) -> Iterator[tuple[Judgement, ...]]:
        """Yield what the contracts say about each trace."""
        for trace in one_by_one(batches):
            copies = tee(trace, len(contracts))
            yield tuple(self._judge(one, trace.header, copy) for one, copy in zip(contracts, copies, strict=True))

    def _judge(self, compiled: Compiled, header: Header, batches: Iterator[Batch]) -> Judgement:
        counted = _Counted(batches)
        try:
            return next(judge(compiled, counted))
        except OutstepError as error:
            self._log.faults += error.problems
        except Exception as error:
            self._log.faults.append(_crash(compiled, header, error))
        for _ in counted:
            pass
        return Judgement(
            header=header,
            rulings=(),
            verdicts=(),
            events=counted.events - 1,
            calls=counted.calls,
            unanswered=0,
            end="",
            order="",
            applies=True,
        )


class OneTrace:
    """The batches of one trace; its header opens the first."""

    def __init__(self, first: Batch, batches: Iterator[Batch]) -> None:
        assert isinstance(first[0], Header)
        self.header = first[0]
        self.rest: Batch = []
        """What of the last batch belongs to the next trace."""
        self._first = first
        self._batches = batches
        self.is_read = False

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches, the last one without what follows."""
        batch: Batch | None = self._first
        while batch is not None:
            end = next((at for at, item in enumerate(batch) if isinstance(item, Header) and item is not self.header), 0)
            if end:
                yield batch[:end]
                self.rest = batch[end:]
                break
            if isinstance(batch[0], Header) and batch[0] is not self.header:
                self.rest = batch
                break
            yield batch
            batch = next(self._batches, None)
            while batch is not None and not batch:
                batch = next(self._batches, None)
        self.is_read = True


def one_by_one(batches: Iterator[Batch]) -> Iterator[OneTrace]:
    """Yield each trace of a stream; what is not read of one before the next is asked for is left out."""
    rest: Batch = []
    while True:
        while not rest:
            batch = next(batches, None)
            if batch is None:
                return
            start = next((at for at, item in enumerate(batch) if isinstance(item, Header)), len(batch))
            rest = batch[start:]
        trace = OneTrace(rest, batches)
        yield trace
        if not trace.is_read:
            for _ in trace:
                pass
        rest = trace.rest


class _Counted:
    """Counts the items and calls that go through."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self.events = 0
        self.calls = 0
        self._batches = batches

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._batches:
            self.events += len(batch)
            self.calls += sum(1 for item in batch if isinstance(item, ToolCall))
            yield batch


def _crash(compiled: Compiled, header: Header, error: Exception) -> Problem:
    rule = _rule_in(error.__traceback__, compiled)
    named = f"rule `{rule}`" if rule else "a rule"
    said = _ADDRESS.sub("0x…", f"{type(error).__name__}: {error}").rstrip(": ")
    source = header.sources[0].uri if header.sources else ""
    return Problem(
        code="engine/crash",
        sentence=f"judging trace `{header.id}` broke at {named} of `{compiled.contract.id}`: {said}",
        place=Place(source=source) if source else None,
        help="this is a mistake of Outstep, not of the record: please report it; the other traces were judged",
    )


def _rule_in(traceback: TracebackType | None, compiled: Compiled) -> str:
    """Return the id of the rule that was being judged, as far as the frames tell."""
    found = ""
    rules = compiled.contract.rules
    while traceback is not None:
        names = traceback.tb_frame.f_locals
        rule = names.get("rule", getattr(names.get("self"), "rule", None))
        index = names.get("index", -1)
        if isinstance(rule, Rule):
            found = rule.id
        elif isinstance(rule, int) and 0 <= rule < len(rules):
            found = rules[rule].id
        elif _is_rule_index(traceback, index) and 0 <= index < len(rules):
            found = rules[index].id
        traceback = traceback.tb_next
    return found


def _is_rule_index(traceback: TracebackType, index: object) -> bool:
    """Return whether `index` numbers a rule in this frame; elsewhere it may number a fact."""
    return isinstance(index, int) and traceback.tb_frame.f_globals.get("__name__") == "outstep.engine.triggers"
