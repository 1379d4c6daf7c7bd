"""`json`: the whole report as data, schema `report/v1`, `schema` first.

Members that count or decide are always there, also when they are zero; what does not apply is left out.
docs: docs/cli.md#the-report-as-data
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import structs

from outstep.findings import ContractSummary, Report, RuleSummary, TraceSummary
from outstep.render.style import Style
from outstep.render.values import pretty_parts, problem_values

Item = TypeVar("Item")


def render(report: Report, style: Style) -> str:  # noqa: ARG001
    """Return the report as indented JSON; equal reports give equal bytes."""
    return "".join(parts(report))


def parts(report: Report) -> Iterator[str]:
    """Yield the report in parts, so that a large one need not be in memory at once."""
    empty = structs.replace(report, traces=(), rules=(), contracts=(), findings=(), faults=(), warnings=())
    lists: dict[str, Iterator[list[Any]]] = {
        "traces": (_whole(some, TraceSummary) for some in _slices(report.traces)),
        "rules": (_whole(some, RuleSummary) for some in _slices(report.rules)),
        "contracts": (_whole(some, ContractSummary) for some in _slices(report.contracts)),
        "findings": (msgspec.to_builtins(some) for some in _slices(report.findings)),
        "faults": (problem_values(some) for some in _slices(report.faults)),
        "warnings": (problem_values(some) for some in _slices(report.warnings)),
    }
    return pretty_parts({**_whole([empty], Report)[0], **lists})


SLICE = 1000


def _slices(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + SLICE] for start in range(0, len(items), SLICE))


def _whole(structs: Iterable[msgspec.Struct], type_: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Return structs as maps with every counter, list and word in them, in the order of their fields."""
    if type_ not in _names:
        _names[type_] = [(field.name, field.encode_name) for field in msgspec.structs.fields(type_)]
    return [{told: msgspec.to_builtins(getattr(struct, name)) for name, told in _names[type_]} for struct in structs]


_names: dict[type[msgspec.Struct], list[tuple[str, str]]] = {}
"""Fields and their names in JSON; to look at a type takes longer than to render a short report."""
