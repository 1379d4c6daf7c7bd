"""Names, members and elements, and whether they are there."""

from __future__ import annotations

from decimal import Decimal

from outstep.expr.arithmetic import whole
from outstep.expr.core import ABSENT, UNDECIDED, Core, first_undecided, named, text_in
from outstep.expr.nodes import Has, Index, Name, Node, Select
from outstep.expr.nodes import Literal as Constant
from outstep.expr.values import (
    NOTHING,
    Hidden,
    Maybe,
    Missing,
    Undecided,
    Value,
    hidden_within,
    is_lookup,
    key_of,
    show,
    word,
)

KEYS = frozenset({str, int, bool, Decimal})
"""Types of values that can name a member of an object."""

_NOT_THERE = object()


class Members(Core):
    """The part of the evaluator that reads."""

    def constant(self, node: Constant) -> Value:
        """A constant is itself."""
        return node.constant

    def name(self, node: Name) -> Value:
        """Read the variable of a macro, else what the surroundings bind."""
        if node.name in self.variables:
            return self.variables[node.name]
        try:
            return self.env.lookup(node.name)
        except KeyError:
            return Missing(f"`{node.name}` is not bound here")

    def select(self, node: Select) -> Value:
        """Read `a.b`."""
        base = self.raw(node.operand)
        if type(base) in UNDECIDED:
            return base
        try:
            found = member(base, node.field)
        except (ValueError, Undecided) as error:
            return Missing(f"{named(node)}: {error}")
        if node.optional or type(base) is Maybe:
            return _optional(found)
        if found is not _NOT_THERE:
            return found
        return ABSENT if self.absent_is_null else Missing(f"{named(node)}: no such member")

    def index(self, node: Index) -> Value:
        """Read `a[b]`."""
        base = self.raw(node.operand)
        key = self.value(node.index)
        undecided = first_undecided([base, key])
        if undecided is not None:
            return undecided
        if hidden_within(key) is not None:
            return Hidden(f"{named(node.index)}: a part is hidden")
        try:
            found = member(base, key)
        except (ValueError, Undecided) as error:
            return Missing(f"{_place(node, key)}: {error}")
        if node.optional or type(base) is Maybe:
            return _optional(found)
        if found is not _NOT_THERE:
            return found
        if self.absent_is_null and type(base) is not list:
            return ABSENT
        return Missing(f"{_place(node, key)}: no such {'element' if type(base) is list else 'member'}")

    def has(self, node: Has) -> Value:
        """`deep-has`: false when any step of the path is absent, or selected from null."""
        found = self._step(node.select, last=True)
        if type(found) in UNDECIDED or type(found) is bool:
            return found
        return found is not _NOT_THERE

    def _step(self, node: Node, last: bool = False) -> Value:
        """Return what a path leads to, `_NOT_THERE` when to nothing; the last step asks only whether there is one."""
        if not isinstance(node, Select | Index):
            value = self.raw(node)
            return _NOT_THERE if value is ABSENT else value
        self.spend(1)
        base = self._step(node.operand)
        if base is _NOT_THERE or base is None:
            return False if last else _NOT_THERE
        key = node.field if isinstance(node, Select) else self.value(node.index)
        undecided = first_undecided([base, key])
        if undecided is not None:
            return undecided
        if hidden_within(key) is not None:
            return Hidden(f"{named(node)}: a part is hidden")
        try:
            if last and is_lookup(base):
                return base.holds(key)
            found = member(base, key)
        except (ValueError, Undecided) as error:
            return Missing(f"{named(node)}: {error}")
        if last:
            return found is not _NOT_THERE
        return _optional(found) if node.optional or type(base) is Maybe else found


def member(base: Value, key: Value) -> Value:
    """Return a member or element, or `_NOT_THERE` when the value could have it; raises `ValueError`, `Undecided`."""
    kind = type(base)
    if kind is dict and type(key) in KEYS:
        return base.get(key_of(key), _NOT_THERE)
    if kind is list and type(key) in (int, Decimal):
        place = whole(key)
        if place is None:
            raise ValueError("no place in a list")
        return base[place] if 0 <= place < len(base) else _NOT_THERE
    if base is ABSENT:
        return ABSENT
    if kind is Maybe:
        return member(base.value, key) if base.present else _NOT_THERE
    if is_lookup(base):
        return base.index(key)
    if kind in UNDECIDED:
        return base
    raise ValueError(f"{word(base)} has no member {show(key, 40)}")


def _optional(found: Value) -> Value:
    if type(found) in UNDECIDED:
        return Maybe(True, found) if type(found) is Hidden else found
    return NOTHING if found is _NOT_THERE or found is ABSENT else Maybe(True, found)


def _place(node: Index, key: Value) -> str:
    return f"`{text_in(node.operand)}[{show(key)}]`"
