"""One trace under one contract: what selectors pick, what gaps may hide, and what expressions give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from outstep.contracts.bindings import BOUND
from outstep.contracts.model import Contract, Rule
from outstep.contracts.names import ToolNames, glob_fits
from outstep.contracts.selectors import Expr, Selector
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Event,
    Gap,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.expr.claims import Claim, ClaimFinder
from outstep.expr.evaluate import evaluate
from outstep.expr.nodes import names_of
from outstep.expr.values import CutText, Hidden, Missing, Value

from .facts import Facts
from .hiding import shown
from .known import Hole, Trace
from .outcomes import final_message, main_calls
from .rewriting import rewritten
from .views import CONDITION, EVIDENCE, Absent, Surroundings, View, bound, recorded_outcome

Picked = tuple[View, Value]
"""A view with what its `where` gives: true, `Missing` or `Hidden`."""


class Scene:
    """Everything that the kinds ask about a trace under a contract."""

    def __init__(
        self,
        contract: Contract,
        trace: Trace,
        *,
        doubts_unrecorded: bool = False,
        functions: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        """With `doubts_unrecorded`, facts read as if events that nothing records had happened unseen."""
        self.functions = functions or {}
        self.doubts_unrecorded = doubts_unrecorded
        self.contract = contract
        self.trace = trace
        self.names = ToolNames(contract)
        self.facts = Facts(self, contract.facts)
        self.claims = ClaimFinder({claim.name: claim.patterns for claim in contract.claims})
        self._outcomes: dict[int, str] = {}
        self._sure = {
            fact.name: fact.keyed for fact in contract.facts if all(source.never_null for source in fact.sources)
        }

    def outcome(self, result: ToolResult) -> str:
        """Return the outcome of a result that answers a call."""
        if result.seq not in self._outcomes:
            self._outcomes[result.seq] = recorded_outcome(self, result)
        return self._outcomes[result.seq]

    @property
    def events(self) -> list[Event]:
        """The events, with an end where no event says that the run ended."""
        events = list(self.trace.events)
        if self.trace.run_end is None:
            events.append(RunEnd(seq=self.trace.last + 1))
        return events

    # Expressions

    def value(self, expr: Expr, view: View, absent: Absent) -> Value:
        """Return what an expression gives at a view."""
        return evaluate(rewritten(expr.node, self._sure), Surroundings(self, view, absent), absent)

    def truth(self, expr: Expr, view: View, absent: Absent) -> Value:
        """Return true, false, `Missing` or `Hidden`: a value that is no truth value is missing."""
        value = self.value(expr, view, absent)
        if type(value) is bool or isinstance(value, Missing | Hidden):
            return value
        return Missing(f"`{expr.text}` is no truth value")

    def evidence(self, expr: Expr, view: View) -> Value:
        """Return what an expression gives as evidence."""
        return self.value(expr, view, EVIDENCE)

    def of_the_run(self, name: str) -> Value:
        """Return `params` or `trace`; raises `KeyError`."""
        if name == "params":
            return dict(self.contract.params)
        if name != "trace":
            raise KeyError(name)
        header = self.trace.header
        source = header.sources[0] if header.sources else None
        return {
            "id": header.id,
            "harness": header.harness,
            "model": header.model,
            "prompt": header.prompt,
            "skills": list(header.skills),
            "tools": dict(header.tools),
            "config": header.config,
            "format": "" if source is None else source.format,
            "version": "" if source is None else source.version,
        }

    def applies(self) -> Value:
        """Return what `applies_when` gives."""
        expr = self.contract.applies_when
        if expr is None:
            return True
        value = evaluate(expr.node, _OfTheRun(self), CONDITION)
        return value if type(value) is bool else Missing("`applies_when` is undecided")

    # Selectors

    def picked(
        self, selectors: Sequence[Selector], event: Event, absent: Absent, this: View | None = None
    ) -> list[Picked]:
        """Return the views of an event that one of the selectors picks, or may pick."""
        found: dict[tuple[int, str, int], Picked] = {}
        for selector in selectors:
            for view in self._views(selector, event, this):
                truth: Value = True
                if self._is_unreadable(selector, view):
                    truth = Hidden("a part of the message is hidden, and may claim")
                elif selector.where is not None:
                    truth = self.truth(selector.where, view, absent)
                if truth is False:
                    continue
                earlier = found.get(view.place)
                if earlier is None or _stronger(truth, earlier[1]):
                    found[view.place] = (view, truth)
        return list(found.values())

    def _views(self, selector: Selector, event: Event, this: View | None) -> list[View]:
        """Return the views of an event that a selector is about, its `where` not asked."""
        if event.__struct_config__.tag != selector.event_type or not self._is_by(selector, event):
            return []
        if isinstance(event, ToolCall) and not self._is_named(selector, event):
            return []
        if isinstance(event, ToolResult) and not self._is_result(selector, event, this):
            return []
        if selector.what == "final message":
            if event is not final_message(self.trace.events):
                return []
            return [View(event=event, is_final=True, this=this)]
        if selector.what == "claim":
            assert isinstance(event, AssistantMessage)
            return [View(event=event, claim=claim, this=this) for claim in self._claims(selector, event)]
        return [View(event=event, this=this)]

    def _is_named(self, selector: Selector, call: ToolCall) -> bool:
        return self.names.matches(selector.names, call.tool, self.names.canonical(call.tool))

    def _is_result(self, selector: Selector, result: ToolResult, this: View | None) -> bool:
        call = self.trace.pairing.call_of.get(result.seq)
        if call is None or not self._is_named(selector, call):
            return False
        if selector.what == "its result" and (this is None or this.event is not call):
            return False
        return selector.outcome is None or selector.outcome == self.outcome(result)

    def _claims(self, selector: Selector, message: AssistantMessage) -> list[Claim]:
        text = shown(message.text, message.hidden, "text")
        if isinstance(text, Hidden):
            return [Claim("", "", {}, -1)]
        found = [
            claim
            for claim in self.claims.find(str.__str__(text))
            if selector.names in ((),) or claim.name in selector.names
        ]
        return [*found, Claim("", "", {}, -1)] if isinstance(text, CutText) else found

    def _is_unreadable(self, selector: Selector, view: View) -> bool:
        return selector.what == "claim" and view.claim is not None and view.claim.index < 0

    def _is_by(self, selector: Selector, event: Event) -> bool:
        """Whose events a selector means (LANGUAGE section 2)."""
        who = selector.by
        if isinstance(event, State | RunEnd):
            return who in (None, "any")
        if who == "any" or isinstance(event, Gap):
            return who == "any"
        if who in ("user", "harness"):
            return _actor(self.trace, event) == who
        if who is not None:
            return glob_fits(who, event.agent)
        if _actor(self.trace, event) != "model":
            return False
        return selector.event_type != "assistant.message" or event.agent == "main"

    def is_unrecorded(self, selector: Selector) -> bool:
        """Return whether nothing in the record could be what a selector picks, had it happened."""
        header = self.trace.header
        if selector.what == "end":
            return False
        if selector.event_type not in header.records:
            return True
        if selector.what == "state" and not any(isinstance(event, State) for event in self.trace.events):
            return True
        if selector.by in (None, "main", "user", "harness", "any"):
            return False
        return not any(glob_fits(selector.by or "", lane) for lane in ["main", *self.trace.lanes])

    # What gaps may hide

    def may_hide(self, hole: Hole, selectors: Iterable[Selector]) -> bool:
        """Return whether an event that one of the selectors picks may be hidden in a hole."""
        return any(hole.can_hide(selector.event_type) and self._may_stand_in(hole, selector) for selector in selectors)

    def may_hide_from(self, hole: Hole, lane: str, selectors: Iterable[Selector]) -> bool:
        """Return the same for evidence seen from a lane, which a child's hidden return may bring too."""
        selectors = tuple(selectors)
        return self.may_hide(hole, selectors) or (bool(selectors) and self.trace.is_wide(hole, lane))

    def _may_stand_in(self, hole: Hole, selector: Selector) -> bool:
        if selector.what == "end":
            return hole.is_end
        if selector.what == "state":
            return hole.agent is None
        if hole.agent is None:
            return True
        who = selector.by
        if who is None:
            return selector.event_type != "assistant.message" or hole.agent == "main"
        return who in ("any", "user", "harness") or glob_fits(who, hole.agent)

    def holes_that_hide(
        self, selectors: Sequence[Selector], behind: float = -2, before: float = float("inf")
    ) -> list[Hole]:
        """Return the holes between two positions that may hide what the selectors pick."""
        return [hole for hole in self.trace.holes if behind < hole.seq < before and self.may_hide(hole, selectors)]

    def final_holes(self) -> list[Hole]:
        """Return the holes in which what comes after the last message of `main`, or that message, may be hidden."""
        events = self.trace.events
        message = final_message(events)
        calls = [call.seq for call in main_calls(events)]
        found: list[Hole] = []
        for hole in self.trace.holes:
            if message is None:
                hides = hole.can_hide("assistant.message") and hole.seq > max(calls, default=-1)
            elif hole.seq > message.seq:
                hides = hole.can_hide("assistant.message", "tool.call")
            else:
                hides = hole.turn is not None and hole.turn == message.turn and hole.can_hide("tool.call")
            if hides and hole.is_in("main"):
                found.append(hole)
        return found

    # known()

    def known_value(self, view: View, args: tuple[Value, ...]) -> Value:
        """`known(v)`, `known(v, "selector")`: is the value mentioned in an event known to this one?"""
        from outstep.expr.text import mentions

        selectors = self._default_sources() if len(args) == 1 else known_selectors(str(args[1]))
        value = args[0]
        known = self.trace.known(view.event)
        unsure: Hidden | None = None
        for event in self.trace.events:
            if event.seq not in known:
                continue
            for picked, truth in self.picked(selectors, event, EVIDENCE):
                if isinstance(truth, Missing):
                    continue
                said = _told(bound(self, picked), event)
                try:
                    is_in = mentions(_visible(said), value)
                except ValueError as error:
                    return Missing(str(error))
                if is_in and truth is True:
                    return True
                if (isinstance(truth, Hidden) and is_in) or _holds_hidden(said):
                    unsure = Hidden("a part of what is known is hidden")
        for hole, lane in self.trace.known_holes(view.event):
            if self.may_hide_from(hole, lane, selectors):
                unsure = Hidden("a gap may hide where this comes from")
        return False if unsure is None else unsure

    def _default_sources(self) -> tuple[Selector, ...]:
        return known_selectors("user message") + known_selectors("context") + known_selectors("ok result")

    def is_joined(self, rule: Rule, selectors: Sequence[Selector]) -> bool:
        """Return whether a `where` of these asks for something of the event of `for`."""
        own = {"this", "it", "at", "match", *(name for name, _ in rule.let)}
        return any(
            selector.where is not None
            and any(name in own and name not in BOUND[selector.what] for name in names_of(selector.where.node))
            for selector in selectors
        )


class _OfTheRun:
    """The surroundings of `applies_when`."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def lookup(self, name: str) -> Value:
        return self._scene.of_the_run(name)

    def function(self, _name: str, _args: tuple[Value, ...]) -> Value:
        return NotImplemented


def known_selectors(text: str) -> tuple[Selector, ...]:
    """Return the selector that a text spells, as the loader reads it."""
    from outstep.contracts.grammar import parse_selector
    from outstep.contracts.selectors import Spot
    from outstep.expr.parse import parse

    parsed = parse_selector(text)
    spot = Spot(0, 1, 1)
    where = None
    if parsed.where is not None:
        where = Expr(text=text[parsed.where :], node=parse(text[parsed.where :]), spot=spot)
    return (
        Selector(
            what=parsed.what,  # type: ignore[arg-type]
            outcome=parsed.outcome,  # type: ignore[arg-type]
            names=tuple(word.text for word in parsed.names),
            by=parsed.by,
            where=where,
            text=text,
            spot=spot,
        ),
    )


def _stronger(a: Value, b: Value) -> bool:
    """Return whether a decides more than b: true, then hidden, then missing."""
    rank = {bool: 2, Hidden: 1, Missing: 0}
    return rank[type(a)] > rank[type(b)]


def _actor(trace: Trace, event: Event) -> str:
    """Return who did it: `model` (with the programs it wrote), `user` or `harness`."""
    if isinstance(event, ToolResult):
        call = trace.pairing.call_of.get(event.seq)
        return "model" if call is None else _actor(trace, call)
    if isinstance(event, ToolCall) and event.by in ("user", "harness"):
        return event.by
    if isinstance(event, Approval | Context | UserMessage):
        return "model"
    lane = trace.lanes.get(getattr(event, "agent", "main"))
    return "user" if lane is not None and lane.kind == "user" else "model"


def _told(names: dict[str, Value], event: Event) -> dict[str, Value]:
    """Return what an event brought: of a result what came back, not what was asked."""
    if isinstance(event, ToolResult):
        names = {name: names[name] for name in ("data", "text", "error")}
    return {
        name: value for name, value in names.items() if not isinstance(value, Missing) and name not in ("agent", "turn")
    }


def _visible(value: Value) -> Value:
    from outstep.expr.values import visible

    return visible(value)


def _holds_hidden(value: Value) -> bool:
    from outstep.expr.values import hidden_within

    return hidden_within(value) is not None
