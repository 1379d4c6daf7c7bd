"""Whether some event could make conditions true: what is called impossible is so for every value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.expr.evaluate import evaluate
from outstep.expr.logic import NO_LETS, Lets, constant, impossible, surely
from outstep.expr.parse import parse
from outstep.expr.values import Missing

VALUES: list[Any] = [None, True, False, 0, 1, 2, 3, "", "a", "b", Missing("gone")]


class Bound:
    def __init__(self, x: Any, y: Any) -> None:
        self._names = {"x": x, "y": y}

    def lookup(self, name: str) -> Any:
        return self._names[name]

    def function(self, name: str, args: tuple[Any, ...]) -> Any:
        del name, args
        return NotImplemented


@pytest.mark.parametrize(
    "texts",
    [
        ["x > 3", "x < 2"],
        ["x > 3", "x <= 3"],
        ["x == 1", 'x == "1"'],
        ["x in [1, 2]", "x == 3"],
        ["x in [1, 2]", "!(x in [2, 1])"],
        ["x.a", "!x.a"],
        ['x["a"] == 1', "x.a == 2"],
        ["x < y", "y < x"],
        ["x < y", "y == x"],
        ["!(x == x)"],
        ["x < x"],
        ["x == 1 || x == 2", "x == 3"],
        ["x ? y : !y", "y", "!x"],
        ["x > 3", 'x < "a"'],
        ["x == null", "x > 1"],
        ["1 == 2"],
    ],
)
def test_what_excludes_itself_is_impossible(texts: list[str]) -> None:
    assert impossible([parse(text) for text in texts], NO_LETS)


@pytest.mark.parametrize(
    "texts",
    [["x > 3", "x < 4"], ["x == 1", "x == 1.0"], ["x <= y", "y <= x"], ["x != y"], ["x", "y"], ["f(x)", "!f(y)"]],
)
def test_what_may_be_is_possible(texts: list[str]) -> None:
    assert not impossible([parse(text) for text in texts], NO_LETS)


def test_names_of_let_are_looked_through() -> None:
    lets = Lets({"paid": parse("x.state == 1")})
    assert impossible([parse("paid"), parse("x.state == 2")], lets)
    assert surely(parse("!never"), Lets({"never": parse("1 > 2")})) is True


def test_names_that_use_each_other_twice_cost_no_more_than_once() -> None:
    chain = {f"a{n}": parse(f"a{n + 1} && a{n + 1}") for n in range(60)}
    chain |= {f"b{n}": parse(f"b{n + 1} + b{n + 1}") for n in range(60)}
    lets = Lets({**chain, "a60": parse("x"), "b60": parse("y")})
    assert impossible([parse("a0"), parse("!x")], lets)
    assert impossible([parse("b0 > 3"), parse("b0 < 3")], lets)
    assert surely(parse("a0"), lets) is None


def test_what_reads_nothing_is_a_constant() -> None:
    assert constant(parse("1 + 2 * 3")) == 7
    assert isinstance(constant(parse("x + 1")), Missing)
    assert isinstance(constant(parse("known(1)")), Missing)


leaves = st.sampled_from(
    [
        *("x", "y", "x == 1", "x != 1", "x < 2", "x >= 2", "x < y", "x == y", "y > x", 'x == "a"', "x in [1, 2]"),
        *("1 < x", "x == true", "y == null", "1 == 1", "x <= y", "y != x"),
    ]
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds("!({})".format, inner),
        st.builds("({}) && ({})".format, inner, inner),
        st.builds("({}) || ({})".format, inner, inner),
        st.builds("(({}) ? ({}) : ({}))".format, inner, inner, inner),
    ),
    max_leaves=6,
)


@given(conditions)
def test_the_evaluator_never_gives_true_for_what_is_impossible(text: str) -> None:
    node = parse(text)
    if impossible([node], NO_LETS):
        assert not any(evaluate(node, Bound(x, y)) is True for x in VALUES for y in VALUES)


@given(conditions)
def test_the_evaluator_always_gives_what_is_sure(text: str) -> None:
    node = parse(text)
    value = surely(node, NO_LETS)
    if value is not None:
        assert all(evaluate(node, Bound(x, y)) is value for x in VALUES for y in VALUES)
