"""Which instances a rule has on a trace, and whether its conditions hold there (SEMANTICS 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from outstep.contracts.model import Rule
from outstep.contracts.selectors import Expr
from outstep.expr.nodes import names_of
from outstep.expr.values import Hidden, Missing, Value, show

from .facts import elements_of
from .scene import Picked, Scene
from .verdicts import HIDDEN_EVIDENCE, UNDECIDED_CONDITION, Instance
from .views import CONDITION, View
from .windows import Window, window_of


class Case(Struct, frozen=True, kw_only=True, eq=False):
    """An event of `for`, with one element of `each`, and whether the rule applies to it."""

    view: View
    applies: Value
    """True, `Missing` or `Hidden`; what does not apply is no case."""
    window: Window
    key: str = ""
    each: Value = None
    """`Missing` or `Hidden` where there is no list to take elements from."""

    @property
    def seq(self) -> int:
        """Its place."""
        return self.view.event.seq

    def instance(self, verdict: str, reason: str = "") -> Instance:
        """Return the instance with a verdict."""
        return Instance(self.seq, self.key, verdict, reason)  # type: ignore[arg-type]

    def undecided(self) -> Instance | None:
        """Return the instance that only says that the conditions cannot be decided, if that is so."""
        if self.applies is True:
            return None
        return self.instance("inconclusive", reason_of(self.applies))


def reason_of(undecided: Value) -> str:
    """Return the reason that an undecided condition gives a verdict."""
    return HIDDEN_EVIDENCE if isinstance(undecided, Hidden) else UNDECIDED_CONDITION


def conjunction(truths: Sequence[Value]) -> Value:
    """Fold with `&&`: false wins, then hidden, then missing."""
    if any(truth is False for truth in truths):
        return False
    for kind in (Hidden, Missing):
        for truth in truths:
            if isinstance(truth, kind):
                return truth
    return True


def triggers(scene: Scene, rule: Rule) -> Iterator[Picked]:
    """Yield the views of `for`, in trace order, each with what its `where` gives."""
    for event in scene.events:
        for view, truth in scene.picked(rule.triggers, event, CONDITION):
            yield View(event=event, claim=view.claim, is_final=view.is_final, lets=rule.let), truth


def cases(scene: Scene, rule: Rule) -> list[Case]:
    """Return the events to which the rule applies, or may apply; one for each element of `each`."""
    found: list[Case] = []
    for view, truth in triggers(scene, rule):
        window = window_of(scene, rule, view)
        whens = [when for when in rule.when if rule.about is None or not _speaks_of_it(rule, when)]
        for element in _elements(scene, rule.each, view):
            inner, undecided = _within(view, element)
            applies = conjunction([truth, window.inside, *(scene.truth(when, inner, CONDITION) for when in whens)])
            if applies is not False:
                key = show(element[0]) if isinstance(element, tuple) else ""
                found.append(Case(view=inner, applies=applies, window=window, key=key, each=undecided))
    return found


def _speaks_of_it(rule: Rule, expr: Expr) -> bool:
    """Return whether a condition asks of one key of `about`, itself or by a name of `let`."""
    names = set(names_of(expr.node))
    return "it" in names or any(_speaks_of_it(rule, inner) for name, inner in rule.let if name in names)


def _elements(scene: Scene, each: Expr | None, view: View) -> list[Any]:
    """Return the elements of `each`; without it, or where it is undecided, one entry that says so."""
    if each is None:
        return [None]
    value = scene.evidence(each, view)
    if isinstance(value, list | dict):
        return elements_of(value)
    return [value if isinstance(value, Missing | Hidden) else Missing(f"`{each.text}` is no list")]


def _within(view: View, element: Any) -> tuple[View, Value]:
    """Return the view of one element; an undecided `each` gives an undecided `it`."""
    if element is None:
        return view, None
    undecided = None
    if not isinstance(element, tuple):
        undecided, element = element, (element, element)
    return View(event=view.event, claim=view.claim, is_final=view.is_final, lets=view.lets, element=element), undecided
