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
from outstep.contracts.kinds.scope import ScopeMonitor
from outstep.contracts.kinds.then import ThenMonitor
from outstep.contracts.model import Rule

_MONITORS: dict[type, Any] = {
    Require: RequireMonitor,
    Never: NeverMonitor,
    Needs: NeedsMonitor,
    Then: ThenMonitor,
    AtMost: AtMostMonitor,
    AtLeast: AtLeastMonitor,
    Exactly: ExactlyMonitor,
    Python: PythonMonitor,
    Scope: ScopeMonitor,
}


def monitor_of(index: int, rule: Rule, run: Any) -> KindMonitor:
    """Return the monitor of a rule."""
    monitor: KindMonitor = _MONITORS[type(rule.kind)](index, rule, run)
    return monitor
