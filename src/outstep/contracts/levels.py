"""Levels of included rules, and which rules a contract has in the end.

docs: docs/language.md, section 1
"""

from __future__ import annotations

from msgspec import Struct, structs

from outstep.contracts.fields import entries
from outstep.contracts.including import Part, Parts
from outstep.contracts.kinds import Python
from outstep.contracts.located import Mapping, Scalar
from outstep.contracts.model import Rule
from outstep.contracts.report import Report, Span

LEVELS = ("block", "warn", "observe", "off")
_HIGHEST = {"observe": "observe", "shadow": "warn", "gate": "block"}
_RANK = {"off": 0, "observe": 1, "warn": 2, "block": 3}
MOST_LEVELS = 5000


class Placed(Struct, eq=False):
    """A rule, where its id stands, and the level that it has in the end."""

    rule: Rule
    span: Span
    level: str


def settle_levels(main: Part, parts: Parts, report: Report) -> tuple[Rule, ...]:
    """Return the rules of a contract: included ones, its own, then those of `integrity`."""
    levels = _Levels(parts, report)
    placed = [found for found in levels.of(main) if found.level != "off"]
    own_first: dict[str, Placed] = {}
    for found in placed:
        first = own_first.setdefault(found.rule.id, found)
        if first is not found and found.rule.id:
            line, _ = first.span.file.line_column(first.span.start)
            where = f"line {line}" if first.span.file is found.span.file else f"`{first.span.file.name}`, line {line}"
            is_included = first.span.file is not found.span.file
            help = f"to replace an included rule, write `levels: {{{found.rule.id}: off}}`" if is_included else ""
            report.error("duplicate-id", f"`{found.rule.id}` is already the id of a rule in {where}", found.span, help)
    is_empty = main is not parts.integrity and all(found.span.file.name == "pack:integrity" for found in placed)
    if is_empty and not parts.names_a_pack and (main.fields.get("rules") is None or not report.failed):
        help = "write `rules`, or include a pack: `include: [integrity]`"
        report.error("missing-key", "the contract has no rules", Span(main.file, 0, 1), help)
    return tuple(structs.replace(found.rule, level=found.level) for found in placed)


def refuse_code_from_elsewhere(main: Part, parts: Parts, report: Report) -> None:
    """Report rules that would run code which an included file brings, unless the contract itself names them."""
    levels = main.fields.get("levels")
    named = {key.text for key, _ in levels.entries} if isinstance(levels, Mapping) else set()
    for part in parts.in_order:
        for rule, span in part.rules if part is not main else ():
            if isinstance(rule.kind, Python) and rule.id not in named:
                sentence = f"`{rule.id}` runs `{rule.kind.function}`, and stands in a file that the contract includes"
                help = f"if that code may run, say so in `{main.file.name}`: `levels: {{{rule.id}: {rule.level}}}`"
                report.error("code-from-include", sentence, span, help)


class _Levels:
    """Settles levels from the innermost file outwards: the nearest word to the reader wins."""

    def __init__(self, parts: Parts, report: Report) -> None:
        self._parts = parts
        self._report = report
        self._own = {id(part): [Placed(rule, span, rule.level) for rule, span in part.rules] for part in parts.in_order}

    def of(self, part: Part) -> list[Placed]:
        """Return the rules of a file and of all that it includes."""
        included: dict[int, Placed] = {}
        integrity = self._parts.integrity
        for inner in part.includes:
            if inner is not integrity:
                included.update((id(found), found) for found in self.of(inner))
        always = [] if integrity in (None, part) else self._own[id(integrity)]
        own = self._own[id(part)]
        self._apply(part, [*included.values(), *always], {found.rule.id for found in own})
        # Every file may change the levels of `integrity`; its rules stand in the contract once.
        rules = [*included.values(), *own, *([] if part.file.index else always)]
        if part.file.index:
            highest = _HIGHEST[part.fields.choice("stage", tuple(_HIGHEST), "gate")]
            for found in rules:
                found.level = min(found.level, highest, key=_RANK.__getitem__)
        return rules

    def _apply(self, part: Part, included: list[Placed], own: set[str]) -> None:
        by_id: dict[str, list[Placed]] = {}
        for found in included:
            by_id.setdefault(found.rule.id, []).append(found)
        for key, value in entries(part.fields.get("levels"), self._report, "`levels`", MOST_LEVELS):
            level = value.text if isinstance(value, Scalar) else ""
            if level not in LEVELS:
                listed = ", ".join(f"`{name}`" for name in LEVELS)
                shown = f", not `{level}`" if level else ""
                self._report.error("value", f"a level is one of {listed}{shown}", value.span)
            elif key.text in by_id:
                for found in by_id[key.text]:
                    found.level = level
            elif key.text in own:
                sentence = f"`{key.text}` is a rule of this file; `levels` is for included ones"
                self._report.error("unknown-rule", sentence, key.span, "write `level` in the rule itself")
            else:
                sentence = f"no included rule has the id `{key.text}`"
                self._report.unknown("unknown-rule", sentence, key.span, key.text, list(by_id))
