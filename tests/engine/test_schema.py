"""Arguments are held against the tool's JSON Schema, in the way that needs no library and in the library's."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from outstep.contracts.fitting import _first_absent, _validator, misfit, proves_fit, with_defaults

ORDER = {
    "type": "object",
    "required": ["id", "amount"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "amount": {"type": "number", "exclusiveMinimum": 0, "maximum": 100},
        "kind": {"type": "string", "enum": ["full", "partial"], "default": "full"},
    },
    "additionalProperties": False,
}

FITS: list[Any] = [
    {"id": "A1", "amount": 1},
    {"id": "A1", "amount": Decimal("99.99"), "kind": "partial"},
]
MISFITS: list[tuple[Any, str]] = [
    ({"id": "A1"}, "amount"),
    ({"id": "", "amount": 1}, "/id"),
    ({"id": "A1", "amount": 0}, "/amount"),
    ({"id": "A1", "amount": "1"}, "/amount"),
    ({"id": "A1", "amount": True}, "/amount"),
    ({"id": "A1", "amount": 1, "kind": "other"}, "/kind"),
    ({"id": "A1", "amount": 1, "more": 1}, "more"),
    ([], "/"),
]


@pytest.mark.parametrize("value", FITS)
def test_arguments_that_fit_are_proven_to_fit_without_the_library(value: Any) -> None:
    assert proves_fit(ORDER, value)
    assert misfit(ORDER, value, {}) is None


@pytest.mark.parametrize(("value", "named"), MISFITS)
def test_arguments_that_do_not_fit_are_named(value: Any, named: str) -> None:
    assert not proves_fit(ORDER, value)
    found = misfit(ORDER, value, {})
    assert found is not None
    assert named in found


@pytest.mark.parametrize(
    "value", [{}, {"id": 1}, {"id": "", "more": 1}, {"amount": "x"}, {"amount": 1, "more": 1}, {"kind": "other"}]
)
def test_a_member_that_is_lacking_is_told_without_the_library_as_the_library_tells_it(value: Any) -> None:
    first = min(_validator(ORDER).iter_errors(value), key=lambda error: (list(map(str, error.path)), error.message))
    assert _first_absent(ORDER, value) == first.message
    assert misfit(ORDER, value, {}) == f"/: {first.message}"


def test_a_whole_number_written_with_a_point_is_an_integer() -> None:
    assert misfit({"type": "integer"}, Decimal("2.0"), {}) is None
    assert misfit({"type": "integer"}, Decimal("2.5"), {}) is not None


@pytest.mark.parametrize(
    "schema",
    [{"minimum": "x"}, {"type": "object", "properties": []}, {"exclusiveMinimum": True}, {"minLength": None}],
)
def test_a_keyword_of_the_wrong_form_proves_nothing(schema: Any) -> None:
    assert not proves_fit(schema, {"a": 1} if "properties" in schema else "text" if "minLength" in schema else 5)


def test_a_pattern_is_linear_in_the_text() -> None:
    assert misfit({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "b", {}) is not None


def test_an_omitted_argument_reads_as_its_default_and_nothing_is_changed() -> None:
    value = {"id": "A1", "amount": 1}
    assert with_defaults(ORDER, value) == {"id": "A1", "amount": 1, "kind": "full"}
    assert value == {"id": "A1", "amount": 1}
