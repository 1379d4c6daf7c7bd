"""What every part of the evaluator leans on: steps, truth, and how undecided values combine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

from outstep.expr.nodes import Node
from outstep.expr.values import CutText, Hidden, Missing, TooCostly, Undecided, Value, word

CHARACTERS = 256
"""Characters that cost one step."""


class Env(Protocol):
    """The surroundings of an expression."""

    def lookup(self, name: str) -> Value:
        """Return the value of a free name; raises `KeyError` if nothing is bound to it."""
        ...

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        """Answer a function that the surroundings provide, or return `NotImplemented`."""
        ...


class _Absent:
    """Stands for a member that an object does not have, while conditions read on below it."""


ABSENT = _Absent()
UNDECIDED = (Missing, Hidden)
CONTAINERS = frozenset({list, dict})
_SIZED = frozenset({str, list})


class Core:
    """One evaluation: its surroundings, the variables of macros, and the steps that are left."""

    handlers: ClassVar[dict[type, Callable[[Any, Any], Value]]]

    def __init__(self, env: Env, absent_is_null: bool, limit: int) -> None:
        self.env = env
        self.absent_is_null = absent_is_null
        self.left = limit
        self.variables: dict[str, Value] = {}

    def value(self, node: Node) -> Value:
        """Evaluate a node; an absent member of a condition is null."""
        value = self.raw(node)
        return None if value is ABSENT else value

    def raw(self, node: Node) -> Value:
        """Evaluate a node; an absent member of a condition is `ABSENT`, so that what is below it is absent too."""
        self.left -= 1
        if self.left < 0:
            raise TooCostly("the expression takes too many steps")
        return self.handlers[type(node)](self, node)

    def truth(self, node: Node) -> Value:
        """Evaluate a node where a truth value is asked for: true, false, `Missing` or `Hidden`."""
        value = self.value(node)
        if value is True or value is False or type(value) in UNDECIDED:
            return value
        return Missing(f"{named(node)} is {word(value)}, no truth value")

    def spend(self, steps: int) -> None:
        """Take steps off what is left."""
        self.left -= steps
        if self.left < 0:
            raise TooCostly("the expression takes too many steps")

    def attempt(self, node: Node, function: Callable[..., Value], *args: Value) -> Value:
        """Call with decided values; a `ValueError` is a missing result."""
        try:
            result = function(*args)
        except (ValueError, Undecided) as error:
            return Missing(f"{named(node)}: {error}")
        if type(result) in _SIZED:
            self.spend(len(result) // CHARACTERS if type(result) is str else len(result))
        return result


def folded(truths: Iterable[Value], stop: bool) -> Value:
    """Fold truth values: `stop` wins, then hidden, then missing; order never matters."""
    unsure: Value = None
    for truth in truths:
        if truth is stop:
            return stop
        if (type(truth) is Hidden and type(unsure) is not Hidden) or (type(truth) is Missing and unsure is None):
            unsure = truth
    return unsure if type(unsure) in UNDECIDED else not stop


def first_undecided(values: list[Value]) -> Value:
    """Return the first hidden value, else the first missing one, else none."""
    missing: Value = None
    for value in values:
        if type(value) is Hidden:
            return value
        if type(value) is Missing and missing is None:
            missing = value
    return missing


def cost_of(value: Value, limit: int) -> int:
    """Return the steps that reading all of a value costs, counted no further than `limit`."""
    if type(value) is str or type(value) is CutText:
        return str.__len__(value) // CHARACTERS
    if type(value) not in CONTAINERS:
        return 0
    total = 0
    rest = [value]
    while rest and total <= limit:
        value = rest.pop()
        total += 1
        if type(value) is list:
            rest.extend(value)
        elif type(value) is dict:
            rest.extend(value.values())
        elif type(value) is str or type(value) is CutText:
            total += str.__len__(value) // CHARACTERS
    return total


def text_in(node: Node) -> str:
    """Return an expression on one line, cut, for a reason shown to people."""
    from outstep.expr.written import text_of

    text = " ".join(text_of(node).split())
    return text if len(text) <= 120 else text[:119] + "…"


def named(node: Node) -> str:
    """Return an expression in backquotes."""
    return f"`{text_in(node)}`"
