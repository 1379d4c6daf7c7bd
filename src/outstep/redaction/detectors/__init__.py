"""Detectors of the profile `standard`: one module a family of values."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from outstep.redaction.detectors.base import Detector

NAMES = ("secrets", "emails", "cards", "phones")
"""In this order: where two find something at one place, the first is believed."""


@cache
def detectors() -> tuple[Detector, ...]:
    """Return every detector."""
    return tuple(cast("Detector", import_module(f"outstep.redaction.detectors.{name}")) for name in NAMES)
