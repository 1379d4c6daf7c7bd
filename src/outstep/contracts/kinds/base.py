"""What a kind's monitor is handed, and what it owes.

A monitor watches one rule on one trace. The run calls `on` for every event of `for` whose conditions hold, `seen` for
every event that a selector of the kind itself may pick, and `close` once at the end; the monitor settles instances.
Everything that is shared among kinds (what is known, facts, gaps, expressions) is asked of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from outstep.contracts.model import Rule
    from outstep.contracts.selectors import Expr, Selector
    from outstep.events import Event, RunEnd
    from outstep.findings import Touched, Verdict, Witness


class Lane(Protocol):
    """The state of one agent, as far as kinds look at it."""

    id: str
    epoch: int
    start: int
    tables: list[Any]
    counters: list[Any]


class View(Protocol):
    """One event at which expressions are read, with the names bound there."""

    event: Event
    lane: Lane
    at: int
    """The moment at which it is judged (SEMANTICS section 1)."""
    epoch: int
    """Decisions of its lane opened so far, its own included."""

    @property
    def seq(self) -> int:
        """`seq` of the event."""
        ...

    @property
    def is_issued(self) -> bool:
        """Whether a model response or a program produced the event."""
        ...

    def facing(self, this: Any) -> Any:
        """Return the same event as seen by a `where` whose `this` is another view."""
        ...

    def element(self, it: Any, at: Any) -> Any:
        """Return the same view with `it` and `at` bound."""
        ...


class Run(Protocol):
    """One trace on its way through a contract."""

    end: RunEnd | None
    lanes: dict[str, Any]
    world: Any
    """What belongs to no lane: snapshots of the state."""
    final: Any
    """The view of the final message, as far as one is known."""
    is_closing: bool
    tallies: list[int]
    """For each rule in turn: satisfied, violated and inconclusive instances."""

    def evidence(self, expr: Expr, view: Any) -> Any:
        """Evaluate an expression in an evidence place: an absent member is missing."""
        ...

    def constant(self, expr: Expr) -> Any:
        """Evaluate an expression that reads the parameters and the trace only."""
        ...

    def condition(self, exprs: Sequence[Expr], view: Any) -> Any:
        """Evaluate a conjunction in a condition place: an absent member is null."""
        ...

    def settle(
        self,
        rule: int,
        verdict: Verdict,
        view: Any,
        sentence: str = "",
        *,
        reason: str = "",
        key: str = "",
        values: Sequence[str] = (),
        missing: Sequence[str] = (),
        witness: Sequence[Witness] = (),
        touched: Touched | None = None,
    ) -> None:
        """Settle one instance of a rule; violated and inconclusive ones become rulings."""
        ...

    gaps: Any
    """Where events may be hidden (`engine.gaps.Gaps`): `before`, `behind`, `between`."""

    plan: Any
    """Joins, tables and counters of the contract (`engine.plan.Plan`)."""

    def gap_known(self, view: Any, selectors: Sequence[Selector], since: int = -1) -> bool:
        """Return whether a gap known to the view, standing behind `since`, may hide what the selectors pick."""
        ...

    def open_calls(self, places: Any) -> list[Any]:
        """Return the unanswered calls at these places, in their order."""
        ...

    def call_view(self, call: Any) -> Any:
        """Return the view of a call that was paired before."""
        ...

    def match(self, selector: Selector, view: Any, this: Any) -> Any:
        """Return whether a selector picks an event, its `where` read as evidence."""
        ...

    def selects(self, selector: Selector, view: Any) -> bool:
        """Return whether an event has the outcome and the actor that a selector asks for."""
        ...

    def may_claim_hidden(self, selector: Selector, view: Any) -> bool:
        """Return whether a hidden part of a message may hold a claim that a selector names."""
        ...

    def is_final_doubtful(self, final: Any) -> bool:
        """Return whether a message of main that looks like the final one may not be it."""
        ...

    @property
    def was_aborted(self) -> bool:
        """Whether the run was stopped from outside, with nothing hidden."""
        ...

    def acts(self, selector: Selector, view: Any) -> bool:
        """Return whether an event comes from the actor that a selector asks for."""
        ...

    def claim_views(self, selector: Selector, view: Any) -> list[Any]:
        """Return a view for each claim in a message that a selector names."""
        ...

    def read_key(self, exprs: Sequence[Expr], view: Any) -> Any:
        """Return the values of expressions as one key, or the first that is hidden or missing."""
        ...

    def begins(self, index: int, rule: Rule, view: Any) -> tuple[int, int]:
        """Return where the count of an event begins, and the latest place where it may have begun anew."""
        ...

    def unreadable(self, rule: int, view: Any, value: Any, otherwise: str, key: str = "") -> None:
        """Settle an instance whose evidence is missing or hidden."""
        ...

    def absent_facts(self, expr: Expr, view: Any) -> tuple[str, ...]:
        """Return the facts that an expression reads and that have no entry here, each as a sentence."""
        ...

    def comparison(self, expr: Expr, view: Any) -> tuple[str, ...]:
        """Return the values that make an expression false, as `3500 > 3000`."""
        ...

    @property
    def was_stopped(self) -> bool:
        """Whether the run was stopped from outside, so that what is pending is undecided."""
        ...

    header: Any
    contract: Any
    whereabouts: Any
    """Where relative targets lie (`engine.whereabouts.Whereabouts`)."""

    def canonical(self, recorded: str) -> str:
        """Return the contract's name of a tool, else the recorded one."""
        ...

    def function(self, rule: Rule) -> Any:
        """Return the function that a rule of the kind `python` names."""
        ...

    def view_of(self, event: Event) -> Any:
        """Return a view that only says where an event stands."""
        ...

    def broke(self, rule: Rule, sentence: str, help: str) -> None:
        """Note that a rule could not be checked on this trace: a fault."""
        ...


class KindMonitor(Protocol):
    """What watches one rule on one trace."""

    has_deadline: bool
    """Whether it is told of decisions and of every event (`opened`, `passed`, `took`)."""
    asks_outcomes: bool
    """Whether it is told of results (`answered`)."""

    def on(self, view: Any) -> None:
        """Judge an event of `for` whose conditions hold."""
        ...

    def seen(self, slot: int, view: Any) -> None:
        """Take note of an event that selector number `slot` of the kind may pick; its `where` is not yet read."""
        ...

    def doubted(self, view: Any) -> None:
        """Take note that an event may be one of `for` whose conditions hold, and it cannot be told."""
        ...

    def awaits(self, seq: int) -> bool:
        """Return whether the result of the call at this place matters; asked of those that are told of results."""
        ...

    def answered(self, view: Any) -> None:
        """Take the result of a call; `view` is of the result."""
        ...

    def opened(self, lane: Any) -> None:
        """Take note that a decision of the lane opens."""
        ...

    def marked(self, role: str, seq: int) -> None:
        """Take note that a window opens (`after`) or ends (`until`) for every event alike."""
        ...

    def passed(self, event: Event) -> None:
        """Take note of any event, for deadlines."""
        ...

    def took(self, event: Event) -> None:
        """Take note that everyone has looked at an event, for deadlines."""
        ...

    def close(self) -> None:
        """Settle what is still open; no event follows."""
        ...

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        ...


class Quiet:
    """A monitor that only judges events of `for`; the base of the others."""

    has_deadline = False
    asks_outcomes = False

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        self.index = index
        self.rule = rule
        self.run = run

    def seen(self, slot: int, view: Any) -> None:
        """Nothing to note."""

    def doubted(self, view: Any) -> None:
        """Nothing to note."""

    def awaits(self, seq: int) -> bool:  # noqa: ARG002
        """Return true: whatever asks for results asks for all of them."""
        return True

    def answered(self, view: Any) -> None:
        """Nothing to note."""

    def opened(self, lane: Any) -> None:
        """Nothing to note."""

    def marked(self, role: str, seq: int) -> None:
        """Nothing to note."""

    def passed(self, event: Event) -> None:
        """Nothing to note."""

    def took(self, event: Event) -> None:
        """Nothing to note."""

    def close(self) -> None:
        """Nothing is open."""

    def restart(self) -> None:
        """Nothing is kept."""
