"""`after`, `until` and `since`: which events a rule looks at (SEMANTICS section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.contracts.model import Rule
from outstep.contracts.selectors import Selector
from outstep.expr.values import Hidden, Value

from .scene import Scene
from .views import CONDITION, View

START = -1.0
"""Where the window opens of a rule without `after`."""


class Mark(Struct, frozen=True):
    """Where an event of a selector stands, or may stand."""

    at: float
    is_sure: bool


class Window(Struct, frozen=True):
    """The window that an event stands in."""

    inside: Value
    """True, false or `Hidden`."""
    start: float = START
    """Where the count of this event began, on what is visible."""
    surest: float = START
    """The latest place where it may have begun anew, hidden events considered."""


def marks(scene: Scene, selectors: Sequence[Selector], view: View) -> list[Mark]:
    """Return where events of the selectors stand before a view, in the order *after*."""
    before = scene.trace.at(view.event)
    found: list[Mark] = []
    for event in scene.trace.events:
        if event.seq < before:
            truths = [truth for _, truth in scene.picked(selectors, event, CONDITION, view)]
            if truths:
                found.append(Mark(event.seq, True in [truth for truth in truths if isinstance(truth, bool)]))
    # What a gap hides may also stand behind the opening of its turn, so it counts from the gap itself.
    found += [
        Mark(hole.seq, False) for hole in scene.trace.holes if hole.at < before and scene.may_hide(hole, selectors)
    ]
    return sorted(found, key=lambda mark: mark.at)


def window_of(scene: Scene, rule: Rule, view: View) -> Window:
    """Return the window of `after` and `until` that a view stands in, its count begun anew by `since`."""
    opens = marks(scene, rule.after, view) if rule.after else [Mark(START, True)]
    ends = marks(scene, rule.until, view)
    inside = _inside(opens, ends)
    if inside is False:
        return Window(False)
    open_ = [mark for mark in opens if not any(end.is_sure and end.at > mark.at for end in ends)]
    start = min(mark.at for mark in open_)
    surest = max(mark.at for mark in open_ if mark.at == start or _inside_at(opens, ends, mark.at) is not True)
    if rule.since:
        anew = marks(scene, rule.since, view)
        start = max([start, *(mark.at for mark in anew if mark.is_sure)])
        surest = max([surest, start, *(mark.at for mark in anew)])
    return Window(inside, start, surest)


def _inside(opens: Sequence[Mark], ends: Sequence[Mark]) -> Value:
    """Return whether a window is open behind all the marks."""
    for mark in opens:
        if mark.is_sure and not any(end.at > mark.at for end in ends):
            return True
    for mark in opens:
        if not any(end.is_sure and end.at > mark.at for end in ends):
            return Hidden("a gap may hide what opens or closes the window")
    return False


def _inside_at(opens: Sequence[Mark], ends: Sequence[Mark], position: float) -> Value:
    return _inside([mark for mark in opens if mark.at < position], [mark for mark in ends if mark.at < position])


class Stretch(Struct, frozen=True):
    """One whole window of a run."""

    start: float
    end: float | None
    """None: open to the end of the run."""


def stretches(scene: Scene, rule: Rule) -> list[Stretch]:
    """Return the windows of a run, as far as they are visible; their `where` asks for nothing of `for`."""
    found: list[Stretch] = []
    start: float | None = None if rule.after else START
    for event in scene.trace.events:
        view = View(event=event, lets=rule.let)
        if start is not None and start < event.seq and _is_sure(scene, rule.until, view):
            found.append(Stretch(start, event.seq))
            start = None
        if rule.after and start is None and _is_sure(scene, rule.after, view):
            start = event.seq
    if start is not None:
        found.append(Stretch(start, None))
    return found


def _is_sure(scene: Scene, selectors: Sequence[Selector], view: View) -> bool:
    return any(truth is True for _, truth in scene.picked(selectors, view.event, CONDITION))


def doubts(scene: Scene, rule: Rule, before: float = float("inf")) -> list[float]:
    """Return where a window may open or end unseen."""
    selectors = [*rule.after, *rule.until]
    found = [hole.at for hole in scene.trace.holes if scene.may_hide(hole, selectors)]
    for event in scene.trace.events:
        truths = [truth for _, truth in scene.picked(selectors, event, CONDITION)]
        if truths and not any(truth is True for truth in truths):
            found.append(event.seq)
    return [at for at in found if at < before]
