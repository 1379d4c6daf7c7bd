"""What is asked of a tree: names, paths, conjuncts."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from outstep.expr.nodes import conjuncts, names_of, paths_of, walk
from outstep.expr.parse import parse
from outstep.expr.values import Maybe, Missing, Undecided, key_of, show
from outstep.expr.written import text_of

NAMES = [
    ("a.b == c", ("a", "c")),
    ("c + a + c", ("c", "a")),
    ("a.all(i, i > b)", ("a", "b")),
    ("a.all(i, v, i > v)", ("a",)),
    ("i + a.map(i, i)", ("i", "a")),
    ("a.map(i, a.map(j, i + j + k))", ("a", "k")),
    ("i.exists(i, i)", ("i",)),
    ("mentions(text, this.args.id)", ("text", "this")),
    ("has(a.b) && {k: v}[x] == [y]", ("a", "k", "v", "x", "y")),
    ("1 + 2", ()),
]


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_the_free_names_of(text: str, expected: tuple[str, ...]) -> None:
    assert names_of(parse(text)) == expected


PATHS = [
    ("data.a.b + data.c", (("a", "b"), ("c",))),
    ("data", ((),)),
    ("f(data)", ((),)),
    ('data["a"].b', (("a", "b"),)),
    ("data.items[i].x", (("items",),)),
    ("data[data.at]", ((), ("at",))),
    ("has(data.a.b)", (("a", "b"),)),
    ("data.?a.b", (("a", "b"),)),
    ("data.text.contains('x')", (("text",),)),
    ("data.items.all(i, i.x)", (("items",),)),
    ("l.all(data, data.x)", ()),
    ("l.all(i, data.x)", (("x",),)),
    ("other.data", ()),
]


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_the_paths_read_under_data_of(text: str, expected: tuple[tuple[str, ...], ...]) -> None:
    assert set(paths_of(parse(text), "data")) == set(expected)


def test_conjuncts_are_split_at_and() -> None:
    assert [text_of(part) for part in conjuncts(parse("a && (b && c) && (d || e)"))] == ["a", "b", "c", "d || e"]
    assert [text_of(part) for part in conjuncts(parse("a || b && c"))] == ["a || b && c"]


def test_walk_goes_in_the_order_of_the_text() -> None:
    assert [type(node).__name__ for node in walk(parse("a.b + f(1)"))] == [
        "Binary",
        "Select",
        "Name",
        "Call",
        "Literal",
    ]


SHOWN = [
    (None, "null"),
    (True, "true"),
    (12, "12"),
    ("a\n\x1b[31m\u202e", '"a\\n\\u001b[31m\\u202e"'),
    ({"a": [1, "b"]}, '{"a": [1, "b"]}'),
    ({("bool", True): 1, 2: None}, "{true: 1, 2: null}"),
    ("x" * 200, '"' + "x" * 78 + "…"),
    (list(range(1000)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, …"),
    (Decimal(10) ** 5000, "1e+5000"),
    (Maybe(True, 1), "optional.of(1)"),
]


@pytest.mark.parametrize(("value", "expected"), SHOWN)
def test_a_value_is_shown_on_one_short_line(value: object, expected: str) -> None:
    assert show(value) == expected


def test_one_key_for_1_and_1_0_and_two_for_true_and_1() -> None:
    keys = [key_of(value) for value in (1, Decimal("1.0"), True, "1", [1], [Decimal("1.00")], [True], {"a": 1, "b": 2})]
    assert keys[0] == keys[1]
    assert hash(keys[0]) == hash(keys[1])
    assert keys[4] == keys[5]
    assert len(set(keys)) == 6
    assert key_of({"b": 2, "a": 1}) == keys[7]
    with pytest.raises(Undecided):
        key_of(Missing("gone"))


def test_a_warm_run_loads_neither_parser_nor_checker_nor_evaluator() -> None:
    script = (
        "import sys; import outstep.expr.compile, outstep.expr.runtime;"
        "print(*sorted(name for name in sys.modules if name.startswith('outstep.expr.')))"
    )
    path = ":".join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    loaded = {name.removeprefix("outstep.expr.") for name in done.stdout.split()}
    assert loaded.isdisjoint({"parse", "lex", "check", "evaluate", "patterns", "text", "claims", "shell", "secrets"})


def test_public_names_of_the_package_are_there() -> None:
    import outstep.expr

    for name in outstep.expr.__all__:
        assert getattr(outstep.expr, name) is not None
    with pytest.raises(AttributeError):
        _ = outstep.expr.nobody
