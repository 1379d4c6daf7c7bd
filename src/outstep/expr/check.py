"""What is wrong with an expression before any event is read: names, functions, patterns, types that never fit.

All mistakes at once, each with its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import product
from typing import Any

from msgspec import Struct

from outstep.errors import suggestion
from outstep.expr import functions
from outstep.expr.function import (
    ANY,
    BOOL,
    DURATION,
    INT,
    LIST,
    MAYBE,
    MOMENT,
    NUMBER,
    OBJECT,
    TEXT,
    Function,
    Kind,
)
from outstep.expr.lex import ExprError
from outstep.expr.nodes import (
    And,
    Binary,
    Call,
    Cond,
    Has,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Name,
    Node,
    Or,
    Select,
    Unary,
    children,
)
from outstep.expr.parse import MACROS
from outstep.expr.standard import OPTIONAL_MAKERS, OPTIONAL_METHODS
from outstep.expr.times import offset
from outstep.expr.values import Duration, Maybe, Missing, Moment, TooCostly, Value

_SHOWN_NAMES = 12
_STEPS = 20_000


class Scope(Struct, frozen=True):
    """The names of one place in a contract."""

    names: tuple[str, ...]
    """What is bound there."""
    elsewhere: Mapping[str, str] = {}
    """Names of the language that are not bound there, and where they are: `{"data": "a result"}`."""
    kinds: Mapping[tuple[str, ...], Kind] = {}
    """What is known of values, by their path: `{("args", "amountCents"): INT}`."""


def check(node: Node, scope: Scope, text: str = "") -> list[ExprError]:
    """Return every mistake of an expression, in the order of its text.

    With the text at hand, a mistake inside a pattern is shown at its own character.
    """
    checker = _Checker(scope, text)
    checker.kind(node)
    return sorted(checker.errors, key=lambda error: (error.at, error.end, error.code, error.sentence))


_ARITHMETIC: dict[str, dict[tuple[type, type], Kind]] = {
    "+": {(str, str): TEXT, (list, list): LIST, (Duration, Duration): DURATION},
    "-": {(Duration, Duration): DURATION, (Moment, Duration): MOMENT, (Moment, Moment): DURATION},
    "*": {},
    "/": {},
    "%": {(int, int): INT},
}
_ARITHMETIC["+"] |= {(Moment, Duration): MOMENT, (Duration, Moment): MOMENT}
for _op in "+-*/":
    _ARITHMETIC[_op] |= {(int, int): INT, (int, Decimal): NUMBER, (Decimal, int): NUMBER, (Decimal, Decimal): NUMBER}
_ORDERED = {(kind, kind) for kind in (str, bool, Moment, Duration)} | set(product(NUMBER, NUMBER))
_BOXES = LIST | OBJECT
_WORDS: dict[type, str] = {
    type(None): "null",
    bool: "a truth value",
    int: "a number",
    Decimal: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
    Moment: "a moment",
    Duration: "a duration",
    Maybe: "an optional value",
}


def _worded(kind: Kind) -> str:
    """Return a kind in words, in one order."""
    return " or ".join(dict.fromkeys(word for one, word in _WORDS.items() if one in kind))


class _Nothing:
    """Surroundings without names."""

    def lookup(self, name: str) -> Value:
        raise KeyError(name)

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        del name, args
        return NotImplemented


class _Checker:
    """Finds the kind of every node, and what can never be."""

    def __init__(self, scope: Scope, text: str) -> None:
        self.errors: list[ExprError] = []
        self._text = text
        self._scope = scope
        self._bound: dict[str, int] = {}

    def kind(self, node: Node) -> Kind:
        """Return the kinds of value that a node may give."""
        kind = _KINDS[type(node)](self, node)
        return self._known(node, kind)

    def _known(self, node: Node, kind: Kind) -> Kind:
        known = self._settled(node)
        return kind if known is None else known

    def _settled(self, node: Node) -> Kind | None:
        """Return what the scope says of the value at a path, or none."""
        path: list[str] = []
        while isinstance(node, Select) and not node.optional:
            path.insert(0, node.field)
            node = node.operand
        if isinstance(node, Name) and node.name not in self._bound:
            return self._scope.kinds.get((node.name, *path))
        return None

    def _refuse(self, sentence: str, node: Node, help: str = "", code: str = "type") -> None:
        self.errors.append(ExprError(sentence, node.at, node.end, help, code))

    def _expect(self, node: Node, kind: Kind, sentence: str, help: str = "") -> Kind:
        """Check a part, and refuse it when it can never be of a kind."""
        found = self.kind(node)
        if found and found.isdisjoint(kind):
            self._refuse(f"{sentence}, and this is {_worded(found)}", node, help)
        return found

    def _literal(self, node: Literal) -> Kind:
        return frozenset({type(node.constant)})

    def _name(self, node: Name) -> Kind:
        scope = self._scope
        if node.name in self._bound or node.name in scope.names:
            return ANY
        if node.name in scope.elsewhere:
            sentence = f"`{node.name}` is not bound here: it belongs to {scope.elsewhere[node.name]}"
            self._refuse(sentence, node, self._bound_names(), "not-bound-here")
        else:
            help = suggestion(node.name, (*scope.names, *self._bound)) or self._bound_names()
            if node.name in functions.TABLE:
                help = f"`{node.name}` is a function: `{functions.TABLE[node.name].usage}`"
            self._refuse(f"nothing is called `{node.name}` here", node, help, "unknown-name")
        return ANY

    def _bound_names(self) -> str:
        names = sorted({*self._scope.names, *self._bound})
        return f"bound here: {', '.join(f'`{name}`' for name in names)}" if 0 < len(names) <= _SHOWN_NAMES else ""

    def _select(self, node: Select) -> Kind:
        found = self._expect(node.operand, OBJECT | MAYBE, f"`.{node.field}` is read from an object")
        return MAYBE if node.optional or found == MAYBE else ANY

    def _index(self, node: Index) -> Kind:
        found = self._expect(node.operand, _BOXES | MAYBE, "`[…]` reads from a list or object")
        self.kind(node.index)
        self._constant(node)
        return MAYBE if node.optional or found == MAYBE else ANY

    def _has(self, node: Has) -> Kind:
        self.kind(node.select)
        return BOOL

    def _list(self, node: ListOf) -> Kind:
        for place, item in enumerate(node.items):
            if place in node.optional:
                self._expect(item, MAYBE, "`?` stands before an optional value")
            else:
                self.kind(item)
        return LIST

    def _map(self, node: MapOf) -> Kind:
        for place, (key, value) in enumerate(node.entries):
            self._expect(key, TEXT | INT | BOOL, "a key is text, an int or a truth value")
            if place in node.optional:
                self._expect(value, MAYBE, "`?` stands before an optional value")
            else:
                self.kind(value)
        seen: set[tuple[type, object]] = set()
        for key, _ in node.entries:
            if isinstance(key, Literal):
                mark = (type(key.constant), key.constant)
                if mark in seen:
                    self._refuse("the same key stands before", key)
                seen.add(mark)
        return OBJECT

    def _logic(self, node: And | Or) -> Kind:
        for term in node.terms:
            self._expect(term, BOOL, f"`{'&&' if isinstance(node, And) else '||'}` joins truth values")
        return BOOL

    def _unary(self, node: Unary) -> Kind:
        if node.op == "!":
            self._expect(node.operand, BOOL, "`!` turns a truth value round")
            return BOOL
        found = self._expect(node.operand, NUMBER, "`-` needs a number") & NUMBER
        return found or NUMBER

    def _cond(self, node: Cond) -> Kind:
        self._expect(node.condition, BOOL, "a condition is a truth value")
        return self.kind(node.then) | self.kind(node.other)

    def _binary(self, node: Binary) -> Kind:
        left, right = self.kind(node.left), self.kind(node.right)
        if node.op in ("==", "!="):
            self._refuse_unequal(node, left, right)
            return BOOL
        if node.op == "in":
            if right and right.isdisjoint(_BOXES):
                self._refuse(f"`in` looks into a list, an object or a fact with keys, not into {_worded(right)}", node)
            return BOOL
        pairs = list(product(left, right))
        if node.op not in _ARITHMETIC:
            if pairs and _ORDERED.isdisjoint(pairs):
                self._refuse_operator(node, left, right)
            return BOOL
        table = _ARITHMETIC[node.op]
        gives: Kind = frozenset().union(*(table.get(pair, frozenset()) for pair in pairs))
        if pairs and not gives:
            self._refuse_operator(node, left, right)
            return ANY
        if node.op in "/%" and isinstance(node.right, Literal) and node.right.constant == 0:
            self._refuse("division by zero", node)
        return gives or NUMBER

    def _refuse_unequal(self, node: Binary, left: Kind, right: Kind) -> None:
        """Refuse to compare what a schema gives another type; null is compared to ask whether a value is there."""
        if self._settled(node.left) is None and self._settled(node.right) is None:
            return  # it has an answer, and who writes `1 == "a"` sees what is compared
        sorts = [frozenset(Decimal if one is int else one for one in kind) for kind in (left, right)]
        if sorts[0] and sorts[1] and sorts[0].isdisjoint(sorts[1]) and type(None) not in sorts[0] | sorts[1]:
            answer = "never" if node.op == "==" else "always"
            sentence = f"`{node.op}` between {_worded(left)} and {_worded(right)} is {answer} true"
            self._refuse(
                sentence, node, "text becomes a number with `int(…)` or `number(…)`, a number text with `string(…)`"
            )

    def _refuse_operator(self, node: Binary, left: Kind, right: Kind) -> None:
        if ANY in (left, right):
            sides = f"with {_worded(right if left == ANY else left)}"
        else:
            sides = f"between {_worded(left)} and {_worded(right)}"
        self._refuse(f"`{node.op}` {sides} has no answer", node, "`%` is for ints" if node.op == "%" else "")

    def _macro(self, node: Macro) -> Kind:
        optional = node.name in ("optMap", "optFlatMap")
        wanted = MAYBE if optional else _BOXES
        self._expect(node.target, wanted, f"`{node.name}` goes over {_worded(wanted)}")
        for name in node.variables:
            self._bound[name] = self._bound.get(name, 0) + 1
        tests = node.body[:-1] if node.name in ("map", "transformList", "transformMap") else node.body
        for part in node.body:
            if not optional and part in tests:
                self._expect(part, BOOL, f"`{node.name}` asks for a truth value")
            else:
                self.kind(part)
        for name in node.variables:
            self._bound[name] -= 1
            if not self._bound[name]:
                del self._bound[name]
        return _MACRO_KINDS.get(node.name, BOOL)

    def _call(self, node: Call) -> Kind:
        if node.function in OPTIONAL_MAKERS or (node.target is not None and node.function in OPTIONAL_METHODS):
            return self._optional_call(node)
        function = functions.TABLE.get(node.function)
        if function is None:
            self._unknown_function(node)
            return ANY
        if not self._called_rightly(node, function):
            return function.gives
        parts = node.args if node.target is None else (node.target, *node.args)
        for kind, part in zip(function.takes, parts, strict=False):
            self._expect(part, kind, f"`{function.usage}` takes {_worded(kind)} here")
        if not self._bad_pattern(node, parts) and not self._bad_offset(node):
            self._constant(node)
        return function.gives

    def _optional_call(self, node: Call) -> Kind:
        wanted = OPTIONAL_MAKERS.get(node.function, OPTIONAL_METHODS.get(node.function, 0))
        if len(node.args) != wanted:
            self._refuse(f"`{node.function}` takes {wanted} arguments, not {len(node.args)}", node, code="expression")
        if node.target is not None:
            self._expect(node.target, MAYBE, f"`{node.function}` is asked of an optional value", "write `a.?b`")
        for arg in node.args:
            if node.function == "or":
                self._expect(arg, MAYBE, "`or` takes an optional value", "or write `orValue`")
            else:
                self.kind(arg)
        if node.function == "hasValue":
            return BOOL
        return ANY if node.function in ("value", "orValue") else MAYBE

    def _unknown_function(self, node: Call) -> None:
        name = node.function
        target = node.target
        if isinstance(target, Name) and target.name not in (*self._scope.names, *self._bound):
            name = f"{target.name}.{name}"
        if name not in MACROS:
            for part in node.args if "." in name else children(node):
                self.kind(part)
        if name in functions.REFUSED:
            self._refuse(f"`{name}` is not offered: {functions.REFUSED[name]}", node, code="expression")
            return
        if name in MACROS:
            help = f"write `list.{name}(x, …)`"
        else:
            help = suggestion(name, (*functions.TABLE, *MACROS, *OPTIONAL_METHODS, "has"))
        self._refuse(f"there is no function `{name}`", node, help, "expression")

    def _called_rightly(self, node: Call, function: Function) -> bool:
        """Check the form of a call, and the parts of a wrong one."""
        count = len(node.args) + (node.target is not None)
        fits = function.least <= count <= len(function.takes)
        style = "global" if node.target is None else "method"
        if fits and function.style in (style, "both"):
            return True
        for part in children(node):
            self.kind(part)
        if function.style not in (style, "both"):
            other = "a function" if function.style == "global" else "asked of a value"
            self._refuse(f"`{node.function}` is {other}", node, f"write `{function.usage}`", "expression")
        else:
            sentence = f"`{node.function}` does not take {len(node.args)} arguments"
            self._refuse(sentence, node, f"write `{function.usage}`", "expression")
        return False

    def _bad_pattern(self, node: Call, parts: Iterable[Node]) -> bool:
        *_, last = parts
        if node.function != "matches" or not isinstance(last, Literal) or not isinstance(last.value, str):
            return False
        from outstep.expr.patterns import PatternError, compile_pattern

        try:
            compile_pattern(last.value)
        except PatternError as error:
            at, end = self._inside(last, last.value, error.position)
            self.errors.append(ExprError(error.sentence, at, end, "patterns are RE2", "regex"))
            return True
        return False

    def _bad_offset(self, node: Call) -> bool:
        zone = node.args[0] if node.args and node.function.startswith("get") else None
        if not isinstance(zone, Literal) or not isinstance(zone.value, str):
            return False
        try:
            offset(zone.value)
        except ValueError as error:
            self._refuse(str(error), zone)
            return True
        return False

    def _inside(self, node: Literal, value: str, position: int | None) -> tuple[int, int]:
        """Return the place of a character of a text literal, or of all of it where the two cannot be matched."""
        begin = self._text.find(value, node.at, node.end)
        if position is None or position >= len(value) or begin < 0:
            return node.at, node.end
        return begin + position, begin + len(value)

    def _constant(self, node: Call | Index) -> None:
        """Refuse a call of constants that can give nothing."""
        if not all(isinstance(part, Literal) for part in children(node)):
            return
        from outstep.expr.evaluate import evaluate

        if self.errors and self.errors[-1].at >= node.at and self.errors[-1].end <= node.end:
            return  # its parts were refused
        if isinstance(node, Call) and functions.TABLE[node.function].run is None:
            return
        try:
            result = evaluate(node, _Nothing(), limit=_STEPS)
        except TooCostly:
            return
        if isinstance(result, Missing):
            self._refuse(f"this can never have a value: {result.reason}", node)


_MACRO_KINDS = {
    "map": LIST,
    "filter": LIST,
    "transformList": LIST,
    "transformMap": OBJECT,
    "optMap": MAYBE,
    "optFlatMap": MAYBE,
}
_KINDS: dict[type, Callable[[_Checker, Any], Kind]] = {
    Literal: _Checker._literal,
    Name: _Checker._name,
    Select: _Checker._select,
    Index: _Checker._index,
    Has: _Checker._has,
    Call: _Checker._call,
    ListOf: _Checker._list,
    MapOf: _Checker._map,
    Unary: _Checker._unary,
    Binary: _Checker._binary,
    And: _Checker._logic,
    Or: _Checker._logic,
    Cond: _Checker._cond,
    Macro: _Checker._macro,
}
