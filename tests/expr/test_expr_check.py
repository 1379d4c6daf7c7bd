"""Mistakes that are found before any event is read, all at once and each at its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from outstep.expr.check import Scope, check
from outstep.expr.evaluate import evaluate
from outstep.expr.function import INT, TEXT
from outstep.expr.lex import ExprError
from outstep.expr.parse import parse
from outstep.expr.values import Hidden, Missing
from tests.expr.expr_worlds import World, typed_expressions

SCOPE = Scope(
    names=("args", "order", "tool", "text"),
    elsewhere={"data": "a result"},
    kinds={("args", "cents"): INT, ("tool",): TEXT},
)


def found(text: str) -> list[ExprError]:
    return check(parse(text), SCOPE, text)


MISTAKES = [
    # text, what is underlined, code, words of the sentence, words of the help
    ("oder.x == 1", "oder", "unknown-name", "`oder`", "did you mean `order`?"),
    ("zzz", "zzz", "unknown-name", "`zzz`", "bound here: `args`, `order`, `text`, `tool`"),
    ("size > 1", "size", "unknown-name", "`size`", "a function"),
    ("data.id == 1", "data", "not-bound-here", "belongs to a result", "`args`"),
    ("args.map(i, j)", "j", "unknown-name", "`j`", "`i`"),
    ("args.map(i, i) == i", "i", "unknown-name", "`i`", ""),
    ('text.contans("a")', 'text.contans("a")', "expression", "no function `contans`", "`contains`"),
    ("math.greatest(1, 2)", "math.greatest(1, 2)", "expression", "`math.greatest`", ""),
    ("trim(text)", "trim(text)", "expression", "asked of a value", "`text.trim()`"),
    ("text.mentions(1)", "text.mentions(1)", "expression", "a function", "`mentions(x, v)`"),
    ("all(args, i, true)", "all(args, i, true)", "expression", "no function `all`", "list.all(x, …)"),
    ("text.trim(1)", "text.trim(1)", "expression", "does not take 1", ""),
    ("mentions(text)", "mentions(text)", "expression", "does not take 1", ""),
    ("type(text)", "type(text)", "expression", "not offered", ""),
    ("bytes(text)", "bytes(text)", "expression", "not offered", ""),
    ("uint(text)", "uint(text)", "expression", "not offered", ""),
    ("now()", "now()", "expression", "no clock", ""),
    ("args.?a.orValue()", "args.?a.orValue()", "expression", "takes 1", ""),
    ('text.matches("[")', "[", "regex", "never closed", "RE2"),
    (r'text.matches("\\1")', r"\1", "regex", "", "RE2"),
    (r'text.matches(r"a(?=b)")', "(?=b)", "regex", "look-around", "RE2"),
    ('"a" + 1', '"a" + 1', "type", "between text and a number", ""),
    ('1 < "a"', '1 < "a"', "type", "between a number and text", ""),
    ("null < 1", "null < 1", "type", "null", ""),
    ("[1] < [2]", "[1] < [2]", "type", "a list", ""),
    ("!1", "1", "type", "truth value", ""),
    ('-"a"', '"a"', "type", "needs a number", ""),
    ('"a" && args.x', '"a"', "type", "joins truth values", ""),
    ("args.x || 1", "1", "type", "joins truth values", ""),
    ("1 ? 2 : 3", "1", "type", "a condition", ""),
    ("args.x / 0", "args.x / 0", "type", "division by zero", ""),
    ("args.x % 0.0", "args.x % 0.0", "type", "`%` with a number", "ints"),
    ("1.5 % 2", "1.5 % 2", "type", "", ""),
    ("null.x", "null", "type", "read from an object", ""),
    ('"abc".x', '"abc"', "type", "read from an object", ""),
    ("1[0]", "1", "type", "reads from a list", ""),
    ("5 in 6", "5 in 6", "type", "looks into a list", ""),
    ("size(1)", "1", "type", "takes text or a list", ""),
    ('"abc".contains(1)', "1", "type", "takes text", ""),
    ("args.all(i, 1)", "1", "type", "asks for a truth value", ""),
    ('"abc".all(i, true)', '"abc"', "type", "goes over a list or an object", ""),
    ('{"a": 1, "a": 2}', '"a"', "type", "the same key", ""),
    ("{1.5: 2}", "1.5", "type", "a key is", ""),
    ('duration("1 day")', 'duration("1 day")', "type", "no duration", ""),
    ('timestamp("2024")', 'timestamp("2024")', "type", "no RFC 3339 moment", ""),
    ('time("yesterday")', 'time("yesterday")', "type", "can never have a value", ""),
    ('int("x")', 'int("x")', "type", "no int", ""),
    ('args.a.getHours("Europe/Paris")', '"Europe/Paris"', "type", "named time zones", ""),
    ('args.a.getHours("+02:00")', "", "", "", ""),
    ('args.cents + "x"', 'args.cents + "x"', "type", "between a number and text", ""),
    ("tool < 1", "tool < 1", "type", "between text and a number", ""),
    ('args.cents == 1 && tool.contains("a")', "", "", "", ""),
]


@pytest.mark.parametrize(("text", "underlined", "code", "sentence", "help"), MISTAKES)
def test_a_mistake_is_named_at_its_place(text: str, underlined: str, code: str, sentence: str, help: str) -> None:
    errors = found(text)
    if not code:
        assert errors == []
        return
    (error,) = errors
    assert error.code == code
    assert text[error.at : error.end] == underlined
    assert sentence in error.sentence
    assert help in error.help


RIGHT = [
    'order[args.id].state == "PAID" && args.cents <= 100',
    'text.matches("(?i)timed? ?out|50[234]")',
    "args.items.all(i, v, v.price > 0 && i < 10)",
    "args.?force.orValue(false)",
    'known(args.to, "call x")',
    "has(args.a.b)",
    '1 == "a"',
    "args.x ? 1 : null",
    "(args.x ? 1 : null) + 1",
    "[1, 2].map(args, args + 1)",
    'duration("24h") + time("2024-05-15") > timestamp("2024-05-15T00:00:00Z")',
    "secrets(args) == []",
    "size([]) == 0",
    "optional.none().orValue(1) == 1",
    "true",
]


@pytest.mark.parametrize("text", RIGHT)
def test_nothing_is_said_about(text: str) -> None:
    assert found(text) == []


def test_without_the_text_a_pattern_is_underlined_as_a_whole() -> None:
    (error,) = check(parse('text.matches("a[")'), SCOPE)
    assert (error.at, error.end) == (13, 17)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text() -> None:
    text = 'oder.x && data.y && text.matches("(") && 1 < "a" && foo(bar)'
    assert [error.code for error in found(text)] == [
        "unknown-name",
        "not-bound-here",
        "regex",
        "type",
        "expression",
        "unknown-name",
    ]


def test_a_mistake_inside_a_mistake_is_told_once() -> None:
    assert len(found('timestamp("x").getHours() + 1')) == 1
    assert len(found('size("a" + 1)')) == 1


@given(typed_expressions())
@settings(max_examples=400)
def test_what_has_a_value_is_never_refused_for_its_types(text: str) -> None:
    names = {"x": 1, "y": {"a": 2, "b": "b"}, "n": 1, "s": "a", "t": True, "m": [1, 2]}
    node = parse(text)
    if type(evaluate(node, World(names))) in (Missing, Hidden):
        return
    refused = [error for error in check(node, Scope(tuple(names))) if error.code == "type"]
    for error in refused:  # a part that can never have a value may stand where it is not needed
        part = text[error.at : error.end]
        assert type(evaluate(parse(part), World({**names, "i": 1, "j": 1, "k": 1}))) is Missing or _holds_refusal(part)


def _holds_refusal(part: str) -> bool:
    """Return whether a value of the wrong kind was refused at its own place rather than at the operator."""
    return type(evaluate(parse(f"({part}) && true"), World({"n": 1, "x": 1}))) is Missing


def test_no_depth_that_is_read_is_too_deep_to_check() -> None:
    for text in ("-" + "-".join([" args"] * 140), "!" * 90 + "tool.contains('a')", "f(" * 90 + "1" + ")" * 90):
        assert all(0 <= error.at <= error.end <= len(text) for error in check(parse(text), SCOPE))
