"""Compiled code gives what the evaluator gives, or gives up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.compile import Constants, compile_truth, compile_value
from outstep.expr.evaluate import evaluate
from outstep.expr.nodes import Name, Node
from outstep.expr.parse import parse
from outstep.expr.values import Absent, CutText, Hidden, Missing, TooCostly, Undecided, Value
from tests.expr.expr_worlds import Facts, World, clear_values, expressions, state_of, typed_expressions, values, worlds

GAVE_UP = object()


def bind(node: Node) -> str | None:
    return f"names[{node.name!r}]" if isinstance(node, Name) else None


def run(text: str, names: Mapping[str, Value], absent: Absent = "missing") -> object:
    pool = Constants()
    code = compile_value(parse(text), bind, pool, absent)
    try:
        return eval(code, {**pool.namespace, "names": names})
    except Exception:
        return GAVE_UP


@given(expressions | typed_expressions(), worlds(values), st.sampled_from(["missing", "null"]))
@settings(max_examples=800)
def test_what_compiled_code_gives_the_evaluator_gives(text: str, names: dict[str, Value], absent: Absent) -> None:
    compiled = run(text, names, absent)
    if compiled is not GAVE_UP:
        expected = evaluate(parse(text), World(names), absent)
        assert type(expected) not in (Missing, Hidden), text
        assert state_of(compiled) == state_of(expected), text


@given(expressions | typed_expressions(), worlds(clear_values), st.sampled_from(["missing", "null"]))
@settings(max_examples=700)
def test_what_compiled_truths_give_the_evaluator_gives(text: str, names: dict[str, Value], absent: Absent) -> None:
    pool = Constants()
    code = compile_truth(parse(text), bind, pool, absent)
    try:
        compiled = eval(code, {**pool.namespace, "names": names})
    except Exception:
        return
    assert type(compiled) is bool
    assert compiled is evaluate(parse(text), World(names), absent)


COMPILED = [
    ('x.a == "PAID"', {"x": {"a": "PAID"}}, True),
    ("x.a > 0 && x.a <= 10", {"x": {"a": 5}}, True),
    ("x.a != null", {"x": {"a": 0}}, True),
    ("has(x.a.b)", {"x": {}}, False),
    ('x.a in ["b", "c"]', {"x": {"a": "c"}}, True),
    ("l.all(i, i.q > 1)", {"l": [{"q": 2}, {"q": 3}]}, True),
    ("l.exists(i, l.exists(j, i + j == 5))", {"l": [1, 4]}, True),
    ("l.map(i, i > 1, i * 2)", {"l": [1, 2, 3]}, [4, 6]),
    ("l.filter(i, i > 1)", {"l": [1, 2, 3]}, [2, 3]),
    ("l.exists_one(i, i == 1)", {"l": [1, 2]}, True),
    ("l.exists(k, i, k == 1 && i == 2)", {"l": [1, 2]}, True),
    ('s.matches("^a+$") && s.startsWith("a")', {"s": "aaa"}, True),
    ("x.?a.b.orValue(7)", {"x": {}}, 7),
    ("f[s] == null", {"f": Facts({}), "s": "k"}, True),
    ("s in f", {"f": Facts({"k": 1}), "s": "k"}, True),
    ('x["a"] + 1.5 == 2.5', {"x": {"a": 1}}, True),
    ("t ? 1 : x.a", {"t": True, "x": {}}, 1),
    ("{'a': [x, 1]}", {"x": 1}, {"a": [1, 1]}),
]


@pytest.mark.parametrize(("text", "names", "expected"), COMPILED)
def test_the_usual_forms_are_compiled(text: str, names: dict[str, Value], expected: Value) -> None:
    assert state_of(run(text, names)) == state_of(expected)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x == 1", {"x": True}),
        ("x == 0", {"x": False}),
        ("x in [1]", {"x": True}),
        ("x == true", {"x": 1}),
        ("[x] == [1]", {"x": True}),
        ('{"a": x} == {"a": 0}', {"x": False}),
        ("l.exists(i, i == 1)", {"l": [True]}),
    ],
)
def test_truth_values_are_no_numbers(text: str, names: dict[str, Value]) -> None:
    assert run(text, names) is False


@pytest.mark.parametrize(
    "undecided", [Missing("gone"), Hidden("redacted"), CutText("abc")], ids=["missing", "hidden", "cut"]
)
@pytest.mark.parametrize(
    "text",
    [
        *("x == null", "x != 'abc'", "x < 'b'", "x + x", "x in ['abc']", "x in {'a': 1}", "['q'].exists(i, i == x)"),
        *("x.a", "x[0]", "has(x.a)", "x ? 1 : 2", "!x", "x && true", "x.contains('zzz')", "size(x)", "{'a': 1}[x]"),
        *("l.map(i, i == 'abc')", "l.all(i, i != 'zzz')", "l == ['abc']", "'zzz' in l", "l.sum()", "mentions(l, 'q')"),
    ],
)
def test_an_undecided_value_never_gives_a_compiled_one(text: str, undecided: Value) -> None:
    assert run(text, {"x": undecided, "l": [undecided]}) is GAVE_UP
    assert run(text, {"x": undecided, "l": [undecided]}, "null") is GAVE_UP


@pytest.mark.parametrize("undecided", [Missing("gone"), Hidden("redacted")])
def test_undecided_values_refuse_every_use(undecided: Value) -> None:
    uses: list[Callable[[], object]] = [
        *(lambda: undecided == 1, lambda: undecided != 1, lambda: undecided < 1, lambda: undecided > 1),
        *(lambda: bool(undecided), lambda: hash(undecided), lambda: undecided["a"], lambda: "a" in undecided),
        *(lambda: list(undecided), lambda: undecided + 1, lambda: 1 + undecided, lambda: -undecided),
        *(lambda: len(undecided), lambda: undecided in [1], lambda: undecided in {1}, lambda: undecided == "a"),
    ]
    for use in uses:
        with pytest.raises(Undecided):
            use()


def test_the_engine_is_asked_first_at_every_node_but_not_about_variables_of_macros() -> None:
    asked: list[str] = []

    def asking(node: Node) -> str | None:
        if isinstance(node, Name):
            asked.append(node.name)
            return f"names[{node.name!r}]"
        return None

    pool = Constants()
    code = compile_value(parse("l.all(x, x > y)"), asking, pool)
    assert asked == ["l", "y"]
    assert eval(code, {**pool.namespace, "names": {"l": [2], "y": 1, "x": 0}}) is True


def test_deep_expressions_are_left_to_the_evaluator() -> None:
    text = "!(" * 90 + "t" + ")" * 90
    assert run(text, {"t": True}) is GAVE_UP
    assert evaluate(parse(text), World({"t": True})) is True


def test_nested_loops_over_long_lists_are_left_to_the_evaluator_which_stops() -> None:
    names = {"l": list(range(3000))}
    text = "l.all(i, l.all(j, l.all(k, i + j + k >= 0)))"
    assert run(text, names) is GAVE_UP
    with pytest.raises(TooCostly):
        evaluate(parse(text), World(names))


def test_equal_constants_share_a_name_but_true_and_1_do_not() -> None:
    pool = Constants()
    first, second, third = pool.ref("a" * 70), pool.ref("a" * 70), pool.ref(True)
    assert first == second
    assert third != pool.ref(1)


def test_generated_code_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from outstep.expr.compile import *; from outstep.expr.nodes import Name\n"
        "from outstep.expr.parse import parse\n"
        'print(compile_value(parse(\'x in ["b", "a", "c"] && s.matches("a")\'),'
        " lambda n: n.name if isinstance(n, Name) else None, Constants()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
