"""What an expression can give: exact values, and the two that are none, `Missing` and `Hidden`.

A value is None, bool, int, Decimal, str, list, dict (both of values), `Moment`, `Duration`, `Maybe` or a `Lookup`.
The members of a dict are under their `key_of`. A `Hidden` may stand inside a list or dict, at any depth.
"""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Any, Literal, NoReturn, Protocol

from msgspec import Struct

Absent = Literal["missing", "null"]
"""What a member is that a readable object does not have: null in conditions and frames, missing elsewhere."""

Value = Any
"""Any value of the list above, `Missing` or `Hidden`."""


class Undecided(Exception):
    """A missing or hidden value was used where only a value will do."""


class TooCostly(Exception):
    """An expression went over its step limit: the fault `expr/too-costly`."""


class _NoValue:
    """Refuses every use, so that compiled code can never take it for a value."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def _refuse(self, *_: object) -> NoReturn:
        raise Undecided(self.reason)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __call__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __neg__ = __int__ = __index__ = __float__ = _refuse
    __hash__ = _refuse

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.reason!r})"


class Missing(_NoValue):
    """Nothing to read here (CEL: an error); `reason` is shown to people: "`args.orderId`: no such member"."""

    __slots__ = ()


class Hidden(_NoValue):
    """A value is there, but a gap or a redaction keeps it from us (CEL: unknown)."""

    __slots__ = ("is_something", "placeholder")

    def __init__(self, reason: str, placeholder: str = "", *, is_something: bool = False) -> None:
        """`placeholder` is the stable mark of a redaction: two equal ones stand for equal values.

        `is_something`: what it is cannot be seen, but it is not null.
        """
        super().__init__(reason)
        self.placeholder = placeholder
        self.is_something = is_something


class CutText(str):
    """The visible beginning of a text whose rest is hidden; compiled code cannot use one by accident."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise Undecided("the text is cut")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __contains__ = __getitem__ = __add__ = __iter__ = __len__ = _refuse
    __hash__ = _refuse

    @property
    def visible(self) -> str:
        """The part that can be seen, as plain text."""
        return str.__str__(self)


class Moment(Struct, frozen=True):
    """A point in time."""

    nanos: int
    """Nanoseconds since 1970-01-01T00:00:00Z."""


class Duration(Struct, frozen=True):
    """A length of time."""

    nanos: int


class Maybe(Struct, frozen=True):
    """An optional value: `args.?force`, `optional.of(1)`, `optional.none()`."""

    present: bool
    value: Any = None


NOTHING = Maybe(False)


class Lookup(Protocol):
    """A fact with keys, as one event may know it."""

    def index(self, key: Value) -> Value:
        """Return the value under a key: None when never recorded, `Missing` or `Hidden` as the fact says."""
        ...

    def holds(self, key: Value) -> bool | Hidden:
        """Return whether there was a writer of this key."""
        ...

    def keys(self) -> list[Value] | Hidden:
        """Return the keys, in the order in which they were first written."""
        ...

    @property
    def size(self) -> int | Hidden:
        """Number of keys."""
        ...


def is_lookup(value: object) -> bool:
    """Return whether a value is a fact with keys."""
    return type(value) not in _PLAIN and hasattr(type(value), "holds")


_PLAIN = frozenset({type(None), bool, int, Decimal, str, list, dict, Missing, Hidden, CutText, Moment, Duration, Maybe})
_NUMBERS = frozenset({int, Decimal})
_ORDERED = frozenset({bool, str, Moment, Duration})


def word(value: Value) -> str:
    """Return what kind of value this is, for sentences: `text`, `a number`, `null`, …."""
    kind = type(value)
    return _WORDS.get(kind) or ("a fact with keys" if is_lookup(value) else kind.__name__)


_WORDS = {
    type(None): "null",
    bool: "a truth value",
    int: "a number",
    Decimal: "a number",
    str: "text",
    CutText: "text",
    list: "a list",
    dict: "an object",
    Moment: "a moment",
    Duration: "a duration",
    Maybe: "an optional value",
    Missing: "missing",
    Hidden: "hidden",
}


def key_of(value: Value) -> Hashable:
    """Return what a value is under as a key: `1` and `1.0` are one key, `true` and `1` are two.

    Text and numbers stand for themselves. Raises `Undecided` for a value that is, or holds, a missing or hidden one.
    """
    kind = type(value)
    if isinstance(value, str | Decimal) or kind is int or value is None:
        if kind is CutText:
            raise Undecided("the text is cut")
        key: Hashable = value
        return key
    if kind is bool:
        return ("bool", value)
    if kind is list:
        return ("list", *map(key_of, value))
    if kind is dict:
        return ("map", frozenset((name, key_of(item)) for name, item in value.items()))
    if kind is Moment or kind is Duration:
        return (kind.__name__, value.nanos)
    if kind is Maybe:
        return ("maybe", value.present, key_of(value.value))
    raise Undecided(getattr(value, "reason", f"{word(value)} is no key"))


_TIMES: dict[str, type[Moment | Duration]] = {"Moment": Moment, "Duration": Duration}


def from_key(key: Hashable) -> Value:
    """Return the value that stands as a member name of a dict."""
    if type(key) is not tuple:
        return key
    kind, *parts = key
    if kind == "list":
        return [from_key(part) for part in parts]
    if kind == "map":
        return {name: from_key(item) for name, item in sorted(key[1], key=repr)}
    if kind == "maybe":
        return Maybe(parts[0], from_key(parts[1]))
    return _TIMES[kind](parts[0]) if kind in _TIMES else parts[0]


def equal(a: Value, b: Value) -> bool | Hidden:
    """Return whether two values are equal; hidden when a hidden part decides it."""
    kind = type(a)
    other = type(b)
    if kind is other and kind in _SCALARS:
        return bool(a == b)
    if kind is Hidden or other is Hidden:
        return _equal_hidden(a, b)
    if kind is CutText or other is CutText:
        return Hidden("the text is cut") if kind in _TEXTS and other in _TEXTS else False
    if kind in _NUMBERS and other in _NUMBERS:
        return bool(a == b)
    if kind is list and other is list:
        return len(a) == len(b) and _all_equal(zip(a, b, strict=True))
    if kind is Maybe and other is Maybe:
        return equal(a.value, b.value) if a.present and b.present else a.present is b.present
    if kind is dict and other is dict:
        return a.keys() == b.keys() and _all_equal((item, b[name]) for name, item in a.items())
    if kind is Missing or other is Missing:
        raise Undecided((a if kind is Missing else b).reason)
    if is_lookup(a) and other not in _SCALARS:
        return equal(entries_of(a), b)
    if is_lookup(b) and kind not in _SCALARS:
        return equal(a, entries_of(b))
    return False


_SCALARS = frozenset({str, int, bool, type(None), Decimal, Moment, Duration})
_TEXTS = frozenset({str, CutText, Hidden})


def _equal_hidden(a: Value, b: Value) -> bool | Hidden:
    if type(a) is Hidden and type(b) is Hidden and a.placeholder and b.placeholder:
        return a.placeholder == b.placeholder
    if (a is None and b.is_something) or (b is None and a.is_something):
        return False
    return a if type(a) is Hidden else b


def _all_equal(pairs: Any) -> bool | Hidden:
    unsure: Hidden | None = None
    for a, b in pairs:
        same = equal(a, b)
        if same is False:
            return False
        if same is not True and unsure is None:
            unsure = same
    return True if unsure is None else unsure


def compare(a: Value, b: Value) -> int | None:
    """Return -1, 0 or 1 for two values that have an order between them, else none."""
    kind = type(a)
    other = type(b)
    if (kind in _NUMBERS and other in _NUMBERS) or (kind is other and kind is str):
        return int(a > b) - int(a < b)
    if kind is other and kind in _ORDERED:
        if kind is not bool:
            a, b = a.nanos, b.nanos
        return int(a > b) - int(a < b)
    return None


def less(a: Value, b: Value) -> bool | Missing | Hidden:
    """Return whether a stands before b; missing across types, hidden beats missing."""
    for operand in (a, b):
        if type(operand) is Hidden:
            return operand
        if type(operand) is CutText:
            return Hidden("the text is cut")
    for operand in (a, b):
        if type(operand) is Missing:
            return operand
    order = compare(a, b)
    return Missing(f"no order between {word(a)} and {word(b)}") if order is None else order < 0


def entries_of(lookup: Lookup) -> dict[Hashable, Value] | Hidden:
    """Return a fact with keys as an object."""
    keys = lookup.keys()
    if isinstance(keys, Hidden):
        return keys
    return {key_of(key): lookup.index(key) for key in keys}


def hidden_within(value: Value) -> Hidden | None:
    """Return the first hidden part of a value, if there is one."""
    rest = [value]
    while rest:
        value = rest.pop()
        kind = type(value)
        if isinstance(value, Hidden):
            return value
        if kind is CutText:
            return Hidden("the text is cut")
        if kind is list:
            rest.extend(reversed(value))
        elif kind is dict:
            rest.extend(reversed(value.values()))
        elif kind is Maybe and value.present:
            rest.append(value.value)
    return None


def visible(value: Value) -> Value:
    """Return the value without its hidden parts: cut texts as far as they can be seen, null for what cannot."""
    kind = type(value)
    if kind is CutText:
        return value.visible
    if kind is Hidden:
        return None
    if kind is list:
        return [visible(item) for item in value]
    if kind is dict:
        return {name: visible(item) for name, item in value.items()}
    return value


def show(value: Value, limit: int = 80) -> str:
    """Return a value on one short line, as CEL would write it; never more than `limit` characters."""
    from outstep.expr.written import shown  # only on the way to a message

    return shown(value, limit)
