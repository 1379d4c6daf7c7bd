"""Drafts a contract from good runs: what the tools are, and what held in every run.

What is found here is a guess until the engine has judged the same runs by it (`workflow/drafting.py`).
docs: docs/getting-started.md
"""

from __future__ import annotations

from outstep.draft.candidates import Candidate, Fact
from outstep.draft.miners import candidates
from outstep.draft.observed import Observed, Seen, observe
from outstep.draft.writing import Drafted, write

__all__ = ["Candidate", "Drafted", "Fact", "Observed", "Seen", "candidates", "observe", "write"]
