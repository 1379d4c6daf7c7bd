"""Which monitor watches which kind."""

from __future__ import annotations

from typing import Any

from outstep.contracts.kinds import (
    AtLeast,
    AtMost,
    Exactly,
    Needs,
    Never,
    Python,
    Require,
    Scope,
    Then,
)
from outstep.contracts.kinds.at_least import AtLeastMonitor
from outstep.contracts.kinds.at_most import AtMostMonitor
from outstep.contracts.kinds.base import KindMonitor
from outstep.contracts.kinds.exactly import ExactlyMonitor
from outstep.contracts.kinds.needs import NeedsMonitor
from outstep.contracts.kinds.never import NeverMonitor
from outstep.contracts.kinds.python import PythonMonitor
from outstep.contracts.kinds.require import RequireMonitor
from outstep.contracts.kinds.then import ThenMonitor
from outstep.contracts.model import Rule
from outstep.errors import problem

_MONITORS: dict[type, Any] = {
    Require: RequireMonitor,
    Never: NeverMonitor,
    Needs: NeedsMonitor,
    Then: ThenMonitor,
    AtMost: AtMostMonitor,
    AtLeast: AtLeastMonitor,
    Exactly: ExactlyMonitor,
    Python: PythonMonitor,
}


def monitor_of(index: int, rule: Rule, run: Any) -> KindMonitor:
    """Return the monitor of a rule; raises `OutstepError` for a kind that cannot be judged yet."""
    kind = type(rule.kind)
    if kind is Scope:
        raise problem(
            "engine/unsupported-kind",
            f"`{rule.id}` is of the kind `{kind.__name__.lower()}`, which this version cannot judge",
            help="take the rule out, or set its level to `off` in `levels`",
        )
    monitor: KindMonitor = _MONITORS[kind](index, rule, run)
    return monitor
