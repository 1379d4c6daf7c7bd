"""What names mean in generated code: a local variable, a fact's cells, a constant; else the code gives up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from outstep.contracts.selectors import Expr
from outstep.expr.compile import Constants, compile_proof, compile_truth, compile_value
from outstep.expr.nodes import Binary, Index, Name, Node, Select
from outstep.expr.values import Absent

if TYPE_CHECKING:
    from outstep.engine.monitor import Compiled

CALL = {"args": "args", "by": "e.by", "said": "lane.said"}
RESULT = {
    "args": "args",
    "data": "data",
    "outcome": "outcome",
    "ok": '(outcome == "ok")',
    "error": "e.error",
    "exit": "needed(e.exit)",
    "text": "needed(e.text)",
    "approval": '"none"',
}
MESSAGE = {"text": "e.text", "calls": "lane.calls"}
CLAIM = {**MESSAGE, "match": "claim.groups", "sentence": "claim.sentence", "it": "it"}
ALSO_OF_THIS = frozenset(CALL) | frozenset(RESULT) | frozenset(CLAIM) - {"it"} | {"tool"}


class Bindings:
    """Compiles expressions of one handler."""

    def __init__(self, compiled: Compiled, pool: Constants, names: Mapping[str, str], *, is_issued: bool) -> None:
        self._compiled = compiled
        self._pool = pool
        self._names = names
        self._is_issued = is_issued
        self.used: set[str] = set()
        """Event names that the code so far reads."""
        self.let: Mapping[str, Expr] = {}
        self._depth = 0
        self._shared: dict[str, str] | None = None

    def truth(self, expr: Expr, absent: Absent) -> str:
        """Return code that gives True or False or raises."""
        return compile_truth(expr.node, self._bind, self._pool, absent, plain=True)

    def proof(self, expr: Expr) -> str:
        """Return code that gives something true only if the expression is true evidence; else it says nothing."""
        return compile_proof(expr.node, self._bind, self._pool, plain=True)

    @contextmanager
    def sharing(self) -> Iterator[dict[str, str]]:
        """Read each entry of a fact once: yield code and the name that stands for it, to be bound in this order."""
        shared: dict[str, str] = {}
        self._shared = shared
        yield shared
        self._shared = None

    def value(self, expr: Expr, absent: Absent = "missing") -> str:
        """Return code that gives a value or raises."""
        return compile_value(expr.node, self._bind, self._pool, absent, plain=True)

    def _bind(self, node: Node) -> str | None:
        if isinstance(node, Name):
            return self._name(node.name)
        if isinstance(node, Select) and isinstance(node.operand, Name) and not node.optional:
            return self._select(node.operand.name, node.field)
        if isinstance(node, Index) and isinstance(node.operand, Name) and not node.optional:
            return self._entry(node.operand.name, node.index, "issued" if self._is_issued else "delivered")
        if isinstance(node, Binary) and node.op == "in" and isinstance(node.right, Name):
            return self._entry(node.right.name, node.left, "has_issued" if self._is_issued else "has_delivered")
        return None

    def _name(self, name: str) -> str | None:
        if name in self.let and self._depth < 8:
            self._depth += 1
            code = self.value(self.let[name])
            self._depth -= 1
            return code
        if name in self._names:
            self.used.add(name)
            return self._names[name]
        if name == "turn":
            return "e.turn"
        if name == "agent":
            return '"main"'
        if name == "params":
            return self._pool.ref(self._compiled.contract.params)
        index = self._compiled.plan.facts.get(name)
        if index is not None and not self._compiled.contract.facts[index].keyed:
            return self._cells(index, "()", "issued" if self._is_issued else "delivered")
        return None

    def _select(self, name: str, field: str) -> str | None:
        if name == "this" and field in ALSO_OF_THIS:
            return self._name(field)
        params = self._compiled.contract.params
        if name == "params" and type(params.get(field)) in {str, int, bool}:
            return repr(params[field])
        return None

    def _entry(self, name: str, key: Node, read: str) -> str | None:
        index = self._compiled.plan.facts.get(name)
        if index is None or name in self.let or not self._compiled.contract.facts[index].keyed:
            return None
        return self._cells(index, compile_value(key, self._bind, self._pool, plain=True), read)

    def _cells(self, index: int, key: str, read: str) -> str | None:
        fact = self._compiled.contract.facts[index]
        if fact.keep == "all" or fact.forget or self._compiled.plan.world[index]:
            return None
        code = f"{read}(tables[{index}].cells, {key}, epoch)"
        if self._shared is None:
            return code
        return self._shared.setdefault(code, f"known_{len(self._shared)}")
