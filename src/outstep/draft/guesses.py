"""What the names and calls of a tool suggest: whether it reads or writes, and what its arguments are."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from re import compile as linear_pattern
from typing import Any

_WORDS = linear_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_READS = frozenset(
    (
        *("get", "list", "search", "find", "read", "check", "lookup", "look", "fetch", "show"),
        *("view", "query", "describe", "calculate", "compute", "verify", "validate", "think", "grep", "glob"),
        *("ls", "cat", "inspect", "retrieve", "browse", "preview", "estimate"),
    )
)
_WRITES = frozenset(
    (
        *("create", "update", "delete", "cancel", "send", "modify", "transfer", "write", "edit", "set"),
        *("add", "remove", "pay", "deploy", "insert", "post", "put", "patch", "replace", "apply"),
        *("submit", "approve", "reject", "issue", "move", "rename", "drop", "reset", "enable", "disable"),
        *("toggle", "grant", "revoke", "buy", "sell", "reopen", "assign", "merge", "push", "commit"),
        *("upload", "publish", "escalate", "suspend", "resume", "make"),
    )
)
_READ_NOUNS = frozenset(("policy", "status", "details", "detail", "info", "count", "balance", "history"))
_WRITE_NOUNS = frozenset(
    ("book", "refund", "exchange", "return", "charge", "order", "purchase", "schedule", "open", "close")
)
_NO_IDS = frozenset(("date", "time", "zip", "phone", "dob", "birth", "birthday", "year", "amount", "price", "address"))
NAME = linear_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_WORD = linear_pattern(r"[a-z][a-z0-9_ -]{0,30}|[A-Z][A-Z_]{4,30}")
"""A word of a fixed list; codes of three or four capitals have too many siblings."""
MOST_ARGUMENTS = 24
MOST_VALUES = 6
ENOUGH = 6
"""Calls from which on a few words seem to be all that there are."""


def effect_of(tool: str) -> str:
    """Return `read`, `write` or nothing, by the first and the last word of a name: verbs before nouns."""
    words = [word.lower() for word in _WORDS.findall(tool)]
    ends = (*words[:1], *words[-1:])
    for reads, writes in ((_READS, _WRITES), (_READ_NOUNS, frozenset()), (frozenset(), _WRITE_NOUNS)):
        for word in ends:
            if word in reads:
                return "read"
            if word in writes:
                return "write"
    return ""


def is_id(name: str, values: Sequence[Any]) -> bool:
    """Return whether an argument seems to name a thing: by its own name, or by values that hold digits."""
    last = [word.lower() for word in _WORDS.findall(name)][-1:]
    if not all(isinstance(value, str | int) and not isinstance(value, bool) and value != "" for value in values):
        return False
    if last in (["id"], ["ids"], ["number"], ["key"], ["code"], ["email"], ["sku"]):
        return True
    if last and last[0] in _NO_IDS:
        return False
    return all(
        isinstance(value, str)
        and len(value) >= 4
        and any(sign.isdigit() for sign in value)
        and " " not in value
        and "-" not in value[4:5]
        for value in values
    )


def schema_of(calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON Schema of the arguments: types, and which were always given."""
    return _object(calls, 0)


def _object(values: Sequence[dict[str, Any]], depth: int) -> dict[str, Any]:
    names = dict.fromkeys(name for value in values for name in value if NAME.fullmatch(name))
    listed = list(names)[:MOST_ARGUMENTS]
    made: dict[str, Any] = {"type": "object"}
    required = [name for name in listed if all(name in value for value in values)]
    if required:
        made["required"] = required
    if listed:
        made["properties"] = {
            name: _value([value[name] for value in values if name in value], depth + 1) for name in listed
        }
    return made


def _value(values: Sequence[Any], depth: int) -> dict[str, Any]:
    types = list(dict.fromkeys(_type(value) for value in values))
    if "number" in types and "integer" in types:
        types.remove("integer")
    made: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if types == ["string"] and (words := _few_words(values)):
        made["enum"] = words
    if types == ["object"] and depth < 3:
        made = _object(values, depth)
    if types == ["array"] and depth < 3 and (items := [item for value in values for item in value]):
        made["items"] = _value(items, depth + 1)
    return made


def _few_words(values: Sequence[str]) -> list[str]:
    """Return the words that a text is one of, where the calls leave little doubt that there are no others."""
    words = sorted(set(values))
    is_evident = len(words) <= MOST_VALUES and len(values) >= ENOUGH * len(words) and len(words) > 1
    if is_evident and all(_WORD.fullmatch(word) and values.count(word) > 1 for word in words):
        return words
    return []


def _type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, Decimal | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
