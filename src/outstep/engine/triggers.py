"""When a rule looks at an event: its selectors, its window, its conditions (SEMANTICS sections 3 to 5)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import Needs, Require
from outstep.contracts.model import Rule
from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.engine.explain import comparisons
from outstep.engine.facts import FactView
from outstep.engine.gaps import hides, known_to
from outstep.engine.plan import Listener
from outstep.engine.rulings import Settled
from outstep.engine.views import View
from outstep.events import RunEnd, ToolCall
from outstep.expr.values import Hidden, Missing, Undecided, from_key, key_of

if TYPE_CHECKING:
    from outstep.engine.lanes import LaneState
    from outstep.engine.run import Run
    from outstep.expr.claims import Claim

NO_KEY = ()

_AFTER_FINAL = (
    Selector(what="message", by="main", text="message", spot=Spot(0, 0, 0)),
    Selector(what="call", by="main", text="call", spot=Spot(0, 0, 0)),
)


class Marks:
    """Where events of `after`, `until` or `since` stand, by join key."""

    def __init__(self) -> None:
        self.places: dict[Any, list[int]] = {}
        self.fog: list[int] = []
        """Where an event stands that may or may not be one."""

    def add(self, key: Any, seq: int) -> None:
        """Note an event."""
        self.places.setdefault(key, []).append(seq)

    def latest(self, key: Any, before: int) -> int:
        """Return the place of the latest one before a position, or -1."""
        places = self.places.get(key, ())
        index = bisect_left(places, before)
        return places[index - 1] if index else -1

    def first_after(self, key: Any, since: int, before: int) -> int:
        """Return the place of the first one behind `since` and before a position, or -1."""
        places = self.places.get(key, ())
        index = bisect_left(places, since + 1)
        return places[index] if index < len(places) and places[index] < before else -1

    def fog_between(self, since: int, before: int) -> bool:
        """Return whether an undecided one stands between two places."""
        index = bisect_left(self.fog, since + 1)
        return index < len(self.fog) and self.fog[index] < before


class Triggers:
    """The part of a run that decides which rules look at an event."""

    def __init__(self) -> None:
        run = self._run()
        self._lets: list[dict[str, Expr]] = [dict(rule.let) for rule in run.contract.rules]
        self._final_rules = [
            index
            for index, rule in enumerate(run.contract.rules)
            if any(selector.what == "final message" for selector in rule.triggers)
        ]
        self._end_rules = [
            index
            for index, rule in enumerate(run.contract.rules)
            if any(selector.what == "end" for selector in rule.triggers)
        ]
        self.restart_triggers()

    def restart_triggers(self) -> None:
        """Forget everything, for the next trace."""
        self._marks: dict[tuple[str, int, int], Marks] = {}
        self._final_kept: list[tuple[int, View, list[Any]]] = []
        self._opened_windows: set[int] = set()

    # -- which events ------------------------------------------------------------------------------------------------

    def selects(self, selector: Selector, view: View) -> bool:
        """Return whether an event has the outcome and the actor that a selector asks for; its name already fits."""
        if selector.outcome is not None and view.outcome != selector.outcome:
            return False
        return _actor_fits(selector, view)

    def match(self, selector: Selector, view: View, this: View | None) -> Any:
        """Return whether a selector picks an event, its `where` read as evidence."""
        return self._match(selector, view, this, is_evidence=True)

    def match_frame(self, selector: Selector, view: View) -> Any:
        """Return whether a selector picks an event, its `where` read as a condition or frame."""
        return self._match(selector, view, None, is_evidence=False)

    def _match(self, selector: Selector, view: View, this: View | None, *, is_evidence: bool) -> Any:
        if not self.selects(selector, view):
            return False
        if selector.what == "claim":
            found = [
                self._where(selector, claim.facing(this) if this is not None else claim, is_evidence)
                for claim in self.claim_views(selector, view)
            ]
            return disjunction(found)
        return self._where(selector, view.facing(this) if this is not None else view, is_evidence)

    def _where(self, selector: Selector, view: View, is_evidence: bool) -> Any:
        if selector.where is None:
            return True
        run = self._run()
        value = run.evidence(selector.where, view) if is_evidence else run.frame(selector.where, view)
        return value if isinstance(value, bool | Missing | Hidden) else Missing("`where` gives no truth value")

    def claim_views(self, selector: Selector, view: View) -> list[View]:
        """Return a view for each claim in a message that a selector names."""
        run = self._run()
        return [
            view.claiming(claim)
            for claim in run.claims(view.event)  # type: ignore[arg-type]
            if not selector.names or any(glob_fits(name, claim.name) for name in selector.names)
        ]

    # -- rules -------------------------------------------------------------------------------------------------------

    def trigger_all(self, listeners: Sequence[Listener], view: View) -> None:
        """Let every rule judge an event that one of its `for` selectors may pick."""
        by_rule: dict[int, list[Selector]] = {}
        for listener in listeners:
            if listener.role == "for" and listener.selector.what != "final message":
                by_rule.setdefault(listener.owner, []).append(listener.selector)
        for index, selectors in by_rule.items():
            self.trigger(index, selectors, view)

    def trigger(self, index: int, selectors: Sequence[Selector], view: View) -> None:
        """Let one rule judge an event."""
        plain = [selector for selector in selectors if selector.what != "claim"]
        if plain:
            picked = disjunction([self.match_frame(selector, view) for selector in plain])
            if picked is not False:
                self.judge(index, view, picked)
        for selector in selectors:
            if selector.what == "claim" and self.selects(selector, view):
                for claim in self.claim_views(selector, view):
                    self._judge_claim(index, selector, claim)

    def trigger_claim(self, index: int, selector: Selector, view: View, claim: Claim) -> None:
        """Let one rule judge one claim of a message."""
        self._judge_claim(index, selector, view.claiming(claim))

    def _judge_claim(self, index: int, selector: Selector, claim: View) -> None:
        picked = self._where(selector, claim, is_evidence=False)
        if picked is not False:
            self.judge(index, claim, picked)

    def judge(self, index: int, view: View, picked: Any) -> None:
        """Judge one event of `for`, if the rule applies there."""
        run = self._run()
        rule = run.contract.rules[index]
        view = view.within(self._lets[index], ignores_gaps=rule.judge == "record")
        window = self.window(index, rule, view) if rule.after or rule.until else True
        if window is False:
            return
        applies = _all_true([picked, window, *(run.frame(expr, view) for expr in rule.when)])
        if applies is False:
            return
        if applies is not True:
            reason = "hidden-evidence" if isinstance(applies, Hidden) else "undecided-condition"
            run.settle(
                index,
                "inconclusive",
                view,
                "it cannot be decided whether the rule applies here",
                reason=reason,
                missing=(applies.reason,),
            )
            return
        self._opened_windows.add(index)
        self._instances(index, rule, view)

    def _instances(self, index: int, rule: Rule, view: View) -> None:
        run = self._run()
        monitor = run.monitors[index]
        assert monitor is not None
        if rule.about is not None:
            self._about(index, rule, view)
        elif rule.each is not None:
            items = run.evidence(rule.each, view)
            if isinstance(items, list):
                for position, item in enumerate(items):
                    monitor.on(view.element(item, position))
            elif isinstance(items, dict):
                for name, item in items.items():
                    monitor.on(view.element(item, from_key(name)))
            else:
                unreadable(run, index, view, items, "`each` gives no list")
        else:
            monitor.on(view)

    def _about(self, index: int, rule: Rule, view: View) -> None:
        """Judge a claim for each key that its sentence mentions; if it mentions none, one key must satisfy."""
        run = self._run()
        monitor = run.monitors[index]
        assert monitor is not None
        assert rule.about is not None
        fact = run.plan.facts[rule.about]
        facts = FactView(run, fact, view)
        sentence = view.claim.sentence if view.claim is not None else ""
        mentioned = [key for key in run.key_index[fact].found(sentence) if facts.is_there(key)]
        keys_hidden = isinstance(facts.keys(), Hidden)
        if mentioned:
            for key in mentioned:
                monitor.on(view.element(from_key(key), None))
            return
        if keys_hidden:
            run.settle(
                index,
                "inconclusive",
                view,
                f"a gap may hide entries of `{rule.about}` that the sentence speaks of",
                reason="hidden-evidence",
                missing=(f"`{rule.about}`: a gap may hide entries",),
            )
            return
        visible = facts.visible_keys()
        settled: list[Settled] = []
        for key in visible:
            run.keep_back()
            monitor.on(view.element(from_key(key), None))
            settled += run.kept_back()
            if settled[-1].verdict == "satisfied":
                run.settle(index, "satisfied", view)
                return
        if any(instance.verdict == "inconclusive" for instance in settled):
            run.settle(
                index,
                "inconclusive",
                view,
                f"no entry of `{rule.about}` is known to satisfy the rule",
                reason="hidden-evidence",
            )
        else:
            run.settle(
                index,
                "inconclusive" if rule.missing == "inconclusive" and not visible else "violated",
                view,
                f"the sentence names no entry of `{rule.about}`, and none satisfies the rule",
                reason="missing-evidence",
                missing=(f"`{rule.about}`: {len(visible)} entries are known here",),
            )

    # -- the final message and the end -------------------------------------------------------------------------------

    def offer_final(self, view: View) -> None:
        """Take a message of main that is the final one if no call follows; judged now, settled at close."""
        run = self._run()
        run.final = view
        self._final_kept = []
        for index in self._final_rules:
            rule = run.contract.rules[index]
            if not isinstance(rule.kind, Require | Needs):
                continue
            run.keep_back()
            self.trigger(index, _of(rule, "final message"), view)
            self._final_kept.append((index, view, run.kept_back()))

    def drop_final(self) -> None:
        """A call of main follows: what was said last is not the final message."""
        self._run().final = None
        self._final_kept = []

    def close_triggers(self) -> None:
        """Judge the final message and the end."""
        if not self._final_rules and not self._end_rules:
            return
        run = self._run()
        kept = {index: settled for index, _, settled in self._final_kept}
        for index in self._final_rules:
            rule = run.contract.rules[index]
            if run.final is None:
                continue
            if run.gaps.behind(run.final.seq, _AFTER_FINAL) and rule.judge == "run":
                run.settle(
                    index,
                    "inconclusive",
                    run.final,
                    "a gap behind this message may hide the final one",
                    reason="hidden-trigger",
                )
            elif index in kept:
                for instance in kept[index]:
                    run.emit(index, instance.verdict, instance.ruling)
            else:
                self.trigger(index, _of(rule, "final message"), run.final)
        # Behind the gap that a cut-off record ends with.
        end = RunEnd(seq=run.last_seq + 2, end=run.end.end if run.end is not None else "completed")
        view = View(run, end, None, issued=False)
        for index in self._end_rules:
            rule = run.contract.rules[index]
            self.trigger(index, _of(rule, "end"), view)

    # -- windows -----------------------------------------------------------------------------------------------------

    def mark(self, listener: Listener, view: View) -> None:
        """Note an event of `after`, `until` or `since`."""
        run = self._run()
        rule = run.contract.rules[listener.owner]
        monitor = run.monitors[listener.owner]
        if listener.role == "since" and isinstance(rule.kind, Needs):
            assert monitor is not None
            monitor.seen(len(rule.kind.any) + listener.slot, view)
            return
        if not self.selects(listener.selector, view):
            return
        marks = self._marks.setdefault((listener.role, listener.owner, listener.slot), Marks())
        if listener.selector.what == "claim" and not self.claim_views(listener.selector, view):
            return
        join = run.plan.joins[listener.role, listener.owner, listener.slot]
        match = _all_true([run.frame(expr, view) for expr in join.filter])
        if match is False:
            return
        key = read_key(run, join.picked, view)
        if match is not True or isinstance(key, Missing | Hidden):
            marks.fog.append(view.seq)
        else:
            marks.add(key, view.seq)
            self._opened_windows.add(listener.owner)

    def window(self, index: int, rule: Rule, view: View) -> Any:
        """Return whether an event lies in the rule's window."""
        opened = self.latest(index, rule, "after", view)
        closed = self.latest(index, rule, "until", view)
        if isinstance(opened, Hidden) or isinstance(closed, Hidden):
            return opened if isinstance(opened, Hidden) else closed
        is_inside = (opened >= 0 if rule.after else True) and (closed < 0 or (bool(rule.after) and closed < opened))
        since = opened if is_inside else closed
        if self.is_doubtful(index, ("after", "until"), rule.after + rule.until, since, view):
            return Hidden("a gap may hide an event that opens or closes the window")
        return is_inside

    def latest(self, index: int, rule: Rule, role: str, view: View) -> Any:
        """Return the place of the latest event of a role before the view is judged: -1 for none, or `Hidden`."""
        run = self._run()
        latest = -1
        for slot, _ in enumerate(getattr(rule, role)):
            marks = self._marks.get((role, index, slot))
            if marks is None:
                continue
            key = read_key(run, run.plan.joins[role, index, slot].this, view)  # type: ignore[index]
            if isinstance(key, Missing | Hidden):
                return Hidden(f"`{role}`: {key.reason}")
            latest = max(latest, marks.latest(key, view.at))
        return latest

    def is_doubtful(
        self, index: int, roles: Sequence[str], selectors: Sequence[Selector], since: int, view: View
    ) -> bool:
        """Return whether something between `since` and the view may be an event of one of the roles."""
        run = self._run()
        gaps = () if view.ignores_gaps else run.gaps.all
        if any(since < place < view.at and hides(gap, selectors) for gap, place in gaps):
            return True
        return any(
            marks.fog_between(since, view.at)
            for (role, owner, _), marks in self._marks.items()
            if owner == index and role in roles
        )

    def ever_inside(self, index: int) -> bool:
        """Return whether the rule's window ever opened."""
        return not self._run().contract.rules[index].after or index in self._opened_windows

    def gap_known(self, view: View, selectors: Sequence[Selector], since: int = -1) -> bool:
        """Return whether a gap known to the view, behind `since`, may hide what the selectors pick."""
        run = self._run()
        if not run.gaps.all or view.ignores_gaps:
            return False
        return any(place > since and hides(gap, selectors) for gap, place in known_to(view, run.gaps.all))

    def read_key(self, exprs: Sequence[Expr], view: View) -> Any:
        """Return the values of expressions as one key, or the first that is hidden or missing."""
        return read_key(self, exprs, view)

    def unreadable(self, rule: int, view: View, value: Any, otherwise: str) -> None:
        """Settle an instance whose evidence is missing or hidden."""
        unreadable(self, rule, view, value, otherwise)

    def comparison(self, expr: Expr, view: View) -> tuple[str, ...]:
        """Return the values that make an expression false, as `3500 > 3000`."""
        return comparisons(expr, view)

    def _run(self) -> Run:
        return self  # type: ignore[return-value]


def read_key(run: Any, exprs: Sequence[Expr], view: View) -> Any:
    """Return the values of expressions as one key, or the first that is `Hidden` or `Missing`."""
    if not exprs:
        return NO_KEY
    values = [run.evidence(expr, view) for expr in exprs]
    for kind in (Hidden, Missing):
        for value in values:
            if isinstance(value, kind):
                return value
    try:
        return tuple(key_of(value) for value in values)
    except Undecided as error:
        return Hidden(str(error))


def unreadable(run: Any, index: int, view: View, value: Any, otherwise: str) -> None:
    """Settle an instance whose evidence is missing or hidden."""
    rule: Rule = run.contract.rules[index]
    if isinstance(value, Hidden):
        run.settle(index, "inconclusive", view, value.reason, reason="hidden-evidence", missing=(value.reason,))
        return
    reason = value.reason if isinstance(value, Missing) else otherwise
    run.settle(
        index,
        "inconclusive" if rule.missing == "inconclusive" else "violated",
        view,
        reason,
        reason="missing-evidence",
        missing=(reason,),
    )


def disjunction(values: Sequence[Any]) -> Any:
    """Return the four-valued disjunction: true wins, then hidden, then missing; false for none."""
    undecided: Any = False
    for value in values:
        if value is True:
            return True
        if isinstance(value, Hidden) or (isinstance(value, Missing) and not isinstance(undecided, Hidden)):
            undecided = value
    return undecided


def _all_true(values: Sequence[Any]) -> Any:
    from outstep.engine.run import conjunction

    return conjunction(values)


def _of(rule: Rule, what: str) -> list[Selector]:
    return [selector for selector in rule.triggers if selector.what == what]


def _actor_fits(selector: Selector, view: View) -> bool:
    lane: LaneState | None = view.lane
    if lane is None or selector.by == "any":
        return True
    event = view.event
    call = event if isinstance(event, ToolCall) else view.call.event if view.call is not None else None
    caller = call.by if call is not None else "user" if lane.kind == "user" else "model"
    if selector.by is None:
        if selector.what in {"message", "final message", "claim"} and lane.id != "main":
            return False
        return caller in {"model", "program"} and lane.kind != "user"
    if selector.by in {"user", "harness"}:
        return caller == selector.by
    return glob_fits(selector.by, lane.id)
