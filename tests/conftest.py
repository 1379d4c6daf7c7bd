"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import settings

# Tests share two cores, so how long one example takes says nothing. The examples are the same in every run, so that a
# suite that was green stays green; OUTSTEP_RANDOM=1 looks for new ones.
settings.register_profile("outstep", deadline=None, derandomize=not os.environ.get("OUTSTEP_RANDOM"))
settings.load_profile("outstep")
