"""The verdict of every kind that speaks of single events: `require`, `never`, `needs`, `then` (SEMANTICS 5 and 7)."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.contracts.kinds import Needs, Require, Then, Within
from outstep.contracts.model import Rule
from outstep.contracts.selectors import Expr, Selector
from outstep.events import Event, Gap, RunEnd, ToolCall
from outstep.expr.nodes import Binary, Call, conjuncts, names_of
from outstep.expr.text import mentions
from outstep.expr.values import Hidden, Missing, Value, show

from .instances import Case, cases, conjunction, reason_of
from .known import Hole
from .scene import Scene
from .verdicts import HIDDEN_EVIDENCE, MISSING_EVIDENCE, UNFINISHED, Instance
from .views import CONDITION, EVIDENCE, View

Judged = tuple[str, str]
"""A verdict and its reason."""
SATISFIED: Judged = ("satisfied", "")
VIOLATED: Judged = ("violated", "")
HIDDEN: Judged = ("inconclusive", HIDDEN_EVIDENCE)


def judged_cases(scene: Scene, rule: Rule) -> list[Instance]:
    """Return the instances of a `require`, `needs` or `then`."""
    found: list[Instance] = []
    for case in cases(scene, rule):
        undecided = case.undecided()
        if rule.about is not None and case.each is None:
            found += _about(scene, rule, case)
        elif undecided is not None:
            found.append(undecided)
        elif case.each is not None:
            found.append(case.instance(*missing_or_hidden(rule, case.each)))
        else:
            found.append(case.instance(*_final(scene, case, judge(scene, rule, case.view))))
    return found


def judge(scene: Scene, rule: Rule, view: View) -> Judged:
    """Return the verdict at one event (with one element)."""
    if isinstance(rule.kind, Require):
        return _require(scene, rule, rule.kind, view)
    if isinstance(rule.kind, Needs):
        return _needs(scene, rule, rule.kind, view)
    assert isinstance(rule.kind, Then)
    return _then(scene, rule, rule.kind, view)


def missing_or_hidden(rule: Rule, value: Value) -> Judged:
    """Return what undecided evidence comes to."""
    if isinstance(value, Hidden):
        return HIDDEN
    return VIOLATED if rule.missing == "violated" else ("inconclusive", MISSING_EVIDENCE)


def _final(scene: Scene, case: Case, judged: Judged) -> Judged:
    """What a final message comes to: another one may have followed."""
    if not case.view.is_final:
        return judged
    if scene.trace.end == "aborted":
        return ("inconclusive", UNFINISHED)
    return HIDDEN if scene.final_holes() else judged


# require


def _require(scene: Scene, rule: Rule, kind: Require, view: View) -> Judged:
    truths = [scene.truth(expr, view, EVIDENCE) for expr in kind.all]
    if any(truth is False for truth in truths):
        return VIOLATED
    for truth in truths:
        if isinstance(truth, Missing):
            return missing_or_hidden(rule, truth)
    return HIDDEN if any(isinstance(truth, Hidden) for truth in truths) else SATISFIED


def _about(scene: Scene, rule: Rule, case: Case) -> list[Instance]:
    """Judge a claim once for each key of a fact that its sentence mentions; if it mentions none, one key must do."""
    assert rule.about is not None
    claim = case.view.claim
    if claim is None or claim.index < 0:
        undecided = case.undecided()
        return [undecided] if undecided is not None else []
    entries = scene.facts.entries(rule.about, case.view)
    are_hidden = isinstance(entries.keys(), Hidden)
    sure = entries.sure_keys()
    mentioned = [key for key in sure if _is_mentioned(claim.sentence, key)]
    if mentioned:
        found: list[Instance] = []
        for key in mentioned:
            applies, judged = _of_key(scene, rule, case, key)
            if applies is False:
                continue
            if are_hidden and judged[0] == "satisfied":
                judged = HIDDEN
            found.append(Instance(case.seq, show(key), *judged))  # type: ignore[arg-type]
        return found
    best = _one_of(scene, rule, case, sure)
    if best is None:
        return []
    return [case.instance(*(HIDDEN if are_hidden else best))]


def _is_mentioned(sentence: str, key: Value) -> bool:
    try:
        return mentions(sentence, key)
    except ValueError:
        return False


def _of_key(scene: Scene, rule: Rule, case: Case, key: Value) -> tuple[Value, Judged]:
    """Return whether the rule applies to a key, and what it comes to."""
    view = View(event=case.view.event, claim=case.view.claim, lets=case.view.lets, element=(key, key))
    where = [truth for x, truth in scene.picked(rule.triggers, view.event, CONDITION) if x.place == view.place]
    applies = conjunction([*where, case.window.inside, *(scene.truth(when, view, CONDITION) for when in rule.when)])
    if applies is True:
        return True, judge(scene, rule, view)
    return applies, ("inconclusive", reason_of(applies))


def _one_of(scene: Scene, rule: Rule, case: Case, keys: Sequence[Value]) -> Judged | None:
    """Return what it comes to that one key must satisfy the rule; none if the rule applies to no key."""
    if not keys:
        undecided = case.undecided()
        return VIOLATED if undecided is None else (undecided.verdict, undecided.reason)
    judged = [verdict for applies, verdict in (_of_key(scene, rule, case, key) for key in keys) if applies is not False]
    if not judged:
        return None
    for wanted in ("satisfied", "inconclusive"):
        for verdict in judged:
            if verdict[0] == wanted:
                return verdict
    return VIOLATED


# never


def never(scene: Scene, rule: Rule) -> list[Instance]:
    """Return each event that happened, or may have; else the run, unless no window ever opened."""
    found = [case.undecided() or case.instance("violated") for case in cases(scene, rule)]
    if found:
        return found
    opened = has_opened(scene, rule)
    if opened is False:
        return []
    return [Instance(None, "", "satisfied") if opened is True else Instance(None, "", "inconclusive", HIDDEN_EVIDENCE)]


def has_opened(scene: Scene, rule: Rule) -> Value:
    """Return whether a window of `after` ever opened."""
    if not rule.after:
        return True
    joined = scene.is_joined(rule, rule.after)
    found: Value = False
    for event in scene.trace.events:
        for _, truth in scene.picked(rule.after, event, CONDITION):
            if truth is True or joined:
                return True
            found = Hidden("what opens the window is undecided")
    return found


# needs


def _needs(scene: Scene, rule: Rule, kind: Needs, view: View) -> Judged:
    trace = scene.trace
    known = trace.known(view.event)
    surely, perhaps = _since(scene, rule, view)
    possible = False
    for event in trace.events:
        if event.seq not in known:
            continue
        behind = _counts_from(scene, event)
        if any(behind <= mark for mark in surely):
            continue
        for _, truth in scene.picked(kind.any, event, EVIDENCE, view):
            if truth is True and not any(behind <= mark for mark in perhaps):
                return SATISFIED
            possible = possible or not isinstance(truth, Missing)
    for hole, lane in trace.known_holes(view.event):
        if hole.seq > max(surely, default=-1) and scene.may_hide_from(hole, lane, kind.any):
            possible = True
    states = [selector for selector in kind.any if selector.what == "state"]
    possible = possible or any(
        max(surely, default=-1) < hole.seq < view.event.seq and scene.may_hide(hole, states) for hole in trace.holes
    )
    # That nothing is known is missing evidence, in the sense of the key `missing`.
    return HIDDEN if possible else missing_or_hidden(rule, Missing("no such event is known"))


def _since(scene: Scene, rule: Rule, view: View) -> tuple[list[float], list[float]]:
    """Return where a `since` known to the view stands, and where one may stand."""
    surely: list[float] = []
    perhaps: list[float] = []
    if not rule.since:
        return surely, perhaps
    known = scene.trace.known(view.event)
    for event in scene.trace.events:
        if event.seq in known:
            truths = [truth for _, truth in scene.picked(rule.since, event, CONDITION, view)]
            if any(truth is True for truth in truths):
                surely.append(event.seq)
            elif truths:
                perhaps.append(event.seq)
    for hole, lane in scene.trace.known_holes(view.event):
        if scene.may_hide_from(hole, lane, rule.since):
            perhaps.append(hole.seq)
    return surely, perhaps


def _counts_from(scene: Scene, event: Event) -> float:
    """Return where an event counts from: a result from the opening of its call's decision."""
    call = scene.trace.pairing.call_of.get(event.seq)
    return event.seq if call is None else scene.trace.at(call)


# then


def _then(scene: Scene, rule: Rule, kind: Then, view: View) -> Judged:
    trace = scene.trace
    event = view.event
    deadline = _deadline(scene, kind.within, event)
    possible = False
    for x in scene.events:
        if event.seq >= trace.at(x):
            continue
        for picked, truth in scene.picked(kind.any, x, EVIDENCE, view):
            if isinstance(truth, Missing):
                continue
            within = _is_within(scene, kind.within, event, x)
            if picked.is_final:
                within = conjunction([within, _is_surely_final(scene)])
            if truth is True and within is True:
                return SATISFIED
            possible = possible or within is not False
    if possible or any(_may_answer(scene, kind.any, view, hole) for hole in _holes(scene, event, deadline)):
        return HIDDEN
    if all(_is_own_missing(scene, selector, view) for selector in kind.any):
        # Nothing that could have come would do, however the run ended.
        return ("inconclusive", MISSING_EVIDENCE) if rule.missing == "inconclusive" else VIOLATED
    if deadline == float("inf") and trace.end == "aborted" and not _is_answered(scene, kind.any, event):
        return ("inconclusive", UNFINISHED)
    return VIOLATED


_OWN = frozenset({"this", "it", "at", "match"})


def _is_own_missing(scene: Scene, selector: Selector, view: View) -> bool:
    """Return whether what must follow is named by a value of the event itself, and that value is missing."""
    own = _OWN | {name for name, _ in view.lets}
    for node in [] if selector.where is None else conjuncts(selector.where.node):
        parts = [node.left, node.right] if isinstance(node, Binary) and node.op == "==" else []
        if isinstance(node, Call) and node.function == "mentions":
            parts = [*node.args]
        for part in parts:
            names = set(names_of(part))
            if names and names <= own:
                asked = Expr(text="", node=part, spot=selector.spot)
                value = scene.value(asked, View(event=view.event, this=view, lets=view.lets), EVIDENCE)
                if isinstance(value, Missing):
                    return True
    return False


def _is_surely_final(scene: Scene) -> Value:
    if scene.trace.end == "aborted" or scene.final_holes():
        return Hidden("another message may have followed")
    return True


def _is_answered(scene: Scene, selectors: Sequence[Selector], call: Event) -> bool:
    """Return whether `its result`, which alone would do, has come."""
    return all(selector.what == "its result" for selector in selectors) and call.seq in scene.trace.pairing.result_of


def _holes(scene: Scene, event: Event, deadline: float) -> list[Hole]:
    return [hole for hole in scene.trace.holes if hole.seq > event.seq and hole.at < deadline]


def _may_answer(scene: Scene, selectors: Sequence[Selector], view: View, hole: Hole) -> bool:
    """Return whether a hole behind an event may hide what must follow it."""
    for selector in selectors:
        if _is_own_missing(scene, selector, view):
            continue  # nothing matches it, hidden or not
        if selector.what != "its result":
            if scene.may_hide(hole, [selector]):
                return True
            continue
        call = view.event
        assert isinstance(call, ToolCall)
        answered = call.seq in scene.trace.pairing.result_of
        if not answered and hole.can_hide("tool.result") and hole.is_in(call.agent):
            return True
    return False


def _is_within(scene: Scene, within: Within | None, event: Event, x: Event) -> Value:
    """Return whether x stands near enough behind an event."""
    if within is None:
        return True
    trace = scene.trace
    hidden = Hidden("a gap stands between")
    gap_between = any(event.seq < hole.seq < x.seq for hole in trace.holes)
    if within.unit == "events":
        if _distance(scene, event, x) > within.count:
            return False
        return hidden if gap_between else True
    if within.unit == "turns":
        if _opened_between(scene, event, trace.at(x)) > within.count:
            return False
        return hidden if gap_between else True
    then, now = getattr(event, "time", None), getattr(x, "time", None)
    if _seconds_deadline(scene, within.count, event) <= x.seq:
        return False
    if then is None or now is None or now < then:
        return Hidden("the clock is missing or falls")
    return hidden if gap_between else True


def _distance(scene: Scene, event: Event, x: Event) -> int:
    """Return how far x stands behind an event; a gap takes a number, but may hide nothing."""
    gaps = [gap for gap in scene.trace.events if isinstance(gap, Gap) and event.seq < gap.seq < x.seq]
    return x.seq - event.seq - len(gaps)


def _opened_between(scene: Scene, event: Event, until: float) -> int:
    """Count the decisions of the event's lane that open behind it, up to a position."""
    return len(_openings(scene, event, until))


def _openings(scene: Scene, event: Event, until: float) -> list[int]:
    trace = scene.trace
    lane = getattr(event, "agent", "main")
    starts = [trace.start(decision) for decision in trace.decisions(lane)]
    return [start for start in starts if trace.at(event) < start <= until]


def _deadline(scene: Scene, within: Within | None, event: Event) -> float:
    """Return the position at which it is too late."""
    never_passed = float("inf")
    if within is None:
        return never_passed
    if within.unit == "events":
        # Behind the last event that is near enough, nothing is, hidden or not.
        events = [x for x in scene.trace.events if not isinstance(x, RunEnd | Gap)]
        last = [x.seq + 0.5 for x in events if _distance(scene, event, x) >= within.count]
        return min(last, default=never_passed)
    if within.unit == "turns":
        openings = _openings(scene, event, never_passed)
        return openings[within.count] if len(openings) > within.count else never_passed
    return _seconds_deadline(scene, within.count, event)


def _seconds_deadline(scene: Scene, count: int, event: Event) -> float:
    """Return the first later event whose time is past the bound."""
    then = getattr(event, "time", None)
    if then is None:
        return float("inf")
    for x in scene.trace.events:
        time = getattr(x, "time", None)
        if x.seq > event.seq and time is not None and time > then + count:
            return x.seq
    return float("inf")
