"""Scores are trends: a rule of level `block`, and what every rule shares, cannot read `trace.metrics`.

docs: docs/metrics.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outstep.contracts.contents import expressions_of, fact_expressions, tool_expressions
from outstep.contracts.including import Parts
from outstep.contracts.model import Contract
from outstep.contracts.report import Report, Span
from outstep.contracts.selectors import Expr
from outstep.expr.nodes import Binary, Index, Literal, Name, Node, Select, children, paths_of, walk

HELP = "scores of a model or a person are trends and never gate"


def refuse_gating_metrics(contract: Contract, parts: Parts, report: Report) -> None:
    """Report every expression that would let a score decide a gate."""
    for expr, sentence, help in _reading(contract):
        file = next((part.file for part in parts.in_order if part.file.index == expr.spot.file), None)
        if file is None:
            continue
        start = file.offset(expr.spot.line, expr.spot.column)
        length = len(expr.text) if file.text.startswith(expr.text, start) else 1
        report.error("block-needs-deterministic", sentence, Span(file, start, start + length), help)


def _reading(contract: Contract) -> Iterator[tuple[Expr, str, str]]:
    for rule in contract.rules:
        if rule.level == "block":
            for expr in _metric_readers(expressions_of(rule)):
                sentence = f"`{rule.id}` blocks, and reads a metric: `{expr.text}`"
                yield expr, sentence, f"{HELP}: give the rule `level: warn` or `observe`"
    for what, expressions in _shared(contract):
        for expr in _metric_readers(expressions):
            help = f"{HELP}: read it in rules of level `warn` or `observe`"
            yield expr, f"{what} reads a metric: `{expr.text}`", help


def _shared(contract: Contract) -> Iterator[tuple[str, Iterable[Expr]]]:
    """Yield what rules of every level rest on."""
    yield "`applies_when`", () if contract.applies_when is None else (contract.applies_when,)
    for tool in (*contract.tools, *contract.defaults):
        yield f"the tool `{tool.name}`", tool_expressions(tool)
    for fact in contract.facts:
        yield f"the fact `{fact.name}`", fact_expressions(fact)
    wheres = (selector.where for selector in contract.known.values())
    yield "the selector of `known`", (where for where in wheres if where is not None)


def _metric_readers(expressions: Iterable[Expr]) -> Iterator[Expr]:
    """Yield the expressions that may read a metric; one that hands `trace` on as a whole may."""
    for expr in expressions:
        paths = paths_of(expr.node, "trace")
        if any(path[:1] == ("metrics",) for path in paths) or (() in paths and _hands_on(expr.node)):
            yield expr


def _hands_on(node: Node) -> bool:
    """Return whether `trace` is more than read by its members and compared."""
    if _is_trace(node):
        return True
    for part in walk(node):
        is_compared = isinstance(part, Binary) and part.op in ("==", "!=")
        is_member = isinstance(part, Select) or (isinstance(part, Index) and isinstance(part.index, Literal))
        if not is_compared and not is_member and any(map(_is_trace, children(part))):
            return True
    return False


def _is_trace(node: Node) -> bool:
    return isinstance(node, Name) and node.name == "trace"
