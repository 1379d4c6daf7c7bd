"""The engine: one pass over a trace, exact about what is known, missing and hidden (docs/semantics.md)."""

from __future__ import annotations

from outstep.engine.monitor import Compiled, Judgement, Monitor, judge

__all__ = ["Compiled", "Judgement", "Monitor", "judge"]
