"""What is asked of a record: one finding, its rule, and the evidence that the rule wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from outstep.attribution.record import Act, Record
from outstep.contracts.kinds import Needs, Require, Then
from outstep.contracts.model import Contract, Rule
from outstep.contracts.names import ToolNames
from outstep.contracts.selectors import Expr, Selector
from outstep.expr.nodes import Call, names_of, walk
from outstep.findings import Finding

_FACT = re.compile(r"`([A-Za-z_][A-Za-z0-9_]*)(?:\[(.{0,200}?)\])?`")


class Question(Struct, frozen=True, kw_only=True):
    """One finding with all that is at hand to say where it went wrong."""

    finding: Finding
    contract: Contract
    rule: Rule
    record: Record
    names: ToolNames

    @property
    def wanted(self) -> tuple[Selector, ...]:
        """The selectors of the evidence that the rule wants."""
        return tuple(dict.fromkeys(wanted(self.contract, self.rule, self.missing_facts)))

    @property
    def missing_facts(self) -> tuple[str, ...]:
        """Names of facts that had no entry."""
        found = [match[1] for text in self.finding.missing if (match := _FACT.match(text)) is not None]
        facts = {fact.name for fact in self.contract.facts}
        return tuple(dict.fromkeys(name for name in found if name in facts))

    @property
    def missing_key(self) -> str:
        """The key under which a fact had no entry, as text; empty where there is none."""
        for text in self.finding.missing:
            match = _FACT.match(text)
            if match is not None and match[2]:
                return match[2].strip('"')
        return ""

    def acts(self, selectors: Sequence[Selector]) -> list[Act]:
        """Return the calls of the tools that some selectors name, and what came of them."""
        return [act for act in self.record.acts if any(self._means(one, act) for one in selectors)]

    def _means(self, selector: Selector, act: Act) -> bool:
        if selector.what not in ("call", "result"):
            return False
        recorded = act.call.tool
        return not selector.names or self.names.matches(selector.names, recorded, self.names.canonical(recorded))

    def offers(self, selectors: Sequence[Selector]) -> bool | None:
        """Return whether the harness offered a tool that selectors name; none where the record does not tell."""
        names = [one.names for one in selectors if one.what in ("call", "result") and one.names]
        if any(
            self.names.matches(some, tool, self.names.canonical(tool))
            for some in names
            for tool in self.record.header.tools
        ):
            return True
        if any(act.outcome in ("ok", "failed", "unknown") for act in self.acts(selectors)):
            return True
        return False if self.record.has_whole_list() and names else None

    def spellings(self, selectors: Sequence[Selector]) -> list[str]:
        """Return the names under which instructions may speak of the tools."""
        found: dict[str, None] = {}
        for selector in selectors:
            for name in selector.names:
                if name.startswith("@") or "*" in name:
                    continue
                tool = self.names.tool(name)
                for spelled in (name, *(tool.names if tool is not None else ())):
                    found[spelled] = None
                for recorded in (*self.record.header.tools, *(act.call.tool for act in self.record.acts)):
                    if self.names.matches((name,), recorded, self.names.canonical(recorded)):
                        found[recorded] = None
        return [spelled for name in found for spelled in dict.fromkeys((name, name.replace(".", "_")))]

    def reads(self, name: str) -> bool:
        """Return whether the rule's own expressions read a name."""
        return name in {read for expr in expressions(self.rule) for read in names_of(expr.node)}

    def asks(self, function: str) -> bool:
        """Return whether the rule's own expressions call a function."""
        return any(
            isinstance(node, Call) and node.function == function
            for expr in expressions(self.rule)
            for node in walk(expr.node)
        )


def expressions(rule: Rule) -> Iterator[Expr]:
    """Yield the expressions that a rule requires, and those that they name."""
    if isinstance(rule.kind, Require):
        yield from rule.kind.all
    yield from (expr for _, expr in rule.let)


def wanted(contract: Contract, rule: Rule, missing: Sequence[str] = ()) -> Iterator[Selector]:
    """Yield the selectors of what a rule wants to see; `missing` narrows them to the facts that had no entry."""
    if isinstance(rule.kind, Needs | Then):
        yield from rule.kind.any
        return
    if not isinstance(rule.kind, Require):
        yield from rule.triggers
        return
    names = missing or tuple(dict.fromkeys(name for expr in expressions(rule) for name in names_of(expr.node)))
    for fact in contract.facts:
        if fact.name in names:
            for source in fact.sources:
                yield from source.selectors
