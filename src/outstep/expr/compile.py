"""An expression to one Python expression.

The law: what compiled code gives is what the evaluator gives; where it cannot, it raises. So `&&` may short-circuit:
a missing left side raises, and the evaluator finds out whether the right side is false.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from outstep.expr import functions
from outstep.expr.function import BOOL
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
    names_of,
    walk,
)
from outstep.expr.runtime import helper
from outstep.expr.values import NOTHING, Absent

Bind = Callable[[Node], str | None]
"""Gives the engine's own code for a node: an expression that gives its value (perhaps undecided) or raises."""

MAX_BRACKETS = 60
"""Brackets inside each other; Python itself allows 200, and the code is put inside other code."""

# What the code of a node can give besides raising: a truth value only, a decided value, an optional value, anything.
_TRUTH, _VALUE, _MAYBE, _ANY, _PLAIN = "truth", "value", "maybe", "any", "plain"
_Code = tuple[str, str]

_OPERATORS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "%": "remainder",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "in": "within",
}
_ARITHMETIC = frozenset("+-*/%")


class Constants:
    """What generated code refers to by name, for the namespace in which it runs."""

    def __init__(self, prefix: str = "k") -> None:
        """`prefix` begins the names of constants."""
        self.namespace: dict[str, Any] = {}
        self._prefix = prefix
        self._names: dict[Any, str] = {}

    def ref(self, value: Any) -> str:
        """Return a name for a value; equal constants share one."""
        if isinstance(value, frozenset):
            key: Any = (frozenset, *sorted(value))
        elif isinstance(value, str | int | Decimal):
            key = (type(value), repr(value))
        else:
            key = (type(value), id(value))
        if key not in self._names:
            name = f"{self._prefix}{len(self._names)}"
            self._names[key] = name
            self.namespace[name] = value
        return self._names[key]

    def use(self, name: str) -> str:
        """Return the name of a helper of `runtime`."""
        full = f"cel_{name}"
        if full not in self.namespace:
            self.namespace[full] = helper(name)
        return full


def compile_value(node: Node, bind: Bind, pool: Constants, absent: Absent = "missing", *, plain: bool = False) -> str:
    """Return a Python expression that gives the value of an expression or raises an ordinary exception.

    `plain` promises that bound code never gives an undecided value, nor one that holds any.
    """
    return _guarded(_Compiler(bind, pool, absent == "null", plain).value(node), pool)


def compile_truth(node: Node, bind: Bind, pool: Constants, absent: Absent = "missing", *, plain: bool = False) -> str:
    """Return a Python expression that gives True or False, or raises an ordinary exception; `plain` as above."""
    return _guarded(_Compiler(bind, pool, absent == "null", plain).truth(node), pool)


def compile_proof(node: Node, bind: Bind, pool: Constants, *, plain: bool = False) -> str:
    """Return a Python expression that gives something true only where an expression is true.

    Where it gives anything else or raises, nothing is said: that makes it simpler than `compile_truth`. Absent members
    are missing; `plain` as above.
    """
    return _guarded(_Compiler(bind, pool, False, plain).proof(node), pool)


def _guarded(code: str, pool: Constants) -> str:
    depth = deepest = 0
    for char in code:
        if char in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]}":
            depth -= 1
    return code if deepest <= MAX_BRACKETS else f"{pool.use('give_up')}()"


class _Compiler:
    def __init__(self, bind: Bind, pool: Constants, absent_is_null: bool, plain: bool) -> None:
        self._bind = bind
        self._bound = _PLAIN if plain else _ANY
        self._pool = pool
        self._absent_is_null = absent_is_null
        self._variables: dict[str, str] = {}
        self._count = 0
        self._meter = ""

    def value(self, node: Node) -> str:
        """Return code that gives a decided value or raises."""
        code, gives = self._code(node)
        return self._use("settled", code) if gives == _ANY else code

    def truth(self, node: Node) -> str:
        """Return code that gives True or False or raises."""
        code, gives = self._code(node)
        return code if gives == _TRUTH else self._use("truth", code)

    def proof(self, node: Node) -> str:
        """Return code that gives something true only if the node is true."""
        if isinstance(node, And):
            return " and ".join(map(self.proof, node.terms))
        if isinstance(node, Literal):
            return self.truth(node)
        code, gives = self._code(node)
        return code if gives == _TRUTH else f"{code} is True"

    def _any(self, node: Node) -> str:
        return self._code(node)[0]

    def _code(self, node: Node) -> _Code:
        if not self._variables or self._variables.keys().isdisjoint(names_of(node)):
            bound = self._bind(node)
            if bound is not None:
                return (bound if bound.isidentifier() else f"({bound})"), self._bound
        return _EMITTERS[type(node)](self, node)

    def _use(self, name: str, *args: str) -> str:
        return f"{self._pool.use(name)}({', '.join(args)})"

    def _metered(self, name: str, *args: str) -> str:
        """Call a helper whose cost depends on its arguments."""
        if not self._meter:
            return self._use(name, *args)
        return self._use("metered", self._meter, self._pool.use(name), *args)

    def _give_up(self) -> _Code:
        return self._use("give_up"), _VALUE

    def _literal(self, node: Literal) -> _Code:
        value = node.constant
        if type(value) is bool:
            return repr(value), _TRUTH
        if type(value) is str and not (len(value) <= 60 and value.isprintable() and value.isascii()):
            return self._pool.ref(value), _VALUE
        if type(value) is Decimal or node.number:
            return self._pool.ref(value), _VALUE
        return (f"({value})" if type(value) is int and value < 0 else repr(value)), _VALUE

    def _name(self, node: Name) -> _Code:
        variable = self._variables.get(node.name)
        return self._give_up() if variable is None else (variable, _ANY)

    def _select(self, node: Select) -> _Code:
        base, gives = self._code(node.operand)
        field = repr(node.field)
        if node.optional or gives == _MAYBE:
            return self._use("maybe", base, field), _MAYBE
        if not self._absent_is_null:
            if gives in (_ANY, _PLAIN):
                return f"{base}[{field}]", gives
            return self._use("index", base, field), _ANY
        if not isinstance(node.operand, Select):
            return self._use("get", base, field), _ANY
        fields = [field]
        operand: Node = node.operand
        while isinstance(operand, Select) and not operand.optional and self._unbound(operand):
            fields.append(repr(operand.field))
            operand = operand.operand
        return self._use("path", self._any(operand), *reversed(fields)), _ANY

    def _unbound(self, node: Node) -> bool:
        free = self._variables.keys().isdisjoint(names_of(node))
        return not free or self._bind(node) is None

    def _index(self, node: Index) -> _Code:
        base, gives = self._code(node.operand)
        if node.optional or gives == _MAYBE:
            return self._give_up()
        if self._absent_is_null:
            return self._use("index_or_null", base, self._any(node.index)), _ANY
        if gives in (_ANY, _PLAIN) and isinstance(node.index, Literal) and type(node.index.value) is str:
            return f"{base}[{self._any(node.index)}]", gives
        return self._use("index", base, self._any(node.index)), _ANY

    def _has(self, node: Has) -> _Code:
        fields: list[str] = []
        at: Node = node.select
        steps: list[tuple[Node, int]] = []
        while isinstance(at, Select) and not at.optional:
            fields.append(repr(at.field))
            at = at.operand
            steps.append((at, len(fields)))
        for base, count in reversed(steps):
            if not isinstance(base, Name) or base.name in self._variables or not self._unbound(base):
                return self._use("has", self._any(base), *reversed(fields[:count])), _TRUTH
        return self._give_up()

    def _and(self, node: And) -> _Code:
        return f"({' and '.join(map(self.truth, node.terms))})", _TRUTH

    def _or(self, node: Or) -> _Code:
        return f"({' or '.join(map(self.truth, node.terms))})", _TRUTH

    def _cond(self, node: Cond) -> _Code:
        condition = self.truth(node.condition)
        then, gives = self._code(node.then)
        other, other_gives = self._code(node.other)
        if gives != other_gives:
            gives = _ANY if _ANY in (gives, other_gives) or _MAYBE in (gives, other_gives) else _VALUE
        return f"({then} if {condition} else {other})", gives

    def _unary(self, node: Unary) -> _Code:
        if node.op == "!":
            return f"(not {self.truth(node.operand)})", _TRUTH
        return self._use("negate", self._any(node.operand)), _VALUE

    def _binary(self, node: Binary) -> _Code:
        if node.op in ("==", "!="):
            return self._equality(node), _TRUTH
        name = _OPERATORS[node.op]
        left = self._any(node.left)
        if node.op == "in" and isinstance(node.right, ListOf):
            texts = [item.value for item in node.right.items if isinstance(item, Literal)]
            if len(texts) == len(node.right.items) and all(type(text) is str for text in texts):
                return f"({left} in {self._pool.ref(frozenset(texts))})", _TRUTH
        right = self._any(node.right)
        if node.op in _ARITHMETIC:
            return self._metered(name, left, right), _VALUE
        return (self._metered if node.op == "in" else self._use)(name, left, right), _TRUTH

    def _equality(self, node: Binary) -> str:
        left, right = self._any(node.left), self._any(node.right)
        for side in (node.left, node.right):
            if isinstance(side, Literal) and _compares_alike(side):
                return f"({left} {node.op} {right})"
        return self._metered(_OPERATORS[node.op], left, right)

    def _list(self, node: ListOf) -> _Code:
        if node.optional:
            return self._give_up()
        return f"[{', '.join(map(self.value, node.items))}]", _VALUE

    def _map(self, node: MapOf) -> _Code:
        names = [key.value for key, _ in node.entries if isinstance(key, Literal)]
        plain = len(set(names)) == len(node.entries) and all(type(name) is str for name in names)
        if node.optional or not plain:
            return self._give_up()
        entries = (f"{self._any(key)}: {self.value(value)}" for key, value in node.entries)
        return "{" + ", ".join(entries) + "}", _VALUE

    def _call(self, node: Call) -> _Code:
        if node.target is not None and node.function in ("orValue", "hasValue"):
            name = "or_value" if node.function == "orValue" else "has_value"
            args = [self._any(node.target), *map(self._any, node.args)]
            return self._use(name, *args), _TRUTH if name == "has_value" else _VALUE
        if node.function == "optional.none":
            return self._pool.ref(NOTHING), _MAYBE
        if node.function == "optional.of":
            return self._use("maybe_of", self._any(node.args[0])), _MAYBE
        function = functions.TABLE.get(node.function)
        parts = node.args if node.target is None else (node.target, *node.args)
        if function is None or function.run is None or not function.least <= len(parts) <= len(function.takes):
            return self._give_up()
        gives = _TRUTH if function.gives == BOOL else _VALUE
        if node.function == "matches" and len(parts) == 2:
            pattern = self._pattern(parts[1])
            if pattern is not None:
                return self._metered("search", pattern, self._any(parts[0])), gives
        return self._metered(f"call_{node.function}", *map(self._any, parts)), gives

    def _pattern(self, node: Node) -> str | None:
        if not isinstance(node, Literal) or type(node.value) is not str:
            return None
        from outstep.expr.strings import compiled

        try:
            return self._pool.ref(compiled(node.value))
        except ValueError:
            return None

    def _macro(self, node: Macro) -> _Code:
        if node.name not in _LOOPS:
            return self._give_up()
        target = self._any(node.target)
        outermost = not self._meter
        if outermost:
            self._count += 1
            self._meter = f"cel_m{self._count}"
        meter = self._meter
        code = self._loop(node, target)
        if not outermost:
            return code
        self._meter = ""
        return f"(lambda {meter}: {code[0]})({self._use('meter')})", code[1]

    def _loop(self, node: Macro, target: str) -> _Code:
        kept = dict(self._variables)
        variables: list[str] = []
        for name in node.variables:
            self._count += 1
            variables.append(f"cel_v{self._count}")
            self._variables[name] = variables[-1]
        cost = 2 + sum(1 for part in node.body for _ in walk(part))
        among = f"for {', '.join(variables)} in " + self._use(
            "items" if len(variables) == 1 else "pairs", target, self._meter, str(cost)
        )
        *conditions, last = node.body
        if node.name in ("all", "exists"):
            code = self._use("all" if node.name == "all" else "any", f"{self.truth(last)} {among}"), _TRUTH
        elif node.name == "exists_one":
            code = self._use("exists_one", f"[{self.truth(last)} {among}]"), _TRUTH
        elif node.name == "filter":
            code = f"[{self._use('settled', variables[0])} {among} if {self.truth(last)}]", _VALUE
        else:
            keep = f" if {self.truth(conditions[0])}" if conditions else ""
            code = f"[{self.value(last)} {among}{keep}]", _VALUE
        self._variables = kept
        return code


_LOOPS = frozenset({"all", "exists", "exists_one", "filter", "map", "transformList"})


def _compares_alike(node: Literal) -> bool:
    """Return whether Python's `==` against this constant is CEL's: not for truth values, nor 0 and 1, equal to them."""
    value = node.constant
    return value is None or type(value) is str or (type(value) in (int, Decimal) and value not in (0, 1))


_EMITTERS: dict[type, Callable[[_Compiler, Any], _Code]] = {
    Literal: _Compiler._literal,
    Name: _Compiler._name,
    Select: _Compiler._select,
    Index: _Compiler._index,
    Has: _Compiler._has,
    Call: _Compiler._call,
    ListOf: _Compiler._list,
    MapOf: _Compiler._map,
    Unary: _Compiler._unary,
    Binary: _Compiler._binary,
    And: _Compiler._and,
    Or: _Compiler._or,
    Cond: _Compiler._cond,
    Macro: _Compiler._macro,
}
