"""When a rule looks at an event: its selectors, its window, its conditions (SEMANTICS sections 3 to 5)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import AtLeast, Exactly, Needs, Never, Require
from outstep.contracts.model import Rule
from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.engine.facts import FactView
from outstep.engine.gaps import hides, known_to, may_hide, stands_before
from outstep.engine.plan import Listener
from outstep.engine.rulings import Settled
from outstep.engine.views import View
from outstep.events import RunEnd, ToolCall
from outstep.expr.values import Hidden, Missing, Undecided, from_key, key_of

if TYPE_CHECKING:
    from outstep.contracts.kinds.base import KindMonitor
    from outstep.engine.lanes import LaneState
    from outstep.engine.run import Run
    from outstep.expr.claim import Claim

NO_KEY = ()

Truth = bool | Missing | Hidden
"""What a condition gives (SEMANTICS section 4)."""

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

    def fog_in(self, since: int, before: int) -> list[int]:
        """Return where undecided ones stand between two places."""
        return self.fog[bisect_left(self.fog, since + 1) : bisect_left(self.fog, before)]


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
        self._main_call = -1
        """Where the newest call of `main` stands."""

    # -- which events ------------------------------------------------------------------------------------------------

    def selects(self, selector: Selector, view: View) -> bool:
        """Return whether an event has the outcome and the actor that a selector asks for; its name already fits."""
        if selector.outcome is not None and view.outcome != selector.outcome:
            return False
        return _actor_fits(selector, view)

    def acts(self, selector: Selector, view: View) -> bool:
        """Return whether an event comes from the actor that a selector asks for."""
        return _actor_fits(selector, view)

    def match(self, selector: Selector, view: View, this: View | None) -> Truth:
        """Return whether a selector picks an event, its `where` read as evidence."""
        return self._match(selector, view, this, is_evidence=True)

    def match_frame(self, selector: Selector, view: View) -> Truth:
        """Return whether a selector picks an event, its `where` read as a condition or frame."""
        return self._match(selector, view, None, is_evidence=False)

    def _match(self, selector: Selector, view: View, this: View | None, *, is_evidence: bool) -> Truth:
        if not self.selects(selector, view):
            return False
        if selector.what == "claim":
            found: list[Truth] = [Hidden("a part of the message is hidden")] if is_text_hidden(view) else []
            found += [
                self._where(selector, claim.facing(this) if this is not None else claim, is_evidence)
                for claim in self.claim_views(selector, view)
            ]
            return disjunction(found)
        return self._where(selector, view.facing(this) if this is not None else view, is_evidence)

    def _where(self, selector: Selector, view: View, is_evidence: bool) -> Truth:
        if selector.where is None:
            return True
        run = self._run()
        value = run.evidence(selector.where, view) if is_evidence else run.frame(selector.where, view)
        return value if isinstance(value, bool | Missing | Hidden) else Missing("`where` gives no truth value")

    def may_claim_hidden(self, selector: Selector, view: View) -> bool:
        """Return whether a hidden part of a message may hold a claim that a selector names."""
        return selector.what == "claim" and is_text_hidden(view)

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
                if is_text_hidden(view):
                    self.judge(index, view, Hidden("a part of the message is hidden and may claim this"))

    def trigger_claim(self, index: int, selector: Selector, view: View, claim: Claim) -> None:
        """Let one rule judge one claim of a message."""
        self._judge_claim(index, selector, view.claiming(claim))

    def _judge_claim(self, index: int, selector: Selector, claim: View) -> None:
        picked = self._where(selector, claim, is_evidence=False)
        if picked is not False:
            self.judge(index, claim, picked)

    def judge(self, index: int, view: View, picked: Truth) -> None:
        """Judge one event of `for`, if the rule applies there."""
        run = self._run()
        rule = run.contract.rules[index]
        view = view.within(self._lets[index], ignores_gaps=rule.judge == "record")
        window = self.window(index, rule, view) if rule.after or rule.until else True
        if window is False:
            return
        of_event, of_element = run.plan.conditions[index]
        applies = _all_true([picked, window, *(run.frame(expr, view) for expr in of_event)])
        if applies is False:
            return
        if of_element:
            self._instances(index, rule, view, applies)
        elif applies is True:
            self._instances(index, rule, view)
        else:
            self._doubted(index, rule, view, applies)

    def _doubted(self, index: int, rule: Rule, view: View, applies: Missing | Hidden) -> None:
        """Settle an instance of which nobody can tell whether the rule applies to it."""
        run = self._run()
        monitor = run.monitors[index]
        if monitor is not None:
            monitor.doubted(view)
        if isinstance(rule.kind, AtLeast | Exactly) and not (rule.per or rule.per_turn):
            return
        run.settle(
            index,
            "inconclusive",
            view,
            "it cannot be decided whether the rule applies here",
            reason="hidden-evidence" if isinstance(applies, Hidden) else "undecided-condition",
            missing=(applies.reason,),
        )

    def _applies_to(self, index: int, view: View, applies: Truth) -> bool:
        """Return whether the rule applies to the element in the view; where that cannot be told, settle it."""
        run = self._run()
        of_element = run.plan.conditions[index][1]
        if not of_element:
            return True
        told = _all_true([applies, *(run.frame(expr, view) for expr in of_element)])
        if isinstance(told, Missing | Hidden):
            self._doubted(index, run.contract.rules[index], view, told)
        return told is True

    def _instances(self, index: int, rule: Rule, view: View, applies: Truth = True) -> None:
        run = self._run()
        monitor = run.monitors[index]
        assert monitor is not None
        if rule.about is not None:
            self._about(index, rule, view, applies)
        elif rule.each is not None:
            items = run.evidence(rule.each, view)
            if isinstance(items, list | dict):
                places = (
                    enumerate(items) if isinstance(items, list) else ((from_key(name), items[name]) for name in items)
                )
                for at, it in places:
                    inner = view.element(it, at)
                    if self._applies_to(index, inner, applies):
                        monitor.on(inner)
            elif self._applies_to(index, view.element(items, items), applies):
                unreadable(run, index, view, items, "`each` gives no list")
        else:
            monitor.on(view)

    def _about(self, index: int, rule: Rule, view: View, applies: Truth) -> None:
        """Judge a claim for each key that its sentence mentions; if it mentions none, one key must satisfy."""
        run = self._run()
        monitor = run.monitors[index]
        assert monitor is not None
        assert rule.about is not None
        fact = run.plan.facts[rule.about]
        facts = FactView(run, fact, view)
        sentence = view.claim.sentence if view.claim is not None else ""
        mentioned = [key for key in run.key_index[fact].found(sentence) if facts.is_there(key)]
        if mentioned:
            for key in mentioned:
                inner = view.element(from_key(key), None)
                if self._applies_to(index, inner, applies):
                    self._about_one(index, monitor, inner, facts.are_keys_hidden)
            return
        if facts.are_keys_hidden:
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
        if not visible and isinstance(applies, Missing | Hidden):
            self._doubted(index, rule, view, applies)
            return
        settled: list[Settled] = []
        for key in visible:
            run.keep_back()
            inner = view.element(from_key(key), None)
            if self._applies_to(index, inner, applies):
                monitor.on(inner)
            settled += run.kept_back()
            if settled and settled[-1].verdict == "satisfied":
                run.settle(index, "satisfied", view)
                return
        if visible and not settled:
            return  # the rule applies to none of them
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
                missing=(f"`{rule.about}`: {_entries(len(visible))} known here",),
            )

    def _about_one(self, index: int, monitor: KindMonitor, view: View, are_keys_hidden: bool) -> None:
        """Judge a claim for one key that it mentions; where others may be hidden, it cannot be said to hold."""
        run = self._run()
        if not are_keys_hidden:
            monitor.on(view)
            return
        run.keep_back()
        monitor.on(view)
        for settled in run.kept_back():
            if settled.verdict == "satisfied":
                run.settle(
                    index,
                    "inconclusive",
                    view,
                    "a gap may hide other entries that the sentence speaks of",
                    reason="hidden-evidence",
                )
            else:
                run.emit(index, settled.verdict, settled.ruling)

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

    def drop_final(self, seq: int) -> None:
        """A call of main follows: what was said last is not the final message."""
        self._main_call = seq
        self._run().final = None
        self._final_kept = []

    def close_triggers(self) -> None:
        """Judge the final message and the end."""
        if not self._final_rules and not self._end_rules:
            return
        run = self._run()
        for index in self._final_rules:
            self._close_final(index, run.contract.rules[index])
        # Behind the gap that a cut-off record ends with.
        end = RunEnd(seq=run.last_seq + 2, end=run.end.end if run.end is not None else "completed")
        view = View(run, end, None, issued=False)
        for index in self._end_rules:
            rule = run.contract.rules[index]
            self.trigger(index, _of(rule, "end"), view)

    def _close_final(self, index: int, rule: Rule) -> None:
        run = self._run()
        kept = {rule_index: settled for rule_index, _, settled in self._final_kept}
        if run.was_aborted and rule.judge == "run":
            run.settle(
                index,
                "inconclusive",
                run.final,
                "the run was stopped before its final message",
                reason="unfinished-run",
            )
        elif run.final is None:
            return
        elif rule.judge == "run" and self.is_final_doubtful(run.final):
            run.settle(
                index,
                "inconclusive",
                run.final,
                "a gap may hide that this is not the final message",
                reason="hidden-evidence",
            )
        elif index in kept:
            for instance in kept[index]:
                run.emit(index, instance.verdict, instance.ruling)
        else:
            self.trigger(index, _of(rule, "final message"), run.final)

    def is_final_doubtful(self, final: View) -> bool:
        """Return whether a message of main that looks like the final one may not be it."""
        run = self._run()
        turn = getattr(final.event, "turn", None)
        return run.gaps.behind(final.seq, _AFTER_FINAL) or any(
            gap.turn is not None and gap.turn == turn and gap.agent == "main" and may_hide(gap, ("tool.call",))
            for gap, _ in run.gaps.all
        )

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
            if is_text_hidden(view):
                marks.fog.append(view.seq)
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
            self._prune(listener, rule, marks.places[key])
            if listener.role == "after":
                self._opened_windows.add(listener.owner)
            if monitor is not None and listener.role != "since" and not join.this:
                monitor.marked(listener.role, view.seq)

    def _prune(self, listener: Listener, rule: Rule, places: list[int]) -> None:
        """Forget places that nothing asks for: with one lane, what comes is judged from its last decision on."""
        run = self._run()
        if run.header.lanes or len(run.lanes) > 1:
            return
        oldest = run.lane("main").start
        last = max(bisect_left(places, oldest) - 1, 0)
        if listener.role != "after":
            del places[:last]
        elif not any(run.plan.joins["until", listener.owner, slot].this for slot, _ in enumerate(rule.until)):
            # The first one behind the latest end opened the window; the latest one says that it is open again.
            ends = [self._marks[key] for key in self._marks if key[:2] == ("until", listener.owner)]
            closed = max((end.latest(NO_KEY, oldest) for end in ends), default=-1)
            first = min(bisect_left(places, closed), last)
            del places[first + 1 : last]
            del places[:first]

    def window(self, index: int, rule: Rule, view: View) -> Truth:
        """Return whether an event lies in the rule's window."""
        opened = self.latest(index, rule, "after", view)
        closed = self.latest(index, rule, "until", view)
        for place in (opened, closed):
            if isinstance(place, Hidden):
                return place
        is_inside = (opened >= 0 if rule.after else True) and (closed < 0 or (bool(rule.after) and closed <= opened))
        doubted = ("until", rule.until, opened) if is_inside else ("after", rule.after, closed - 1)
        if self.is_doubtful(index, doubted[:1], doubted[1], doubted[2], view):
            return Hidden("a gap may hide an event that opens or closes the window")
        return is_inside

    def begins(self, index: int, rule: Rule, view: View) -> tuple[int, int]:
        """Return where the count of an event begins, and the latest place where it may have begun anew."""
        begins = surest = -1
        if rule.after:
            closed = self.latest(index, rule, "until", view)
            begins = self._first_opening(index, rule, closed, view)
            doubts = self._doubts(index, ("after",), rule.after, begins, view)
            if rule.until and self._doubts(index, ("until",), rule.until, begins, view):
                surest = max(doubts, default=-1)
        if rule.since:
            latest = self.latest(index, rule, "since", view)
            begins = max(begins, view.at if isinstance(latest, Hidden) else latest)
            surest = max([surest, *self._doubts(index, ("since",), rule.since, begins, view)])
        return begins, max(begins, surest)

    def opening(self, index: int, rule: Rule, view: View) -> int:
        """Return where the window of an event opened, `since` not considered."""
        return self._first_opening(index, rule, self.latest(index, rule, "until", view), view)

    def newest_since(self, index: int, rule: Rule, start: int, end: int | None) -> tuple[int, int]:
        """Return where the newest `since` of a window stands, and where it may."""
        run = self._run()
        before = run.last_seq + 1 if end is None else end
        surely = perhaps = start
        for (role, owner, _), marks in self._marks.items():
            if owner == index and role == "since":
                for places in marks.places.values():
                    place = places[max(bisect_left(places, before) - 1, 0)]
                    if start < place < before:
                        surely = max(surely, place)
                perhaps = max([perhaps, *marks.fog_in(start, before)])
        perhaps = max(perhaps, surely)
        for gap, place in run.gaps.all if rule.judge == "run" else ():
            if start < place and (end is None or place < end) and hides(gap, rule.since):
                perhaps = max(perhaps, place)
        return surely, perhaps

    def is_window_doubtful(self, index: int, rule: Rule, end: int | None) -> bool:
        """Return whether a window may open or end unseen."""
        selectors = rule.after + rule.until
        if not selectors:
            return False
        if self.may_hide_between(selectors, -2, end):
            return True
        limit = self._run().last_seq + 1 if end is None else end
        return any(
            marks.fog_in(-2, limit)
            for (role, owner, _), marks in self._marks.items()
            if owner == index and role in {"after", "until"}
        )

    def may_hide_between(self, selectors: Sequence[Selector], since: int, end: int | None) -> bool:
        """Return whether a gap between two places may hide what the selectors pick."""
        return any(
            place > since and (end is None or place < end) and hides(gap, selectors)
            for gap, place in self._run().gaps.all
        )

    def _first_opening(self, index: int, rule: Rule, closed: int, view: View) -> int:
        run = self._run()
        found = []
        for slot, _ in enumerate(rule.after):
            marks = self._marks.get(("after", index, slot))
            key = read_key(run, run.plan.joins["after", index, slot].this, view)
            if marks is not None and not isinstance(key, Missing | Hidden):
                found.append(marks.first_after(key, closed - 1, view.at))
        return min((place for place in found if place >= 0), default=-1)

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
        return bool(self._doubts(index, roles, selectors, since, view))

    def _doubts(
        self, index: int, roles: Sequence[str], selectors: Sequence[Selector], since: int, view: View
    ) -> list[int]:
        run = self._run()
        gaps = () if view.ignores_gaps or not selectors else run.gaps.all
        found = [
            place
            for gap, place in gaps
            if place > since and stands_before(gap, place, view.at) and hides(gap, selectors)
        ]
        for (role, owner, _), marks in self._marks.items():
            if owner == index and role in roles:
                found += marks.fog_in(since, view.at)
        return found

    def ever_inside(self, index: int) -> bool:
        """Return whether the rule's window ever opened."""
        return not self._run().contract.rules[index].after or index in self._opened_windows

    def may_hide_trigger(self, index: int, rule: Rule) -> bool:
        """Return whether a gap may hide an event that the rule would have judged."""
        gaps = self._run().gaps
        plain = tuple(selector for selector in rule.triggers if selector.what != "final message")
        windows = rule.after + rule.until
        if isinstance(rule.kind, AtLeast) and not (rule.per or rule.per_turn):
            return gaps.anywhere(windows)
        if isinstance(rule.kind, AtLeast | Exactly):
            return gaps.anywhere(plain + windows)
        if gaps.anywhere(plain):
            return True
        if isinstance(rule.kind, Never) and not self.ever_inside(index):
            return gaps.anywhere(rule.after) or self.may_have_opened(index)
        return plain != rule.triggers and self._may_hide_final()

    def may_have_opened(self, index: int) -> bool:
        """Return whether an event that cannot be read may have opened the rule's window."""
        return any(marks.fog for (role, owner, _), marks in self._marks.items() if owner == index and role == "after")

    def _may_hide_final(self) -> bool:
        run = self._run()
        if run.final is not None:
            return self.is_final_doubtful(run.final)
        return any(
            may_hide(gap, ("assistant.message",)) and gap.agent in {None, "main"} and place > self._main_call
            for gap, place in run.gaps.all
        )

    def gap_known(self, view: View, selectors: Sequence[Selector], since: int = -1) -> bool:
        """Return whether a gap known to the view, behind `since`, may hide what the selectors pick."""
        run = self._run()
        if not run.gaps.all or view.ignores_gaps:
            return False
        # A snapshot of the state is read in log order, whatever the lane knows.
        states = [selector for selector in selectors if selector.what == "state"]
        if states and run.gaps.before(view, states, since):
            return True
        return any(place > since and hides(gap, selectors) for gap, place in known_to(view, run.gaps.all))

    def read_key(self, exprs: Sequence[Expr], view: View) -> Any:
        """Return the values of expressions as one key, or the first that is hidden or missing."""
        return read_key(self._run(), exprs, view)

    def unreadable(self, rule: int, view: View, value: Any, otherwise: str, key: str = "") -> None:
        """Settle an instance whose evidence is missing or hidden."""
        unreadable(self._run(), rule, view, value, otherwise, key)

    def absent_facts(self, expr: Expr, view: View) -> tuple[str, ...]:
        """Return the facts that an expression reads and that have no entry here."""
        from outstep.engine.explain import absent_facts  # a run in which all holds explains nothing

        return absent_facts(self._run(), expr, view)

    def comparison(self, expr: Expr, view: View) -> tuple[str, ...]:
        """Return the values that make an expression false, as `3500 > 3000`."""
        from outstep.engine.explain import comparisons

        return comparisons(expr, view)

    def _run(self) -> Run:
        return self  # type: ignore[return-value]


def _entries(count: int) -> str:
    return {0: "no entry is", 1: "1 entry is"}.get(count, f"{count} entries are")


def is_text_hidden(view: View) -> bool:
    """Return whether some of a message's text cannot be seen."""
    return any(pointer in {"", "/text"} for pointer in getattr(view.event, "hidden", ()))


def read_key(run: Run, exprs: Sequence[Expr], view: View) -> Any:
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


def unreadable(run: Run, index: int, view: View, value: Any, otherwise: str, key: str = "") -> None:
    """Settle an instance whose evidence is missing or hidden."""
    rule = run.contract.rules[index]
    if isinstance(value, Hidden):
        run.settle(
            index, "inconclusive", view, value.reason, reason="hidden-evidence", key=key, missing=(value.reason,)
        )
        return
    reason = value.reason if isinstance(value, Missing) else otherwise
    run.settle(
        index,
        "inconclusive" if rule.missing == "inconclusive" else "violated",
        view,
        reason,
        reason="missing-evidence",
        key=key,
        missing=(reason,),
    )


def disjunction(values: Sequence[Truth]) -> Truth:
    """Return the four-valued disjunction: true wins, then hidden, then missing; false for none."""
    undecided: Truth = False
    for value in values:
        if value is True:
            return True
        if isinstance(value, Hidden) or (isinstance(value, Missing) and not isinstance(undecided, Hidden)):
            undecided = value
    return undecided


def _all_true(values: Sequence[Any]) -> Truth:
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
