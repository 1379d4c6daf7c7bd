"""What becomes of a vector of CEL's conformance suite here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from outstep.expr.check import Scope, check
from outstep.expr.evaluate import evaluate
from outstep.expr.lex import ExprError
from outstep.expr.nodes import Node
from outstep.expr.parse import parse
from outstep.expr.values import Duration, Missing, Moment, Value, show
from tests.expr.expr_worlds import World

FOLDER = Path(__file__).parent / "conformance"
DEVIATIONS: dict[str, dict[str, str]] = json.loads((FOLDER / "deviations.json").read_text("utf-8"))

REASONS = (
    ("messages", r"messages \(`Type|`(msg|TestAllTypes|google|GlobalEnum)`"),
    ("bytes", r"bytes are not offered"),
    ("unsigned ints", r"unsigned ints are not offered"),
    ("types as values", r"`(dyn|type)\b|nothing is called `(bool|int|uint|double|null_type|string|bytes|list|map)`"),
    (
        "network, math, encoders, format: extensions that are not offered",
        r"`(net|math|base64|strings|ip|cidr)\b|`format` is not",
    ),
    ("`cel.block`, `cel.bind`: forms for compilers", r"`cel`|needs a plain name"),
    ("functions that are not offered", r"is not offered|no function|no method|is no function|unknown function"),
    ("names with dots", r"nothing is called `\w+` here|is the `\w+` outside"),
    ("named time zones", r"is no offset such as"),
)
"""Why expressions are refused at load: a word for docs/cel.md, and what our message says."""


class NotOffered(Exception):
    """A vector is about a type of CEL that does not exist here."""


def vectors() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every vector with its file."""
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if line:
                yield path.stem, json.loads(line)


def given(told: list[Any]) -> Value:
    """Return a value of a vector as one of ours."""
    kind, value = told
    if kind in ("bool", "null", "string"):
        return value
    if kind == "int":
        return int(value)
    if kind == "double":
        return Decimal(value)
    if kind == "list":
        return [given(item) for item in value]
    if kind == "map":
        return {given(key): given(item) for key, item in value}
    if kind == "duration":
        return Duration(int(value[0]) * 10**9 + int(value[1]))
    if kind == "timestamp":
        return Moment(int(value[0]) * 10**9 + int(value[1]))
    words = {"uint": "unsigned ints", "message": "messages", "other": "enums", "type": "types as values"}
    raise NotOffered(words.get(kind, kind))


def is_same(told: list[Any], ours: Value) -> bool:
    """Return whether our value is the one of the vector."""
    kind, value = told
    if kind == "double" and Decimal(value).is_nan():
        return False
    wanted = given(told)
    if kind == "list":
        return isinstance(ours, list) and len(ours) == len(value) and all(map(is_same, value, ours))
    if kind == "map":
        if not isinstance(ours, dict) or len(ours) != len(value):
            return False
        return all(any(is_same(key, k) and is_same(item, v) for k, v in ours.items()) for key, item in value)
    if kind in ("int", "double"):
        return type(ours) in (int, Decimal) and bool(ours == wanted)
    return type(ours) is type(wanted) and bool(ours == wanted)


def fate(vector: dict[str, Any]) -> tuple[str, str]:
    """Return what becomes of a vector: `same`, `stricter`, `deviates`, `refused` or `wrong`; and why, or our value."""
    if "container" in vector and vector["name"].startswith("namespace/"):
        return "refused", "containers"
    wanted: list[Any] = vector.get("value", ["none", None])
    node: Node | None = None
    try:
        names = {name: given(value) for name, value in vector.get("bindings", {}).items()}
        if "error" not in vector:
            if wanted[0] == "none":
                return "refused", "vectors that ask for a type and no value"
            given(wanted)
        node = parse(vector["expr"])
        mistakes = [str(error) for error in check(node, Scope(tuple(names)))]
    except ExprError as error:
        mistakes = [str(error)]
    except NotOffered as error:
        return "refused", str(error)
    if mistakes:
        reason = next((word for word, pattern in REASONS if re.search(pattern, mistakes[0])), None)
        if reason is not None:
            return "refused", reason
        # What CEL calls an error at run time is mostly seen before, also where a part is never asked for its value.
        if "error" in vector:
            return "same", ""
        if node is None or not is_same(wanted, evaluate(node, World(names))):
            return _deviation(vector, f"refused: {mistakes[0]}")
        return "stricter", "a part that can never have a value is a mistake at load"
    assert node is not None
    ours = evaluate(node, World(names))
    if isinstance(ours, Missing) if "error" in vector else is_same(wanted, ours):
        return "same", ""
    return _deviation(vector, "missing" if isinstance(ours, Missing) else show(ours))


def _deviation(vector: dict[str, Any], ours: str) -> tuple[str, str]:
    known = DEVIATIONS.get(vector["name"])
    return ("deviates", known["deviation"]) if known is not None and known["ours"] == ours else ("wrong", ours)
