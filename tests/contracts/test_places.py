"""A mistake in an expression stands where it was written, however YAML was told the text."""

from __future__ import annotations

import pytest

from tests.contracts.loading import problems


@pytest.mark.parametrize(
    ("scalar", "line", "column"),
    [
        ("args.x == oops", 4, 24),
        ('"args.x == oops"', 4, 25),
        ("'args.x == oops'", 4, 25),
        ("'args.x == ''a'' || oops'", 4, 34),
        ('"args.x == \\"a\\" || oops"', 4, 34),
        ('"\\u0061rgs.x == oops"', 4, 30),
        ("args.x ==\n      oops", 5, 7),
        ("args.x ==\n\n      oops", 6, 7),
        ("'args.x ==\n      oops'", 5, 7),
        ('"args.x == \\\n      oops"', 5, 7),
        (">-\n      args.x\n      == oops", 6, 10),
        (">-\n      args.x ==\n        oops", 6, 9),
        (">\n      args.x ==\n\n      oops\n", 7, 7),
        ("|\n      args.x ==\n        oops", 6, 9),
        ("|-\n\n      args.x == oops", 6, 17),
        ("|2-\n      args.x == oops", 5, 17),
        ("退款 + args.x", 4, 14),
    ],
)
def test_an_unknown_name_is_found_in_every_style(scalar: str, line: int, column: int) -> None:
    (found,) = problems(f"outstep: contract/v1\nrules:\n  - for: call *\n    require: {scalar}\n    id: R\n")
    assert found.place is not None
    assert (found.place.line, found.place.column) == (line, column)
    if "退" not in scalar:
        assert found.code == "contract/unknown-name"
        assert found.underline is not None
        assert found.excerpt[slice(*found.underline)] == "oops"


@pytest.mark.parametrize(
    ("scalar", "line", "column"),
    [
        ("call * where args.x == oops", 3, 33),
        ("call *   where   oops", 3, 27),
        (">-\n      call *\n      where oops", 5, 13),
        ("'call * where args.x == ''a'' || oops'", 3, 43),
    ],
)
def test_an_expression_behind_where_has_its_own_place(scalar: str, line: int, column: int) -> None:
    (found,) = problems(f"outstep: contract/v1\nrules:\n  - for: {scalar}\n    require: args.x == 1\n    id: R\n")
    assert found.place is not None
    assert (found.place.line, found.place.column) == (line, column)


def test_an_expression_in_a_message_has_its_own_place() -> None:
    rule = "  - for: call *\n    require: args.x == 1\n    message: over {args.x} by {oops}\n    id: R\n"
    text = "outstep: contract/v1\nrules:\n" + rule
    (found,) = problems(text)
    assert str(found.place) == "contract.yaml:5:32"


def test_a_selector_inside_known_is_shown_at_the_text() -> None:
    text = 'outstep: contract/v1\nrules:\n  - for: call *\n    require: known(args.x, "result where oops")\n    id: R\n'
    (found,) = problems(text)
    assert str(found.place) == "contract.yaml:4:28"


def test_two_mistakes_in_one_expression_are_both_told() -> None:
    text = "outstep: contract/v1\nrules:\n  - for: call *\n    require: oops == 1 && nope(args.x)\n    id: R\n"
    assert [str(found.place) for found in problems(text)] == ["contract.yaml:4:14", "contract.yaml:4:27"]


def test_a_long_line_is_shown_in_part() -> None:
    require = " && ".join(["args.x == 1"] * 200)
    text = f"outstep: contract/v1\nrules:\n  - for: call *\n    require: {require} && oops\n    id: R\n"
    (found,) = problems(text)
    assert len(found.excerpt) <= 240
    assert found.underline is not None
    assert found.excerpt[slice(*found.underline)] == "oops"
