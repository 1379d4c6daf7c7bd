"""Whether arguments fit a tool's JSON Schema, and what omitted ones read as.

Common schemas (objects of typed members with bounds) are checked here and proven to fit without a library; whatever is
not proven goes to the `jsonschema` library, which also words the misfit. Patterns are RE2 on both ways, and nothing is
ever fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, Decimal),
}

_PROVABLE = frozenset(
    {"type", "properties", "required", "items", "additionalProperties", "enum", "const", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    | {"title", "description", "default", "examples", "$schema", "format"}
)
"""Keywords that are checked here; `format` and the describing ones demand nothing."""


def misfit(
    schema: dict[str, Any], value: Any, cache: dict[int, Any], hidden: Sequence[Sequence[str]] = ()
) -> str | None:
    """Return why a value does not fit a schema, or none; `cache` keeps what was prepared for a schema.

    What is wrong above, at or below a `hidden` path is left out: it may be the redaction that does not fit.
    """
    if proves_fit(schema, value):
        return None
    if not hidden and (absent := _first_absent(schema, value)) is not None:
        return f"/: {absent}"
    validator = cache.get(id(schema))
    if validator is None:
        validator = cache[id(schema)] = _validator(schema)
    if isinstance(validator, str):
        return validator
    try:
        found = [error for error in validator.iter_errors(value) if not _touches(list(map(str, error.path)), hidden)]
        errors = sorted(found, key=lambda error: (list(map(str, error.path)), error.message))
    except Exception as error:
        return f"the schema cannot be applied: {error}"
    if not errors:
        return None
    pointer = "".join(f"/{part}" for part in errors[0].path)
    return f"{pointer or '/'}: {errors[0].message[:200]}"


def mistake_in(schema: dict[str, Any]) -> str:
    """Return why a schema is none, or an empty text."""
    found = _validator(schema)
    return found if isinstance(found, str) else ""


def _first_absent(schema: dict[str, Any], value: Any) -> str | None:
    """Return what the library says first of an object without a member that it must have: to import it takes 50 ms.

    None where it may say something else first.
    """
    wanted = schema.get("required")
    if (
        type(value) is not dict
        or schema.get("type", "object") != "object"
        or not _OF_OBJECTS.issuperset(schema)
        or not isinstance(schema.get("properties", {}), dict)
        or not isinstance(wanted, list)
        or not all(isinstance(name, str) for name in wanted)
    ):
        return None
    return min((f"{name!r} is a required property" for name in wanted if name not in value), default="")[:200] or None


_OF_OBJECTS = _PROVABLE - {"enum", "const"}
"""Keywords of which the library tells nothing of an object itself before the members that it lacks."""


def _touches(path: Sequence[str], hidden: Sequence[Sequence[str]]) -> bool:
    return any(path[: len(place)] == place or place[: len(path)] == path for place in hidden)


def proves_fit(schema: Any, value: Any) -> bool:
    """Return true only if the value surely fits; false says nothing."""
    try:
        return _proves(schema, value)
    except (TypeError, AttributeError):
        return False  # a keyword of the wrong form, which the library words


def _proves(schema: Any, value: Any) -> bool:
    if schema is True:
        return True
    if not isinstance(schema, dict) or not _PROVABLE.issuperset(schema):
        return False
    kind = schema.get("type")
    if kind is not None and not _is_of(kind, value):
        return False
    if ("enum" in schema or "const" in schema) and not _is_listed(schema, value):
        return False
    if type(value) is dict:
        return _proves_object(schema, value)
    if type(value) is list:
        return "items" not in schema or all(_proves(schema["items"], item) for item in value)
    if type(value) is str:
        return bool(schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)))
    if type(value) in {int, Decimal}:
        return _is_within(schema, value)
    return True


def _is_within(schema: dict[str, Any], value: Any) -> bool:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return False
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(above, bool) or isinstance(below, bool):
        return False  # draft 4 wrote a truth value there
    return (above is None or bool(value > above)) and (below is None or bool(value < below))


def _is_listed(schema: dict[str, Any], value: Any) -> bool:
    if type(value) is not str:
        return False
    return value in schema.get("enum", (value,)) and bool(value == schema.get("const", value))


def _is_of(kind: Any, value: Any) -> bool:
    return isinstance(kind, str) and type(value) in _TYPES.get(kind, ())


def _proves_object(schema: dict[str, Any], value: dict[str, Any]) -> bool:
    members = schema.get("properties", {})
    if not all(name in value for name in schema.get("required", ())):
        return False
    others = schema.get("additionalProperties", True)
    return all(_proves(members.get(name, others), item) for name, item in value.items())


def _validator(schema: dict[str, Any]) -> Any:
    try:
        import jsonschema
        from jsonschema import Draft202012Validator, validators
        from referencing import Registry
    except ImportError:
        return "the `jsonschema` library is needed to check these arguments and is not installed"
    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer).redefine("number", _is_number)
    strict: Any = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"pattern": _pattern, "patternProperties": None}, type_checker=checker
    )
    try:
        strict.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"the schema is no JSON Schema: {error.message[:200]}"
    return strict(schema, registry=Registry())


def _is_integer(_: Any, value: Any) -> bool:
    return type(value) is int or (type(value) is Decimal and value == value.to_integral_value())


def _is_number(_: Any, value: Any) -> bool:
    return type(value) in {int, Decimal}


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Any:
    from jsonschema import ValidationError

    from outstep.expr.patterns import PatternError, compile_pattern

    if not isinstance(value, str):
        return
    try:
        if not compile_pattern(pattern).search(value):
            yield ValidationError(f"the text does not match `{pattern}`")
    except PatternError as error:
        yield ValidationError(f"the pattern `{pattern}` cannot be used: {error}")


def with_defaults(schema: dict[str, Any], value: Any) -> Any:
    """Return arguments in which every omitted member with a `default` reads as that; the value is not changed."""
    members = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(members, dict):
        return value
    filled = value
    for name, member in members.items():
        if not isinstance(member, dict):
            continue
        if name not in filled:
            if "default" in member:
                filled = {**filled, name: member["default"]}
        else:
            inner = with_defaults(member, filled[name])
            if inner is not filled[name]:
                filled = {**filled, name: inner}
    return filled
