"""Macros: `all exists exists_one map filter` and their forms with two variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outstep.expr.core import ABSENT, UNDECIDED, Core, first_undecided, folded, named
from outstep.expr.nodes import Macro, Node
from outstep.expr.values import NOTHING, Hidden, Maybe, Missing, Value, entries_of, from_key, is_lookup, key_of, word


class Macros(Core):
    """The part of the evaluator that binds variables and folds over elements."""

    def macro(self, node: Macro) -> Value:
        """Evaluate a macro; its variables hide names of the surroundings in its body."""
        target = self.value(node.target)
        if type(target) in UNDECIDED:
            return target
        if node.name in ("optMap", "optFlatMap"):
            return self._optional_macro(node, target)
        elements = self._elements(node, target)
        if type(elements) in UNDECIDED:
            return elements
        kept = {name: self.variables[name] for name in node.variables if name in self.variables}
        try:
            return _FOLDS[node.name](self, node, self._bound(node.variables, elements))
        finally:
            for name in node.variables:
                self.variables.pop(name, None)
            self.variables.update(kept)

    def _bound(self, variables: tuple[str, ...], elements: Any) -> Any:
        """Bind the variables to each element in turn."""
        for element in elements:
            self.spend(1)
            self.variables.update(zip(variables, element, strict=True))
            yield element

    def _elements(self, node: Macro, target: Value) -> Value:
        """Return what the variables are bound to, turn by turn."""
        two = len(node.variables) == 2
        kind = type(target)
        if kind is list:
            return list(enumerate(target)) if two else [(item,) for item in target]
        if is_lookup(target):
            target = entries_of(target) if two else target.keys()
            if type(target) is Hidden:
                return target
            return list(target.items()) if two else [(key,) for key in target]
        if kind is dict:
            return [(from_key(key), item) if two else (from_key(key),) for key, item in target.items()]
        return Missing(f"{named(node.target)} is {word(target)}, no list or object")

    def _all(self, node: Macro, elements: Any) -> Value:
        return folded((self.truth(node.body[0]) for _ in elements), False)

    def _exists(self, node: Macro, elements: Any) -> Value:
        return folded((self.truth(node.body[0]) for _ in elements), True)

    def _exists_one(self, node: Macro, elements: Any) -> Value:
        truths = [self.truth(node.body[0]) for _ in elements]
        undecided = first_undecided(truths)
        return truths.count(True) == 1 if undecided is None else undecided

    def _filter(self, node: Macro, elements: Any) -> Value:
        return self._collected((element[0], self.truth(node.body[0]), True) for element in elements)

    def _map_macro(self, node: Macro, elements: Any) -> Value:
        """`map` and `transformList`: the last part of the body for each element that the first, if given, keeps."""
        *conditions, body = node.body
        return self._collected(self._mapped(conditions, body) for _ in elements)

    def _mapped(self, conditions: list[Node], body: Node) -> tuple[Value, Value, bool]:
        keep = self.truth(conditions[0]) if conditions else True
        return (self.value(body) if keep is True else None), keep, False

    def _collected(self, results: Any) -> Value:
        """Gather `(value, keep, may be hidden)`; hidden wins over missing, both over values."""
        kept: list[Value] = []
        unsure: Value = None
        for value, keep, passes in results:
            part = keep if keep is not True else None if passes else value
            if (type(part) is Hidden and type(unsure) is not Hidden) or (type(part) is Missing and unsure is None):
                unsure = part
            elif keep is True:
                kept.append(value)
        return unsure if type(unsure) in UNDECIDED else kept

    def _transform_map(self, node: Macro, elements: Any) -> Value:
        *conditions, body = node.body
        keys: list[Any] = []
        pairs: list[tuple[Value, Value, bool]] = []
        for element in elements:
            result = self._mapped(conditions, body)
            pairs.append(result)
            if result[1] is True:
                keys.append(key_of(element[0]))
        values = self._collected(pairs)
        return values if type(values) in UNDECIDED else dict(zip(keys, values, strict=True))

    def _optional_macro(self, node: Macro, target: Value) -> Value:
        if type(target) is not Maybe:
            return Missing(f"{named(node.target)} is {word(target)}, no optional value")
        if not target.present:
            return NOTHING
        (name,) = node.variables
        kept = self.variables.get(name, ABSENT)
        self.variables[name] = target.value
        result = self.value(node.body[0])
        del self.variables[name]
        if kept is not ABSENT:
            self.variables[name] = kept
        if type(result) in UNDECIDED or (node.name == "optFlatMap" and type(result) is Maybe):
            return result
        if node.name == "optFlatMap":
            return Missing(f"{named(node.body[0])} is {word(result)}, no optional value")
        return Maybe(True, result)


_FOLDS: dict[str, Callable[[Macros, Macro, Any], Value]] = {
    "all": Macros._all,
    "exists": Macros._exists,
    "exists_one": Macros._exists_one,
    "filter": Macros._filter,
    "map": Macros._map_macro,
    "transformList": Macros._map_macro,
    "transformMap": Macros._transform_map,
}
