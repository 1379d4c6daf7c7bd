"""Outstep: hold what an AI agent did against an executable contract."""

from __future__ import annotations

__version__ = "0.1.0"
