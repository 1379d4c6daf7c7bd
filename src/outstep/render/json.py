"""`json`: the whole report as data, schema `report/v1`, `schema` first.

Members that count or decide are always there, also when they are zero; what does not apply is left out.
docs: docs/cli.md#the-report-as-data
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from outstep.findings import ContractSummary, Report, RuleSummary, TraceSummary
from outstep.render.style import Style
from outstep.render.values import pretty, problem_values


def render(report: Report, style: Style) -> str:  # noqa: ARG001
    """Return the report as indented JSON; equal reports give equal bytes."""
    value = _whole([report], Report)[0]
    value["traces"] = _whole(report.traces, TraceSummary)
    value["rules"] = _whole(report.rules, RuleSummary)
    value["contracts"] = _whole(report.contracts, ContractSummary)
    value["faults"] = problem_values(report.faults)
    value["warnings"] = problem_values(report.warnings)
    return pretty(value)


def _whole(structs: Iterable[msgspec.Struct], type_: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Return structs as maps with every counter, list and word in them, in the order of their fields."""
    if type_ not in _names:
        _names[type_] = [(field.name, field.encode_name) for field in msgspec.structs.fields(type_)]
    return [{told: msgspec.to_builtins(getattr(struct, name)) for name, told in _names[type_]} for struct in structs]


_names: dict[type[msgspec.Struct], list[tuple[str, str]]] = {}
"""Fields and their names in JSON; to look at a type takes longer than to render a short report."""
