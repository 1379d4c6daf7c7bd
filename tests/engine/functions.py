"""What the cases of `python` ask, without looking for a module: `cases/checks.py`."""

from __future__ import annotations

from typing import Any

from outstep.contracts.kinds import Python
from outstep.contracts.model import Contract
from tests.engine.cases import checks


def functions_of(contract: Contract) -> dict[str, Any]:
    """Return the functions that the rules of a contract name, by rule."""
    return {
        rule.id: getattr(checks, rule.kind.function.partition(":")[2])
        for rule in contract.rules
        if isinstance(rule.kind, Python)
    }
