"""Outstep: hold what an AI agent did against an executable contract."""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

# Imported when first asked for: `import outstep` costs nothing, and no lower layer sees a higher one through here.
# What type checkers see stands in `__init__.pyi`.
_OFFERED = {
    "Action": "outstep.scope.model",
    "Battery": "outstep.battery.model",
    "Contract": "outstep.contracts.model",
    "Monitor": "outstep.engine.monitor",
    "OutstepError": "outstep.errors",
    "Recorder": "outstep.workflow.recorder",
    "Report": "outstep.findings",
    "Rule": "outstep.scope.model",
    "Scenario": "outstep.scope.model",
    "ScopeObserver": "outstep.scope.observer",
    "Trace": "outstep.workflow.traces",
    "check": "outstep.workflow.api",
    "load_contract": "outstep.workflow.contracts",
    "load_traces": "outstep.workflow.traces",
    "ready": "outstep.workflow.functions",
    "report_text": "outstep.workflow.reporting",
}


def __getattr__(name: str) -> object:
    """Return what the package offers by name."""
    module = _OFFERED.get(name)
    if module is None:
        raise AttributeError(f"module `outstep` has no `{name}`")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted([*_OFFERED, "__version__"])
