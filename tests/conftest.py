"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# Tests share two cores, so how long one example takes says nothing. What else is set stays (`CI` derandomises).
settings.register_profile("outstep", parent=settings(), deadline=None)
settings.load_profile("outstep")
