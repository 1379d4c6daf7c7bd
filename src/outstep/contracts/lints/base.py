"""What a lint is given: the checked contract, how it was read, and where to tell."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.contracts.contents import selectors_of
from outstep.contracts.including import Part, Parts
from outstep.contracts.model import Contract, Rule
from outstep.contracts.reading import Reading
from outstep.contracts.report import Span
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.expr.nodes import Node


class Subject:
    """A contract about which warnings are given; it may have mistakes."""

    def __init__(self, contract: Contract, reading: Reading, parts: Parts) -> None:
        self.contract = contract
        self.reading = reading
        self.main = parts.main
        self.replaced = parts.replaced
        self.files: dict[int, Part] = {part.file.index: part for part in parts.in_order if not part.is_bundled}
        """Files that their owner can change: what the bundled packs say is not told."""

    def rules(self) -> Iterator[Rule]:
        """Yield the rules of those files that have no mistake."""
        broken = self.reading.broken
        return (rule for rule in self.contract.rules if rule.spot.file in self.files and rule.spot not in broken)

    def tell(self, code: str, sentence: str, spot: Spot, length: int, help: str) -> None:
        """Warn at a place."""
        if (part := self.files.get(spot.file)) is not None:
            start = part.file.offset(spot.line, spot.column)
            self.reading.report.warning(code, sentence, Span(part.file, start, start + length), help)

    def tell_of(self, code: str, sentence: str, expr: Expr, node: Node, help: str) -> None:
        """Warn of a part of an expression, at its place where the text of the file shows it."""
        part = self.files.get(expr.spot.file)
        if part is None:
            return
        start = part.file.offset(expr.spot.line, expr.spot.column)
        if part.file.text.startswith(expr.text, start):
            span = Span(part.file, start + node.at, start + node.end)
        else:
            span = Span(part.file, start, start + 1)
        self.reading.report.warning(code, sentence, span, help)

    def selectors(self, rule: Rule) -> Iterator[Selector]:
        """Yield every selector of a rule."""
        return selectors_of(rule)


def text_of(expr: Expr, node: Node) -> str:
    """Return a part of an expression as written."""
    return expr.text[node.at : node.end]
