"""Text to tree: the grammar, the places of mistakes, and no text that does harm."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.evaluate import evaluate
from outstep.expr.lex import MAX_LENGTH, ExprError
from outstep.expr.nodes import And, Binary, Call, Literal, Macro, Node, Or, Select, walk
from outstep.expr.parse import MAX_DEPTH, parse
from outstep.expr.written import text_of
from tests.expr.expr_worlds import World, expressions, typed_expressions

DECODER = msgspec.json.Decoder(Node)

WRITTEN = [
    # as written, as read (brackets show what binds to what)
    ("a||b&&c", "a || b && c"),
    ("(a||b)&&c", "(a || b) && c"),
    ("a && (b && c) && d", "a && b && c && d"),
    ("a ? b : c ? d : e", "a ? b : c ? d : e"),
    ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
    ("a == b == c", "a == b == c"),
    ("a == (b == c)", "a == (b == c)"),
    ("a - (b - c)", "a - (b - c)"),
    ("a - b - c", "a - b - c"),
    ("a + b * c % d", "a + b * c % d"),
    ("(a + b) * c", "(a + b) * c"),
    ("!a == b", "!a == b"),
    ("!(a == b)", "!(a == b)"),
    ("- a.b", "-a.b"),
    ("- 5", "-5"),
    ("-5.abs", "(-5).abs"),
    ("a in b in c", "a in b in c"),
    ("a.b[c].d(e)[?f].?g", "a.b[c].d(e)[?f].?g"),
    (".a.b", "a.b"),
    ("a.`x-y z`", "a.`x-y z`"),
    ("a . b // comment\n + 1", "a.b + 1"),
    ("has(a.b.c)", "has(a.b.c)"),
    ("[1, 2,]", "[1, 2]"),
    ("[?a, b]", "[?a, b]"),
    ("{'a': 1, ?2: b,}", '{"a": 1, ?2: b}'),
    ("x.all(i, i > 0)", "x.all(i, i > 0)"),
    ("x.existsOne(i, v, i > v)", "x.exists_one(i, v, i > v)"),
    ("x.map(i, i > 0, -i)", "x.map(i, i > 0, -i)"),
    ("optional.of(a).orValue(b)", "optional.of(a).orValue(b)"),
    ("0x1f + 1.50 + 1e3 + .5", "31 + 1.50 + 1e3 + .5"),
    ("true == false != null", "true == false != null"),
    ("f()", "f()"),
    ("a.as", "a.as"),
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN)
def test_a_text_is_read_as(text: str, expected: str) -> None:
    assert text_of(parse(text)) == expected


TEXTS = [
    ('"a"', "a"),
    ("'a'", "a"),
    ('"it\'s"', "it's"),
    ("'say \"hi\"'", 'say "hi"'),
    (r'"a\"b"', 'a"b'),
    (r'r"\d+"', r"\d+"),
    (r"R'\n'", r"\n"),
    ('"""a\n"b" c"""', 'a\n"b" c'),
    ("'''a'b'''", "a'b"),
    ('r"""\\"""', "\\"),
    (r'"\a\b\f\n\r\t\v\\\?\"\'\`"', "\a\b\f\n\r\t\v\\?\"'`"),
    (r'"\x41\X41\101\u00e9\U0001F600"', "AAAé😀"),
    ('"日本"', "日本"),
    ('""', ""),
    ("''''''", ""),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_text_literal_means(text: str, expected: str) -> None:
    node = parse(text)
    assert isinstance(node, Literal)
    assert node.value == expected


MISTAKES = [
    # text, the part that is underlined, words of the sentence, words of the help
    ("", "", "empty", ""),
    ("a +", "+", "missing at the end", ""),
    ("a b", "b", "follows a complete expression", ""),
    ("a and b", "and", "follows", "&&"),
    ("a = 1", "=", "no meaning", "=="),
    ("a & b", "&", "no meaning", "&&"),
    ("(a", "(", "not closed", "`)`"),
    ("f(a, b", "f", "not closed", "`)`"),
    ("[a, b", "[", "not closed", "`]`"),
    ("{1: 2", "{", "not closed", "`}`"),
    ("{1, 2}", ",", "`:`", ""),
    ("a ? b", "b", "`:`", ""),
    ("a[1", "[", "not closed", "`]`"),
    ("a.", ".", "must follow the point", ""),
    ("a.in", "in", "cannot be selected", '["in"]'),
    ("a.1", ".1", "follows", ""),
    ("while", "while", "reserved", ""),
    ('"abc', '"abc', "not closed", '`"`'),
    ('"a\nb"', '"a\nb"', "not closed", ""),
    (r'"a\qb"', r"\q", "no escape", "r"),
    (r'"\ud800"', r"\ud800", "no character", ""),
    ('b"x"', 'b"x"', "bytes", ""),
    ("5u", "5u", "unsigned", "write `5`"),
    ("12abc", "12abc", "no number", ""),
    ("1e9999", "1e9999", "6144", ""),
    ("Type{a: 1}", "Type{", "messages", "{"),
    ("a.b.Type{}", "a.b.Type{", "messages", ""),
    ("has(a)", "has(a)", "one member", ""),
    ("has(a, b)", "has(a, b)", "one member", ""),
    ("x.all(1, true)", "1", "plain name", ""),
    ("x.all(i)", "all(i)", "takes 2 or 3", ""),
    ("x.all(i, i, true)", "i", "names two things", ""),
    ("x.map(a.b, 1)", "a.b", "plain name", ""),
    ("a § b", "§", "no meaning", ""),
    ("a \x00", "\x00", "U+0000", ""),
    ("“a”", "“", "no meaning", "quotes"),
    ("f(1,)", ")", "missing", ""),
    ("a ? b ? 1 : 2 : 3", "?", "`:`", ""),
    ("`a`", "`a`", "missing before", ""),
]


@pytest.mark.parametrize(("text", "underlined", "sentence", "help"), MISTAKES)
def test_a_mistake_is_shown_at_its_place(text: str, underlined: str, sentence: str, help: str) -> None:
    with pytest.raises(ExprError) as caught:
        parse(text)
    error = caught.value
    assert text[error.at : error.end] == underlined
    assert sentence in error.sentence
    assert help in error.help


def test_nodes_know_their_place_in_the_text() -> None:
    text = '(a || b) && x.y[1] == "é" + f(c)'
    places = {text[node.at : node.end] for node in walk(parse(text))}
    assert {text, "a || b", "x.y[1]", 'x.y[1] == "é" + f(c)', '"é" + f(c)', "f(c)", "c", "1"} <= places


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a" + ")" * 5000,
        "[" * 5000,
        "a" + ".b" * 5000,
        "a" + "[0]" * 5000,
        "a" + " + a" * 5000,
        "!" * 5000 + "a",
        "-" * 5000 + "1",
        "a ? b : " * 5000 + "c",
        "f(" * 5000,
        "x.all(i, " * 3000,
        "{1: " * 5000,
    ],
)
def test_depth_is_bounded_by_a_mistake_of_its_own(text: str) -> None:
    with pytest.raises(ExprError, match=r"deep|brackets|signs"):
        parse(text)


def test_a_long_conjunction_is_not_deep() -> None:
    node = parse(" && ".join(["a"] * 5000))
    assert isinstance(node, And)
    assert len(node.terms) == 5000


def test_the_length_of_an_expression_is_bounded() -> None:
    with pytest.raises(ExprError, match="characters"):
        parse("1" * (MAX_LENGTH + 1))


def test_the_deepest_expression_that_is_read_is_evaluated_and_kept_as_data() -> None:
    node = parse("-" + "-".join([" a"] * (MAX_DEPTH - 1)))
    assert DECODER.decode(msgspec.json.encode(node)) == node
    assert evaluate(node, World({"a": 1})) == -(MAX_DEPTH - 1)


@given(st.text(max_size=60) | st.text(alphabet="ab1.?:[](){}\"'\\!-+*/%<>=&|, \n`urRbB0x", max_size=40))
@settings(max_examples=1000)
def test_any_text_is_read_or_refused_at_a_place_inside_it(text: str) -> None:
    place: Node | ExprError
    try:
        place = parse(text)
    except ExprError as error:
        place = error
    assert 0 <= place.at <= place.end <= len(text)


@given(expressions | typed_expressions())
@settings(max_examples=500)
def test_what_is_read_is_written_and_read_again_alike(text: str) -> None:
    node = parse(text)
    again = parse(text_of(node))
    assert text_of(again) == text_of(node)
    assert without_places(again) == without_places(node)


@given(expressions | typed_expressions())
@settings(max_examples=300)
def test_a_tree_kept_as_json_comes_back_equal(text: str) -> None:
    node = parse(text)
    assert DECODER.decode(msgspec.json.encode(node)) == node


def without_places(node: Node) -> object:
    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {name: clean(item) for name, item in value.items() if name not in ("at", "end")}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean(msgspec.json.decode(msgspec.json.encode(node)))


def test_wide_ints_and_decimals_are_kept_exactly() -> None:
    for text in ("123456789012345678901234567890", "-9223372036854775809", "0.10", "-1.5e-7"):
        node = DECODER.decode(msgspec.json.encode(parse(text)))
        assert isinstance(node, Literal)
        assert str(node.constant) == text.replace("e", "E")


def test_kinds_of_nodes() -> None:
    assert isinstance(parse("a && b"), And)
    assert isinstance(parse("a || b"), Or)
    assert isinstance(parse("a in b"), Binary)
    assert isinstance(parse("a.b"), Select)
    assert isinstance(parse("a.b()"), Call)
    assert isinstance(parse("a.all(b, c)"), Macro)
