"""The engine's face: a contract made ready, and the monitors that judge traces with it.

`Monitor` watches one trace live, event by event; `judge` takes batches in which headers open traces. Both run the same
code, so they give the same rulings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from outstep.contracts.model import Contract, Rule
from outstep.contracts.names import ToolNames
from outstep.engine.plan import Plan
from outstep.engine.run import Parts, Run
from outstep.events import Event, Header
from outstep.findings import Ruling, Verdict

if TYPE_CHECKING:
    from outstep.contracts.selectors import Expr


class Judgement(Struct, frozen=True, kw_only=True):
    """What one contract says about one trace."""

    header: Header
    rulings: tuple[Ruling, ...]
    """In the order in which they settled."""
    verdicts: tuple[Verdict, ...]
    """By rule."""
    events: int
    calls: int
    unanswered: int
    end: str
    """`completed`, `aborted`, `cut_off`, or `inferred` when only the adapter says that the record is whole."""
    order: str
    """`turns`, or `log` when the record has no responses."""
    applies: bool
    """Whether `applies_when` was true."""
    costly: tuple[Expr, ...] = ()
    """Expressions that went over their step limit: faults."""
    broken: tuple[tuple[Rule, str, str], ...] = ()
    """Rules that could not be checked, with what happened and what to do: faults."""
    outcomes: dict[int, str] = {}
    """What became of calls that rules of the kind `scope` have something to say of, by `seq`."""
    unrecorded: tuple[str, ...] = ()
    """Tools of which a rule asks the outcome, and neither the record nor the contract tells it."""


class Compiled:
    """A contract made ready to judge: what it listens to, and what all its traces share."""

    def __init__(self, contract: Contract, functions: Mapping[str, Callable[[Any], Any]] | None = None) -> None:
        """`functions` are what rules of the kind `python` ask, by rule id: nothing is imported here."""
        self.contract = contract
        self.plan = Plan(contract)
        self.names = ToolNames(contract)
        self.parts = Parts(contract, functions or {})

        self._numbers = {tool.name: number for number, tool in enumerate(contract.tools)}
        self._generated: Any = None

    def run(self, header: Header) -> Run:
        """Begin a trace."""
        return Run(self.plan, header, self.names, self.parts)

    def tool_number(self, canonical: str) -> int:
        """Return the place of a declared tool in the contract."""
        return self._numbers[canonical]

    def is_usual(self, recorded: str, canonical: str) -> bool:
        """Return whether every selector sees a recorded name as it sees the tool's own name."""
        return all(
            self.names.matches(selector.names, recorded, canonical)
            == self.names.matches(selector.names, canonical, canonical)
            for listeners in self.plan.listeners.values()
            for selector in (listener.selector for listener in listeners)
            if selector.names and selector.what != "claim"
        )

    @property
    def generated(self) -> Any:
        """The generated generator function, `monitor(begin, done)`."""
        if self._generated is None:
            from outstep.engine.generate import build

            self._generated = build(self)
        return self._generated


class Monitor:
    """Watches one trace, live or recorded."""

    def __init__(self, contract: Contract | Compiled, header: Header, *, exact: bool = False) -> None:
        """`exact` steps every event through the exact run: slower, and equal."""
        compiled = contract if isinstance(contract, Compiled) else Compiled(contract)
        self._run = compiled.run(header)
        self._generator: Any = None
        if not exact:
            self._generator = compiled.generated(lambda _: self._run, _no_judgement)
            next(self._generator)
            self._generator.send((header,))

    def feed(self, event: Event) -> list[Ruling]:
        """Take the next event and return the rulings that no continuation can mend."""
        if self._generator is None:
            self._run.events += 1
            self._run.step(event)
        else:
            self._generator.send((event,))
        return self._run.take()

    def close(self) -> list[Ruling]:
        """Take the end of the trace and return the rulings that only it could settle."""
        if self._generator is not None:
            self._generator.close()
        return self._run.close()

    def verdicts(self) -> list[Verdict]:
        """Return the verdict of each rule, once closed."""
        return list(self._run.verdicts)


def _no_judgement(_: Run) -> None:
    return None


def judgement_of(run: Run, rulings: Sequence[Ruling]) -> Judgement:
    """Return what a closed run says."""
    end = run.end.end if run.end is not None else "inferred" if run.header.complete else "cut_off"
    unanswered = 0
    for lane in run.lanes.values():
        if lane.open:
            unanswered += len(run.pairing.unanswered(lane))
    return Judgement(
        header=run.header,
        rulings=tuple(rulings),
        verdicts=run.verdicts,
        events=run.events,
        calls=run.calls,
        unanswered=unanswered,
        end=end,
        order="turns" if run.turns_seen else "log",
        applies=run.applies is True,
        costly=tuple(run.costly),
        broken=tuple(run.broken),
        outcomes=run.outcomes,
        unrecorded=tuple(sorted(run.unrecorded)) if run.unrecorded else (),
    )


def judge(compiled: Compiled, batches: Iterable[Sequence[Event | Header]]) -> Iterator[Judgement]:
    """Judge a stream of traces; each header closes the trace before it.

    The first events are stepped exactly, since a short trace is judged before its code would be generated.
    """
    bench = _Bench(compiled)
    for batch in batches:
        bench.take(batch)
        yield from bench.finished()
    bench.close()
    yield from bench.finished()


class _Bench:
    """Judges traces one after the other with one run, first stepped, then by generated code."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._run: Run | None = None
        self._free: list[Run] = []
        self._finished: list[Judgement] = []
        self._left = PAYS_AFTER
        self._generator: Any = None

    def take(self, batch: Sequence[Event | Header]) -> None:
        """Take the next events."""
        if self._generator is None:
            batch = self._take_first(batch)
        if batch:
            self._generator.send(batch)

    def _take_first(self, batch: Sequence[Event | Header]) -> Sequence[Event | Header]:
        """Step the first events; return those that are for generated code, from where it pays on."""
        count = max(self._left, 0)
        self._left -= len(batch)
        self._step(batch[:count])
        rest = batch[count:]
        if not rest:
            return rest
        if self._run is None and not isinstance(rest[0], Header):
            self._step(rest)
            return ()
        self._generator = self._compiled.generated(self._begin, self._done)
        next(self._generator)
        if self._run is not None:
            self._generator.send((self._run.header,))
        return rest

    def _step(self, batch: Sequence[Event | Header]) -> None:
        for item in batch:
            if isinstance(item, Header):
                self._close_run()
                self._run = self._begin(item)
            elif self._run is not None:
                self._run.events += 1
                self._run.step(item)

    def close(self) -> None:
        """Take the end of the stream."""
        if self._generator is not None:
            with suppress(StopIteration):
                self._generator.send(None)
        self._close_run()

    def finished(self) -> list[Judgement]:
        """Return what was judged since the last call."""
        finished, self._finished = self._finished, []
        return finished

    def _close_run(self) -> None:
        if self._run is not None:
            run, self._run = self._run, None
            self._done(run)

    def _begin(self, header: Header) -> Run:
        if self._run is not None:
            # Generated code goes on where stepping stopped.
            run, self._run = self._run, None
            return run
        if not self._free:
            return self._compiled.run(header)
        run = self._free.pop()
        run.restart(header)
        return run

    def _done(self, run: Run) -> None:
        self._finished.append(judgement_of(run, run.close()))
        self._free.append(run)


PAYS_AFTER = 1000
"""Events after which the next trace is judged by generated code."""
