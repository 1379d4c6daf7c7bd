"""The JSON Schema of contract files, for editors: made from the tables by which the loader itself reads.

It says what can be said of one file without reading expressions: keys, words, shapes, which keys go with which kind.
Everything else is for `outstep contract lint` to say.
docs: docs/editors.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from outstep.contracts import facts, including, keys, levels, scopes, tools, waivers
from outstep.contracts.described import DESCRIPTIONS
from outstep.contracts.model import SCHEMA
from outstep.contracts.names import EFFECTS
from outstep.contracts.schemas import KEYWORDS

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The one that editors know best."""


def contract_schema() -> Schema:
    """Return the schema of contract files."""
    # A file that others include may hold facts only: it needs no rules of its own.
    top = _map("contract", including.KEYS, required=("outstep",))
    return {
        "$schema": DRAFT,
        "$id": "https://outstep.dev/schemas/contract.v1.json",
        "title": "An Outstep contract (docs/language.md)",
        **top,
        "definitions": {name: make() for name, make in _DEFINITIONS.items()},
    }


def _map(place: str, known: Iterable[str], required: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a map with a fixed set of keys."""
    made: Schema = {"type": "object", "additionalProperties": False}
    if required:
        made["required"] = list(required)
    made["properties"] = {key: {**_SHAPES[place, key], "description": DESCRIPTIONS[place, key]} for key in known}
    return made


def _ref(name: str) -> Schema:
    # A reference stands alone in draft 7: what is beside it would be left unread.
    return {"allOf": [{"$ref": f"#/definitions/{name}"}]}


def _list_of(name: str, *, least: int = 1) -> Schema:
    item = {"$ref": f"#/definitions/{name}"}
    return {"anyOf": [item, {"type": "array", "minItems": least, "items": item}]}


def _named(name: str) -> Schema:
    return {"type": ["object", "null"], "additionalProperties": {"$ref": f"#/definitions/{name}"}}


def _words(words: Iterable[str]) -> Schema:
    return {"enum": list(words)}


_TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""What YAML reads as a number or a truth value stands for what was written."""
_FLAG: Schema = {"type": "boolean"}


def _rule() -> Schema:
    """Return the schema of an entry of `rules`: one kind with its keys, or a group."""
    entry = _map("rule", keys.KNOWN)
    forms = [{"required": [kind]} for kind in keys.KINDS]
    kinds = [
        {
            "if": {"required": [kind]},
            "then": {"required": ["id"], "propertyNames": {"enum": [kind, *keys.TAKES[kind]]}},
        }
        for kind in keys.KINDS
    ]
    group = {"if": {"required": ["rules"]}, "then": {"propertyNames": {"enum": list(keys.GROUP)}}}
    return {**entry, "oneOf": [*forms, {"required": ["rules"]}], "allOf": [*kinds, group]}


def _rules() -> Schema:
    """Return the schema of the section: outside of a group, a rule says itself what it is asked of."""
    asked = [kind for kind in keys.KINDS if "for" in keys.TAKES[kind] and kind != "scope"]
    needs_for = {
        "if": {"anyOf": [{"required": [kind]} for kind in asked]},
        "then": {"required": ["for"]},
    }
    return {"type": "array", "items": {"allOf": [{"$ref": "#/definitions/rule"}, needs_for]}}


def _fact() -> Schema:
    made = _map("fact", facts.KEYS, required=("from",))
    source = {"$ref": "#/definitions/source"}
    selector = {"$ref": "#/definitions/selector"}
    made["properties"]["from"] = {
        "anyOf": [selector, {"type": "array", "minItems": 1, "items": {"anyOf": [selector, source]}}],
        "description": DESCRIPTIONS["fact", "from"],
    }
    return made


def _forget() -> Schema:
    one = {"anyOf": [{"$ref": "#/definitions/selector"}, _map("forget", facts.FORGET_KEYS, required=("from",))]}
    return {"anyOf": [*one["anyOf"], {"type": "array", "items": one}]}


def _targets() -> Schema:
    made = {"type": "object", "additionalProperties": False}
    return {**made, "properties": {key: _list_of("expression") for key in tools.TARGETS}}


def _patterns() -> Schema:
    some: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
    outside = {"type": "object", "additionalProperties": False, "required": ["except"], "properties": {"except": some}}
    return {"anyOf": [*some["anyOf"], outside]}


def _scope() -> Schema:
    made: Schema = {"type": "object", "additionalProperties": False, "minProperties": 1}
    return {**made, "properties": {key: {"$ref": "#/definitions/patterns"} for key in scopes.KEYS}}


_DEFINITIONS: dict[str, Callable[[], Schema]] = {
    "selector": lambda: {"type": "string", "minLength": 1},
    "expression": lambda: {"type": ["string", "number", "boolean", "null"]},
    "texts": lambda: {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
    "patterns": _patterns,
    "tool": lambda: {**_map("tool", tools.KEYS), "type": ["object", "null"]},
    "arguments": lambda: {
        "type": ["object", "boolean"],
        "properties": {word: True for word in KEYWORDS},
        "description": "JSON Schema",
    },
    "targets": _targets,
    "fact": _fact,
    "source": lambda: _map("source", facts.SOURCE_KEYS, required=("from",)),
    "forget": _forget,
    "waiver": lambda: _map("waiver", waivers.KEYS, required=("rule", "owner", "reason", "until")),
    "scope": _scope,
    "rule": _rule,
    "rules": _rules,
    "inner": lambda: {"type": "array", "items": {"$ref": "#/definitions/rule"}},
    "message": lambda: {"anyOf": [_TEXT, {"type": "object", "additionalProperties": _TEXT}]},
}

_SELECTORS, _EXPRESSION, _EXPRESSIONS = _list_of("selector"), _ref("expression"), _list_of("expression")

_SHAPES: dict[tuple[str, str], Schema] = {
    ("contract", "outstep"): {"const": SCHEMA},
    ("contract", "id"): _TEXT,
    ("contract", "title"): _TEXT,
    ("contract", "include"): _ref("texts"),
    ("contract", "levels"): {"type": ["object", "null"], "additionalProperties": _words(levels.LEVELS)},
    ("contract", "stage"): _words(keys.CHOICES["stage"]),
    ("contract", "applies_when"): _EXPRESSION,
    ("contract", "params"): {"type": ["object", "null"], "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}},
    ("contract", "waivers"): {"type": "array", "items": {"$ref": "#/definitions/waiver"}},
    ("contract", "tools"): {**_named("tool"), "propertyNames": {"pattern": "^[^@ |\\t\\n][^ |\\t\\n]*$"}},
    ("contract", "facts"): {**_named("fact"), "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}},
    ("contract", "claims"): {**_named("texts"), "propertyNames": {"pattern": "^[^ |\\t\\n]+$"}},
    ("contract", "rules"): _ref("rules"),
    ("tool", "names"): _ref("texts"),
    ("tool", "effect"): _words(EFFECTS),
    ("tool", "tags"): _ref("texts"),
    ("tool", "args"): _ref("arguments"),
    ("tool", "reads"): _TEXT,
    **{("tool", key): _EXPRESSION for key in tools.OUTCOME_KEYS},
    ("tool", "targets"): _ref("targets"),
    ("fact", "from"): _SELECTORS,
    ("fact", "each"): _EXPRESSION,
    ("fact", "key"): _EXPRESSION,
    ("fact", "value"): _EXPRESSION,
    ("fact", "keep"): _words(keys.CHOICES["keep"]),
    ("fact", "forget"): _ref("forget"),
    ("source", "from"): _SELECTORS,
    ("source", "each"): _EXPRESSION,
    ("source", "key"): _EXPRESSION,
    ("source", "value"): _EXPRESSION,
    ("forget", "from"): _SELECTORS,
    ("forget", "key"): _EXPRESSION,
    **{("waiver", key): _TEXT for key in waivers.KEYS},
    ("waiver", "until"): {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    ("rule", "id"): {"type": ["string", "number", "boolean"], "pattern": "^[^\\s`|]+$", "maxLength": 200},
    ("rule", "for"): _SELECTORS,
    ("rule", "require"): _EXPRESSIONS,
    ("rule", "never"): _SELECTORS,
    ("rule", "needs"): _SELECTORS,
    ("rule", "then"): _SELECTORS,
    ("rule", "at_most"): _EXPRESSION,
    ("rule", "at_least"): _EXPRESSION,
    ("rule", "exactly"): _EXPRESSION,
    ("rule", "scope"): _ref("scope"),
    ("rule", "python"): {"type": "string", "pattern": "^[A-Za-z_][\\w.]*:[A-Za-z_]\\w*$"},
    ("rule", "level"): _words(keys.CHOICES["level"]),
    ("rule", "class"): _words(keys.CHOICES["class"]),
    ("rule", "judge"): _words(keys.CHOICES["judge"]),
    ("rule", "message"): _ref("message"),
    ("rule", "when"): _EXPRESSIONS,
    ("rule", "let"): {"type": ["object", "null"], "additionalProperties": {"$ref": "#/definitions/expression"}},
    ("rule", "after"): _SELECTORS,
    ("rule", "until"): _SELECTORS,
    ("rule", "missing"): _words(keys.CHOICES["missing"]),
    ("rule", "each"): _EXPRESSION,
    ("rule", "about"): _TEXT,
    ("rule", "since"): _SELECTORS,
    ("rule", "within"): {"type": "string", "pattern": "^\\s*(run|[0-9]{1,9} +(turn|event|second)s?)\\s*$"},
    ("rule", "per"): _EXPRESSIONS,
    ("rule", "in_a_row"): _FLAG,
    ("rule", "sum"): _EXPRESSION,
    ("rule", "counting"): _words(keys.CHOICES["counting"]),
    ("rule", "rules"): _ref("inner"),
}
"""What stands under each key of each map."""
