"""The slow reference: SEMANTICS sections 1 to 7 word by word, on a complete trace. The engine must equal it."""

from __future__ import annotations

from .judging import evaluate
from .verdicts import Instance, RuleOutcome

__all__ = ["Instance", "RuleOutcome", "evaluate"]
