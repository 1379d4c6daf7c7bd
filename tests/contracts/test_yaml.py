"""YAML by the 1.2 core schema, and expressions that YAML takes apart."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from outstep.contracts.located import plain_value, read
from outstep.contracts.report import File, Report
from tests.contracts.loading import codes, contract, problems, rule_codes


def value(text: str) -> Any:
    report = Report()
    node = read(File(0, "a.yaml", text), report)
    assert node is not None
    assert report.problems("error") == ()
    return plain_value(node)


@pytest.mark.parametrize(
    "word",
    ["yes", "no", "on", "off", "y", "n", "Yes", "NO", "2026-03-31", "12:30", ".inf", ".nan", "1_000", "0b1", "0o8"],
)
def test_words_that_yaml_1_1_reads_as_something_else_are_text(word: str) -> None:
    assert value(f"a: {word}") == {"a": word}


@pytest.mark.parametrize("key", ["on", "yes", "off", "n"])
def test_they_are_text_as_keys_too(key: str) -> None:
    assert value(f"{key}: x") == {key: "x"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("12", 12),
        ("-3", -3),
        ("007", 7),
        ("0o17", 15),
        ("0x1f", 31),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.1", Decimal("0.1")),
        ("1.50", Decimal("1.50")),
        ("1e3", Decimal("1e3")),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("'12'", "12"),
        ('"true"', "true"),
    ],
)
def test_scalars_are_read_by_the_core_schema_numbers_exact(written: str, meant: object) -> None:
    found = value(f"a: {written}")["a"]
    assert found == meant
    assert type(found) is type(meant)


def test_a_number_stays_exact_in_params() -> None:
    assert contract("params: {rate: 0.10, big: 12345678901234567890123}").params == {
        "rate": Decimal("0.10"),
        "big": 12345678901234567890123,
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb: 2\na: 3\n", "`a` is given twice; first in line 1"),
        ("a: !!int 3\n", "`!!int` is a tag; a contract has none"),
        ("a: {b: 1}\n<<: {c: 1}\n", "`<<` is a merge key; a contract has none"),
        ("1: x\n", "`1` as a key is no text"),
        ("true: x\n", "`true` as a key is no text"),
        ("? \n: x\n", "nothing as a key is no text"),
        ("? [a]\n: x\n", "a key is a list or a map; keys are text"),
        ("a: 1\n---\nb: 2\n", "a contract is one YAML document; a second one begins here"),
        ("a:\n\t- 1\n", "a tab indents this line"),
        ("a: &x [*x]\n", "`*x` stands inside the value that it repeats"),
        ("a: 'x\n", "this quote is never closed"),
        ("a: \x07\n", "the file holds the character U+0007"),
        ("a: x\u2028y\n", "the file holds the character U+2028"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", "lists and maps are nested more than 48 levels deep"),
    ],
)
def test_what_yaml_would_hide_or_refuse_is_a_mistake(text: str, sentence: str) -> None:
    report = Report()
    from outstep.contracts.located import decode

    file = decode(text.encode(), "a.yaml", 0, report)
    if file is not None:
        read(file, report)
    found = report.problems("error")
    assert [(problem.code, problem.sentence) for problem in found] == [("contract/yaml", sentence)]
    assert found[0].place is not None


def test_a_trace_in_place_of_a_contract_is_told_so() -> None:
    text = '{"type":"trace","schema":"trace/v1","id":"t"}\n{"type":"user.message","seq":1}\n'
    report = Report()
    read(File(0, "a.jsonl", text), report)
    assert "a recorded trace" in report.problems("error")[0].help


def test_an_alias_repeats_a_value() -> None:
    assert value("a: &x [1]\nb: *x\n") == {"a": [1], "b": [1]}


def test_aliases_cannot_blow_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    found = problems("outstep: contract/v1\n" + "\n".join(lines))
    assert [problem.code for problem in found] == ["contract/yaml"]
    assert "100000 values" in found[0].sentence


def test_bytes_that_are_no_utf_8_are_a_mistake_with_its_place() -> None:
    (found,) = problems(b"outstep: contract/v1\nid: \xff\n")
    assert found.code == "contract/yaml"
    assert str(found.place) == "contract.yaml:2:4"


def test_a_file_beyond_the_limit_is_refused() -> None:
    (found,) = problems(b"# " + b"x" * (1 << 20))
    assert "1048576 are read" in found.sentence


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    text = (
        "outstep: contract/v1\nid: a\nrules:\n  - id: R\n    for: message\n    require: >-\n      text ==\n      oops\n"
    )
    plain = problems(text)
    marked = problems(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert plain == marked
    assert str(plain[0].place) == "contract.yaml:8:7"


@pytest.mark.parametrize("text", ["", "# nothing\n", "null\n", "--- \n"])
def test_an_empty_file_is_told_so(text: str) -> None:
    (found,) = problems(text.encode())
    assert found.code == "contract/missing-key"
    assert "is empty" in found.sentence


@pytest.mark.parametrize("text", ["- a\n", "text\n", "3\n"])
def test_a_file_that_is_no_map_is_told_so(text: str) -> None:
    assert "a contract is a map of keys" in [problem.sentence for problem in problems(text.encode())]


@pytest.mark.parametrize(
    ("written", "underlined"),
    [
        ("!carries(args, 'x')", "!carries(args, 'x')"),
        ('"a" == args.x', '"a" == args.x'),
        ("[1, 2].exists(x, x == args.x)", "[1, 2].exists(x, x == args.x)"),
        ('{"a": 1}.a == args.x', '{"a": 1}.a == args.x'),
        ("*args", "*args"),
        ("args.x ? args.y : args.z", "args.x ? args.y : args.z"),
        ('args.x == "a # b"', 'args.x == "a # b"'),
        ('args.x == "a: b"', 'args.x == "a: b"'),
        ("%args", "%args"),
        ("!ok && args.x", "!ok && args.x"),
    ],
)
def test_an_expression_that_yaml_takes_apart_in_a_block_is_shown_quoted(written: str, underlined: str) -> None:
    found = problems(f"rules:\n  - id: R\n    for: call *\n    require: {written}\n")[0]
    assert found.code == "contract/yaml-quote"
    assert found.underline is not None
    assert found.excerpt[slice(*found.underline)] == underlined


@pytest.mark.parametrize(
    "written",
    [
        "args.x[0] == 1",
        "mentions(args.x, 'a')",
        'args.x == "a, b"',
        "args.x ? args.y : args.z",
        "!args.x",
        "args.a.exists(v, v == args.b[1])",
        "{'a': args.x}.a == 1",
        "[1, 2].exists(x, x == args.x)",
    ],
)
def test_an_expression_that_yaml_takes_apart_in_braces_is_shown_quoted(written: str) -> None:
    assert rule_codes(f"for: call *, require: {written}") == [f"yaml-quote {written}"]


@pytest.mark.parametrize("written", ["args.x ? args.y : args.z", "args.x in [1, 2]", "has(args.x)"])
def test_in_a_list_too(written: str) -> None:
    found = codes(f"rules:\n  - id: R\n    for: call *\n    require:\n      - {written}\n      - args.b == 1\n")
    assert found == ([f"yaml-quote {written}"] if ": " in written else [])


def test_a_pattern_of_a_claim_too() -> None:
    assert codes("claims: {paid: [paid{1,2}, ok]}") == ["yaml-quote paid{1,2}"]


def test_what_stands_behind_a_broken_expression_is_still_looked_at() -> None:
    text = "rules:\n  - {id: R, for: call *, require: !args.x}\n  - {id: S, for: cal *, require: args.x[0]}\n"
    assert codes(text) == ["yaml-quote !args.x", "selector cal", "yaml-quote args.x[0]"]


def test_the_quoted_form_is_the_expression() -> None:
    (found,) = problems('rules:\n  - id: R\n    for: call *\n    require: !carries(args, "it\'s")\n')
    quoted = found.help.removeprefix("write it quoted: ")
    rule = contract(f"rules:\n  - id: R\n    for: call *\n    require: {quoted}\n").rules[0]
    assert rule.kind.all[0].text == '!carries(args, "it\'s")'  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("3", "3"),
        ("0x10", "0x10"),
        ("0o17", "15"),
        ("007", "007"),
        ("+3", "3"),
        ("TRUE", "true"),
        ("null", "null"),
        ("'3'", "3"),
    ],
)
def test_a_number_or_truth_value_is_an_expression(written: str, text: str) -> None:
    rule = contract(f"rules:\n  - id: R\n    for: call *\n    at_most: {written}\n").rules[0]
    assert rule.kind.bound.text == text  # type: ignore[union-attr]


def test_an_empty_expression_is_told_so() -> None:
    assert [code.split()[0] for code in rule_codes("for: call *, require: ")] == ["value"]
    (found,) = problems("rules:\n  - id: R\n    for: call *\n    require:\n    message: x\n")
    assert found.sentence == "an expression is missing"
