"""Which keys a rule of each kind takes.

docs: docs/language.md, section 6
"""

from __future__ import annotations

KINDS = ("require", "never", "needs", "then", "at_most", "at_least", "exactly", "scope", "python")
COUNTS = ("at_most", "at_least", "exactly")

CHOICES: dict[str, tuple[str, ...]] = {
    "stage": ("observe", "shadow", "gate"),
    "level": ("block", "warn", "observe"),
    "class": ("context", "process", "tool", "evidence"),
    "missing": ("violated", "inconclusive"),
    "judge": ("run", "record"),
    "counting": ("attempts", "unless_failed", "effects"),
    "keep": ("last", "first", "all"),
}
"""The words that a key can have."""

_NAMED = ("id", "level", "class", "judge", "message")
_OF_EVENTS = ("when", "let", "after", "until", "missing")
_COUNTED = ("for", *_OF_EVENTS, "each", "since", "per", "in_a_row", "sum")

TAKES: dict[str, tuple[str, ...]] = {
    "require": (*_NAMED, "for", *_OF_EVENTS, "each", "about"),
    "never": (*_NAMED, *_OF_EVENTS),
    "needs": (*_NAMED, "for", *_OF_EVENTS, "each", "about", "since"),
    "then": (*_NAMED, "for", *_OF_EVENTS, "each", "within"),
    "at_most": (*_NAMED, *_COUNTED, "counting"),
    "at_least": (*_NAMED, *_COUNTED),
    "exactly": (*_NAMED, *_COUNTED, "counting"),
    "scope": (*_NAMED, "for", *_OF_EVENTS),
    "python": _NAMED,
    "integrity": _NAMED,
}
"""The keys of each kind besides its own."""

GROUP = ("for", "when", "let", "level", "class", "missing", "rules")
"""The keys that rules share."""

KNOWN = tuple(dict.fromkeys((*KINDS, *(key for keys in TAKES.values() for key in keys), "rules")))
"""Every key that an entry of `rules` may have."""

WHY: dict[tuple[str, str], str] = {
    ("never", "for"): "`never` names its own event",
    ("at_least", "counting"): "a lower bound counts what `for` selects",
    ("python", "for"): "it is given the whole trace",
    ("python", "when"): "it is given the whole trace",
}
"""Reasons, where there is one worth giving."""


def takers(key: str) -> tuple[str, ...]:
    """Return the kinds that take a key."""
    return tuple(kind for kind in KINDS if key in TAKES[kind])
