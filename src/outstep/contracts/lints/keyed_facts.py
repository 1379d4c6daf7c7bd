"""`keyed-fact`: a member of a map by key is read as if the fact were one value."""

from __future__ import annotations

from outstep.contracts.contents import contract_expressions
from outstep.contracts.lints.base import Subject
from outstep.expr.nodes import Has, Name, Select, walk


def warn(subject: Subject) -> None:
    """Warn where the key may have been forgotten."""
    for expr in contract_expressions(subject.contract):
        tested = {id(node.select) for node in walk(expr.node) if isinstance(node, Has)}
        for node in walk(expr.node):
            if not isinstance(node, Select) or not isinstance(node.operand, Name) or id(node) in tested:
                continue
            fact = node.operand.name
            if subject.reading.facts.get(fact):
                sentence = f"`{fact}.{node.field}` is the entry of `{fact}` under the key `{node.field}`"
                help = f'if a member is meant: `{fact}[key].{node.field}`; if not: `{fact}["{node.field}"]`'
                subject.tell_of("keyed-fact", sentence, expr, node, help)
