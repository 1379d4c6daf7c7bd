"""Every case holds, and every way of judging it gives the same rulings and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from outstep.contracts.kinds import Integrity
from outstep.contracts.loader import load_contract
from outstep.contracts.model import Contract
from outstep.engine import Compiled
from outstep.tracetext import parse_trace
from tests.engine.casefile import Case, case_files, read_cases
from tests.engine.functions import functions_of
from tests.engine.ways import Judged, batched, live

ALL = [(path.stem, case) for path in case_files() for case in read_cases(path)]


@pytest.mark.parametrize(("stem", "case"), ALL, ids=[f"{stem}:{case.name}" for stem, case in ALL])
def test_a_case_holds_every_way(stem: str, case: Case) -> None:
    contract = load_contract(case.contract.encode(), name=f"{stem}.yaml")
    compiled = Compiled(contract, functions_of(contract))
    header, events = parse_trace(case.trace)
    exact = live(compiled, header, events, exact=True)
    assert live(compiled, header, events) == exact, "generated code says otherwise than the exact run"
    for size in (1, 2, 1000):
        assert batched(compiled, [(header, events)] * 2, size) == [exact] * 2, f"batches of {size} say otherwise"
    _check(case, contract, exact)


def _check(case: Case, contract: Contract, found: Judged) -> None:
    own = [rule.id for rule in contract.rules if not isinstance(rule.kind, Integrity)]
    verdicts = dict(zip((rule.id for rule in contract.rules), found.verdicts, strict=True))
    expected = {_rule_of(name, own): verdict for name, verdict in case.verdicts.items()}
    for rule in contract.rules:
        if isinstance(rule.kind, Integrity):
            expected.setdefault(rule.id, verdicts[rule.id] if _is_of_the_end(rule.id) else "satisfied")
    shown = "\n".join(repr(ruling) for ruling in found.rulings)
    assert {rule: verdicts[rule] for rule in expected} == expected, shown
    assert not set(own) - set(expected), "the case says nothing of some of its rules"
    for what, by_rule in case.expected.items():
        for name, value in by_rule.items():
            index = [rule.id for rule in contract.rules].index(_rule_of(name, own, case))
            rulings = [ruling for ruling in found.rulings if ruling.rule == index]
            assert _SAYS[what](rulings) == (value if what == "count" else _listed(value)), f"{what}\n{shown}"
    levels = {rule.id: rule.level for rule in contract.rules}
    assert {rule: levels.get(rule, "off") for rule in case.levels} == case.levels


def _is_of_the_end(rule: str) -> bool:
    """Return whether a rule speaks of an open end, which most cases with one are not about."""
    return rule in {"INCOMPLETE_TRACE", "MISSING_TOOL_RESULT", "UNDECLARED_TOOL"}


def _rule_of(rule: str, own: Sequence[str], case: Case | None = None) -> str:
    if rule:
        return rule
    named = [name for name in case.verdicts if name] if case is not None else []
    (only,) = named or own
    return only


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


_SAYS: dict[str, Any] = {
    "place": lambda rulings: ["run" if ruling.seq is None else ruling.seq for ruling in rulings],
    "witness": lambda rulings: [step.seq for ruling in rulings for step in ruling.witness],
    "reason": lambda rulings: list(dict.fromkeys(ruling.reason for ruling in rulings)),
    "key": lambda rulings: [ruling.key for ruling in rulings],
    "missing": lambda rulings: [text for ruling in rulings for text in ruling.missing],
    "count": len,
}
