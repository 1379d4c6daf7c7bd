"""A light look at the JSON Schema of a tool's arguments: is it one, and does it say what its author means?"""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from typing import Any

from msgspec import Struct

from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.report import Report
from outstep.expr.function import BOOL, LIST, NUMBER, OBJECT, TEXT, Kind

TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")

_SHAPES: dict[str, tuple[str, ...]] = {
    "schemas by name": ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"),
    "schema": (
        *("additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"),
        *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
    ),
    "schemas": ("allOf", "anyOf", "oneOf", "prefixItems"),
    "count": (
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        *("minContains", "maxContains"),
    ),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "anything": (
        *("$schema", "$id", "$ref", "$anchor", "$comment", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "title"),
        *("description", "default", "examples", "const", "format", "dependentRequired", "dependencies", "uniqueItems"),
        *("contentEncoding", "contentMediaType", "contentSchema", "deprecated", "readOnly", "writeOnly", "nullable"),
        *("enum", "type", "required", "pattern"),
    ),
}
_SHAPE = {word: shape for shape, words in _SHAPES.items() for word in words}
KEYWORDS = tuple(_SHAPE)
"""What the drafts of JSON Schema know."""

_KINDS: dict[str, Kind] = {
    "null": frozenset({type(None)}),
    "boolean": BOOL,
    "object": OBJECT,
    "array": LIST,
    "number": NUMBER,
    "string": TEXT,
    "integer": NUMBER,  # `1.0` is an integer for JSON Schema
}


def argument_kinds(schemas: list[Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Kind]:
    """Return what schemas say of the values below a path, where each of them says it."""
    found = [dict(_kinds(schema, path)) for schema in schemas]
    if not found:
        return {}
    shared = [place for place in found[0] if all(place in other for other in found[1:])]
    return {place: frozenset().union(*(other[place] for other in found)) for place in shared}


def _kinds(schema: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Kind]]:
    if not isinstance(schema, dict) or len(path) > 6:
        return []
    found: list[tuple[tuple[str, ...], Kind]] = []
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        words = inner.get("type") if isinstance(inner, dict) else None
        words = words if isinstance(words, list) else [words]
        if all(isinstance(word, str) and word in _KINDS for word in words):
            found.append(((*path, name), frozenset().union(*(_KINDS[word] for word in words))))
        found.extend(_kinds(inner, (*path, name)))
    return found


class Strange(Struct, frozen=True):
    """A member that schemas do not name."""

    depth: int
    """How many members stand before it on its path."""
    known: tuple[str, ...]
    """Those that they name in its place."""
    is_refused: bool
    """Whether they allow no others."""


def strange_member(schemas: Ordered[Any], path: tuple[str, ...]) -> Strange | None:
    """Return the first member on a path that none of the schemas names; none where one of them says nothing of it."""
    found = [_strange(schema, path) for schema in schemas]
    first = found[0] if found else None
    if first is None or any(one is None or one.depth != first.depth for one in found):
        return None
    known = tuple(dict.fromkeys(name for one in found if one is not None for name in one.known))
    return Strange(first.depth, known, all(one is not None and one.is_refused for one in found))


def _strange(schema: Any, path: tuple[str, ...]) -> Strange | None:
    for depth, member in enumerate(path):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(properties, dict) or not properties or any(word in schema for word in _ELSEWHERE):
            return None
        if member not in properties:
            return Strange(depth, tuple(properties), schema.get("additionalProperties") is False)
        schema = properties[member]
    return None


_ELSEWHERE = ("patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
"""Words with which a schema may name members in another place."""


def check_schema(node: Node, report: Report) -> None:
    """Report what cannot be a JSON Schema, and warn of words that none of its drafts knows."""
    rest: list[Node] = [node]
    while rest:
        node = rest.pop()
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            continue
        if not isinstance(node, Mapping):
            report.error("value", "a JSON Schema is a map, or `true` or `false`", node.span)
            continue
        for key, value in node.entries:
            rest.extend(_check_keyword(key, value, report))


def _check_keyword(key: Scalar, value: Node, report: Report) -> list[Node]:
    """Check the value of one keyword; return the schemas in it."""
    word = key.text
    shape = _SHAPE.get(word)
    if shape == "schemas by name":
        if isinstance(value, Mapping):
            return [schema for _, schema in value.entries]
        report.error("value", f"`{word}` is a map of schemas", value.span)
    elif shape == "schemas" or (word == "items" and isinstance(value, Sequence)):
        if isinstance(value, Sequence) and value.items:
            return list(value.items)
        report.error("value", f"`{word}` is a list of schemas", value.span)
    elif shape == "schema":
        return [value]
    elif word in _CHECKS:
        _CHECKS[word](word, value, report)
    elif shape in ("count", "number"):
        _check_number(word, value, report, least=0 if shape == "count" else None)
    elif shape is None and not word.startswith("x-") and (near := report.similar(word, KEYWORDS)):
        report.warning("unknown-key", f"JSON Schema has no keyword `{word}`, so it says nothing", key.span, near)
    return []


def _check_type(word: str, value: Node, report: Report) -> None:
    for item in value.items if isinstance(value, Sequence) else (value,):
        if not isinstance(item, Scalar) or item.value not in TYPES:
            shown = f", not `{item.text}`" if isinstance(item, Scalar) else ""
            near = report.similar(item.text, TYPES) if isinstance(item, Scalar) else ""
            help = near or f'one of {", ".join(f"`{name}`" for name in TYPES if name != "null")}, or `"null"`'
            report.error("value", f"`{word}` names a JSON type{shown}", item.span, help)


def _check_required(word: str, value: Node, report: Report) -> None:
    if not isinstance(value, Sequence) or not all(
        isinstance(item, Scalar) and item.kind == "text" for item in value.items
    ):
        report.error("value", f"`{word}` is a list of names", value.span)


def _check_enum(word: str, value: Node, report: Report) -> None:
    if not isinstance(value, Sequence) or not value.items:
        report.error("value", f"`{word}` is a list of values", value.span)


def _check_pattern(word: str, value: Node, report: Report) -> None:
    from outstep.expr.patterns import PatternError, compile_pattern

    if not isinstance(value, Scalar) or value.kind != "text":
        report.error("value", f"`{word}` is a regular expression, as text", value.span)
        return
    try:
        compile_pattern(value.text)
    except PatternError as error:
        report.error("regex", f"`{word}`: {error.sentence}", value.span)


def _check_number(word: str, value: Node, report: Report, least: int | None = None) -> None:
    if not isinstance(value, Scalar) or value.kind not in ("int", "number"):
        report.error("value", f"`{word}` is a number", value.span)
    elif least is not None and value.value < least:  # type: ignore[operator]
        report.error("value", f"`{word}` is a number that is not negative", value.span)


_CHECKS = {"type": _check_type, "required": _check_required, "enum": _check_enum, "pattern": _check_pattern}
