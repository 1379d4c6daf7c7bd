"""What a function of the language is: one entry of the table in `functions.py`.

`run` takes decided values of the kinds it names and gives a value, or raises `ValueError` with a sentence fragment
where the answer is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from outstep.expr.values import Duration, Maybe, Moment, Value, word

Kind = frozenset[type]

TEXT: Kind = frozenset({str})
NUMBER: Kind = frozenset({int, Decimal})
INT: Kind = frozenset({int})
BOOL: Kind = frozenset({bool})
LIST: Kind = frozenset({list})
OBJECT: Kind = frozenset({dict})
MOMENT: Kind = frozenset({Moment})
DURATION: Kind = frozenset({Duration})
MAYBE: Kind = frozenset({Maybe})
ANY: Kind = frozenset({type(None), bool, int, Decimal, str, list, dict, Moment, Duration, Maybe})


class Function(Struct, frozen=True, kw_only=True):
    """A function or method of the language."""

    name: str
    usage: str
    """As shown to people: `text.split(separator)`."""
    takes: tuple[Kind, ...]
    """Kinds of the arguments; the target of a method is the first."""
    least: int
    """Number of arguments that must be there."""
    gives: Kind = ANY
    run: Callable[..., Value] | None = None
    """None when the surroundings answer: `known`."""
    style: Literal["global", "method", "both"] = "global"
    search: bool = False
    """Looks for something in its first argument: what is found in the visible part of a hidden text stays found."""
    shallow: bool = False
    """Does not read what is inside its arguments, so hidden parts inside stay where they are."""


def fit(function: Function, args: tuple[Value, ...] | list[Value]) -> None:
    """Refuse arguments of the wrong number or kind by `ValueError`."""
    if not function.least <= len(args) <= len(function.takes):
        raise ValueError(f"{len(args)} arguments do not fit `{function.usage}`")
    for kind, arg in zip(function.takes, args, strict=False):
        if type(arg) not in kind:
            raise ValueError(f"{word(arg)} does not fit `{function.usage}`")
