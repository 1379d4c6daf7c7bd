"""Calls of functions, and the methods of optional values."""

from __future__ import annotations

from collections.abc import Callable

from outstep.expr import functions
from outstep.expr.core import CONTAINERS, UNDECIDED, Core, cost_of, first_undecided, named
from outstep.expr.function import Function, fit
from outstep.expr.nodes import Call, Node
from outstep.expr.standard import OPTIONAL_MAKERS, OPTIONAL_METHODS
from outstep.expr.values import (
    NOTHING,
    CutText,
    Hidden,
    Maybe,
    Missing,
    Value,
    entries_of,
    hidden_within,
    is_lookup,
    visible,
    word,
)


class Calls(Core):
    """The part of the evaluator that calls."""

    def call(self, node: Call) -> Value:
        """Call a function: hidden if any argument is hidden, else missing if any is missing."""
        if node.function in OPTIONAL_METHODS and node.target is not None:
            return self._optional_method(node, node.target)
        parts = node.args if node.target is None else (node.target, *node.args)
        args = [self.value(part) for part in parts]
        undecided = first_undecided(args)
        if undecided is not None:
            return undecided
        if node.function in OPTIONAL_MAKERS:
            return _made_optional(node.function, args)
        function = functions.TABLE.get(node.function)
        if function is None:
            return Missing(f"{named(node)}: no such function")
        for place, arg in enumerate(args):
            if is_lookup(arg):
                args[place] = arg = arg.size if function.name == "size" else entries_of(arg)
                if function.name == "size" or type(arg) is Hidden:
                    return arg
        self.spend(sum(cost_of(arg, self.left) for arg in args))
        return self._applied(node, function, args)

    def _applied(self, node: Call, function: Function, args: list[Value]) -> Value:
        hidden = self._hidden_argument(node, function, args)
        if type(hidden) is Hidden and not function.search:
            return hidden
        if function.search and hidden is not None:
            if hidden_within(args[1:]) is not None:
                return hidden
            args = [visible(args[0]), *args[1:]]
        if function.run is None:
            result = self.env.function(function.name, tuple(args))
            if result is NotImplemented:
                return Missing(f"{named(node)}: `{function.name}` has no meaning here")
        else:
            result = self.attempt(node, _fitted(function), *args)
        if hidden is None or type(result) in UNDECIDED:
            return result
        if result is False or result == []:
            return hidden
        return result if result is True else [*result, hidden]

    def _hidden_argument(self, node: Call, function: Function, args: list[Value]) -> Hidden | None:
        for arg in args:
            if type(arg) is CutText or (type(arg) in CONTAINERS and not function.shallow):
                hidden = hidden_within(arg)
                if hidden is not None:
                    return Hidden(f"{named(node)}: {hidden.reason}")
        return None

    def _optional_method(self, node: Call, target: Node) -> Value:
        maybe = self.value(target)
        if type(maybe) in UNDECIDED:
            return maybe
        if type(maybe) is not Maybe:
            return Missing(f"{named(target)} is {word(maybe)}, no optional value")
        if node.function == "hasValue":
            return maybe.present
        if node.function == "value":
            return maybe.value if maybe.present else Missing(f"{named(node)}: there is no value")
        if maybe.present:
            return maybe if node.function == "or" else maybe.value
        other = self.value(node.args[0])
        if node.function == "or" and type(other) not in (*UNDECIDED, Maybe):
            return Missing(f"{named(node)}: `or` needs an optional value, not {word(other)}")
        return other


def _made_optional(function: str, args: list[Value]) -> Value:
    if function == "optional.none":
        return NOTHING
    value = args[0]
    if function == "optional.ofNonZeroValue" and type(value) is not CutText and not value:
        return NOTHING
    return Maybe(True, value)


def _fitted(function: Function) -> Callable[..., Value]:
    def run(*args: Value) -> Value:
        fit(function, args)
        assert function.run is not None
        return function.run(*args)

    return run
