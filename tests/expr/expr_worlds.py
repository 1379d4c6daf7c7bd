"""Random expressions and the values they read, shared by the laws of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from outstep.expr.values import CutText, Hidden, Missing, Value, key_of

WORDS = ["", "a", "b", "ab", "a1", "Zz", "日本", "1", "true", "a.b", "😀"]


class Facts:
    """A fact with keys, as the engine would hand it in."""

    def __init__(self, entries: Mapping[Any, Value], hidden: bool = False) -> None:
        self._entries = {key_of(key): value for key, value in entries.items()}
        self._keys = list(entries)
        self._hidden = hidden

    def index(self, key: Value) -> Value:
        return self._entries.get(key_of(key), Hidden("a gap hides writers") if self._hidden else None)

    def holds(self, key: Value) -> bool | Hidden:
        return key_of(key) in self._entries or (Hidden("a gap hides writers") if self._hidden else False)

    def keys(self) -> list[Value] | Hidden:
        return Hidden("a gap hides writers") if self._hidden else self._keys

    @property
    def size(self) -> int | Hidden:
        return Hidden("a gap hides writers") if self._hidden else len(self._keys)


class World:
    """Names and their values."""

    def __init__(self, names: Mapping[str, Value]) -> None:
        self.names = names

    def lookup(self, name: str) -> Value:
        return self.names[name]

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        del name, args
        return NotImplemented


def state_of(value: Value) -> object:
    """Return something that can be compared: undecided values by kind, decided ones exactly, types kept."""
    if type(value) is Missing or type(value) is Hidden:
        return type(value)
    if type(value) is CutText:
        return ("cut", value.visible)
    if type(value) is list:
        return ["list", *map(state_of, value)]
    if type(value) is dict:
        return {name: state_of(item) for name, item in value.items()}
    if hasattr(value, "present"):
        return ("maybe", value.present, state_of(value.value))
    return (type(value), value)


decimals = st.decimals(min_value=-1000, max_value=1000, places=2, allow_nan=False, allow_infinity=False)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**63, -(2**70), 10**30]),
    st.sampled_from([Decimal(text) for text in ("0.0", "1.0", "-1.0", "0.5", "2.50", "1e3", "1E-7")]),
    st.sampled_from(WORDS),
)
_HIDDEN: list[Callable[[], Value]] = [
    lambda: Hidden("redacted"),
    lambda: CutText("ab"),
    lambda: Hidden("", "p1"),
    lambda: Hidden("", "p2"),
]
undecided = st.integers(0, len(_HIDDEN) - 1).map(lambda which: _HIDDEN[which]())  # such values refuse to be compared


def _containers(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(parts, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "id"]), parts, max_size=3)


clear_values = st.recursive(scalars, _containers, max_leaves=6)
values = st.recursive(scalars | undecided, _containers, max_leaves=6)


def worlds(kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Value]]:
    """Return surroundings with the names that `expressions` uses."""
    keys = st.dictionaries(st.sampled_from(["a", "b", "1"]), kinds, max_size=2)
    numbers = st.integers(-3, 3) | decimals
    return st.fixed_dictionaries(
        {
            "x": kinds,
            "y": st.fixed_dictionaries({}, optional={"a": numbers | kinds, "b": st.sampled_from(WORDS), "id": kinds}),
            "l": st.lists(kinds, max_size=4),
            "m": st.lists(numbers, max_size=3) | st.lists(kinds, max_size=3),
            "n": numbers,
            "s": st.sampled_from(WORDS) | kinds,
            "t": st.booleans(),
            "f": st.builds(Facts, keys, st.booleans()),
        }
    )


_LITERALS = [
    *("0", "1", "2", "-1", "1.0", "0.5", "2.50", "1e3", "true", "false", "null", '""', '"a"', '"ab"', '"1"', '"日本"'),
    *("[]", "[1, 2]", '["a", "b"]', "{}", '{"a": 1}', "{1: 2, true: 3}", "9223372036854775807", "timestamp(0)"),
    *('duration("1h30m")', 'timestamp("2024-02-29T12:30:45.5Z")'),
]
_METHODS = [
    *("size()", "trim()", "lowerAscii()", "upperAscii()", 'split("b")', 'split("")', "sum()", "min()", "max()"),
    *("first()", "last()", "sort()", "distinct()", "flatten()", 'join("-")', "reverse()", "charAt(1)", "substring(1)"),
    *('replace("a", "bb")', 'indexOf("b")', 'lastIndexOf("a")', 'matches("^a.?$")', "getFullYear()", "getHours()"),
    *("orValue(1)", "hasValue()", "value()"),
]
_CALLS = ["size", "int", "double", "string", "bool", "timestamp", "duration", "days"]
_OPERATORS = ["==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%", "&&", "||"]
_MACROS = ["all", "exists", "exists_one", "map", "filter"]


def _grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(["x", "y", "l", "s", "i", "f"])
    members = st.sampled_from(["a", "b", "id"])
    paths = st.builds(lambda name, fields: ".".join([name, *fields]), names, st.lists(members, min_size=1, max_size=3))
    return st.one_of(
        st.builds("({} {} {})".format, parts, st.sampled_from(_OPERATORS), parts),
        st.builds("({} {} {})".format, parts, st.sampled_from(["&&", "||", "==", "<"]), parts),
        st.builds("{}({})".format, st.sampled_from(["!", "-"]), parts),
        st.builds("({} ? {} : {})".format, parts, parts, parts),
        st.builds("{}.{}".format, parts, members),
        st.builds("{}.?{}".format, parts, members),
        st.builds("{}[{}]".format, parts, parts),
        st.builds("has({})".format, paths),
        paths,
        st.builds("f[{}]".format, parts),
        st.builds("{}.{}".format, parts, st.sampled_from(_METHODS)),
        st.builds("{}.{}({})".format, parts, st.sampled_from(["contains", "startsWith", "endsWith"]), parts),
        st.builds("{}({})".format, st.sampled_from(_CALLS), parts),
        st.builds("{}.{}(i, {})".format, parts, st.sampled_from(_MACROS), parts),
        st.builds("{}.{}(k, i, {})".format, parts, st.sampled_from(["all", "exists", "transformList"]), parts),
        st.builds("[{}, {}]".format, parts, parts),
        st.builds('{{"a": {}, "b": {}}}'.format, parts, parts),
    )


expressions = st.recursive(
    st.sampled_from(_LITERALS) | st.sampled_from(["x", "y", "l", "n", "s", "t", "f", "i", "x.a", "y.a", "y.id"]),
    _grown,
    max_leaves=8,
)
"""Texts of expressions over the names of `worlds`; `i` and `k` are bound in macros only."""


class Writer:
    """Writes expressions whose parts mostly fit.

    `t` is a truth value, `n` a number, `s` text, `m` a list of numbers, `y` an object with a number `a` and a text `b`.
    """

    def __init__(self, random: Random, decimals: bool) -> None:
        self._random = random
        self._decimals = decimals
        self._variables: list[str] = []

    def any(self, depth: int) -> str:
        return self._random.choice([self.truth, self.truth, self.number, self.text, self.list])(depth)

    def _pick(self, leaves: str, depth: int, *makers: Callable[[], str]) -> str:
        if depth <= 0 or self._random.random() < 0.15:
            names = leaves.split(" ")
            return self._random.choice([*names, *self._variables] if self._random.random() < 0.3 else names)
        return self._random.choice(makers)()

    def _one_of(self, words: str) -> str:
        return self._random.choice(words.split(" "))

    def _over(self, depth: int, macro: str, body: Callable[[int], str]) -> str:
        target = self.list(depth)
        self._variables.append("ijk"[len(self._variables) % 3])
        text = f"{target}.{macro}({self._variables[-1]}, {body(depth)})"
        self._variables.pop()
        return text

    def number(self, depth: int) -> str:
        d = depth - 1
        makers = [
            lambda: f"({self.number(d)} {self._one_of('+ - *' if self._decimals else '+ - * / %')} {self.number(d)})",
            lambda: f"-({self.number(d)})",
            lambda: f"({self.truth(d)} ? {self.number(d)} : {self.number(d)})",
            lambda: f"{self._one_of('y x')}.?{self._one_of('a zz')}.orValue({self.number(d)})",
        ]
        if not self._decimals:
            makers += [
                lambda: f"size({self._random.choice([self.text, self.list])(d)})",
                lambda: f"{self.text(d)}.{self._one_of('indexOf lastIndexOf')}({self.text(d)})",
                lambda: f"{self.list(d)}[{self.number(d)}]",
                lambda: f"int({self._random.choice([self.number(d), 'true', 'string(' + self.number(d) + ')'])})",
            ]
        leaves = "0.5 1.0 -2.0 0.25 n n y.a m[0]" if self._decimals else "0 1 -3 7 9223372036854775807 n n y.a m[0] x"
        return self._pick(leaves, depth, *makers)

    def text(self, depth: int) -> str:
        d = depth - 1
        makers = [
            lambda: f"({self.text(d)} + {self.text(d)})",
            lambda: f"{self.text(d)}.replace({self.text(d)}, {self.text(d)})",
            lambda: f"{self.text(d)}.{self._one_of('trim lowerAscii upperAscii reverse')}()",
            lambda: f"({self.truth(d)} ? {self.text(d)} : {self.text(d)})",
            lambda: f"{self.text(d)}.split({self.text(d)}).join({self.text(d)})",
            lambda: f"string({self._random.choice([self.truth, self.text])(d)})",
        ]
        if not self._decimals:
            makers += [
                lambda: f"{self.text(d)}.substring({self.number(d)})",
                lambda: f"{self.text(d)}.charAt({self.number(d)})",
                lambda: f"string({self.number(d)})",
            ]
        return self._pick('"" "a" "ab" "日本" s s y.b x', depth, *makers)

    def truth(self, depth: int) -> str:
        d = depth - 1
        orders = "< <= > >= == !="
        return self._pick(
            "true false t t x has(y.a) has(y.zz)",
            depth,
            lambda: f"({self.number(d)} {self._one_of(orders)} {self.number(d)})",
            lambda: f"({self.text(d)} {self._one_of(orders)} {self.text(d)})",
            lambda: f"({self.truth(d)} {self._one_of('&& || && || == <')} {self.truth(d)})",
            lambda: f"!{self.truth(d)}",
            lambda: f"({self.any(d)} {self._one_of('== !=')} {self.any(d)})",
            lambda: f"{self.text(d)}.{self._one_of('contains startsWith endsWith')}({self.text(d)})",
            lambda: f'{self.text(d)}.matches("^a|b.$")',
            lambda: f"({self._random.choice([self.number, self.text])(d)} in {self.list(d)})",
            lambda: f"({self.text(d)} in {self._one_of('y x')})",
            lambda: self._over(d, self._one_of("all exists exists_one"), self.truth),
        )

    def list(self, depth: int) -> str:
        d = depth - 1
        return self._pick(
            '[] m m [1,2] ["a","ab"] [m,m]',
            depth,
            lambda: f"[{self.number(d)}, {self.number(d)}]",
            lambda: f"({self.list(d)} + {self.list(d)})",
            lambda: self._over(d, "map", self.any),
            lambda: self._over(d, "filter", self.truth),
        )


def typed_expressions(decimals: bool = False) -> st.SearchStrategy[str]:
    """Return expressions whose parts mostly fit."""
    return st.integers(0, 2**48).map(lambda seed: Writer(Random(seed), decimals).any(1 + seed % 5))
