"""The four values: tables, named deviations from CEL, hidden and cut values, limits."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.evaluate import evaluate
from outstep.expr.parse import parse
from outstep.expr.values import Absent, CutText, Hidden, Missing, TooCostly, Value, less
from tests.expr.expr_worlds import Facts, World, expressions, state_of, typed_expressions, values, worlds

ORDER = Facts({"A1": {"state": "PAID", "customer": None}, 7: "seven", True: "yes"})


def world() -> World:
    return World(
        {
            "yes": True,
            "no": False,
            "missing": Missing("nothing there"),
            "hidden": Hidden("a gap"),
            "args": {"id": "A1", "n": 3, "d": Decimal("0.10"), "none": None, "list": [1, 2], "o": {"p": {"q": 1}}},
            "redacted": {"a": 1, "card": Hidden("redacted"), "list": [1, Hidden("redacted")]},
            "cut": CutText("refund RF-1 issued"),
            "leak": [CutText("key AKIAIOSFODNN7EXAMPLQ and")],
            "text": "order RF-1.",
            "order": ORDER,
            "gappy": Facts({"A1": 1}, hidden=True),
            "p1": Hidden("redacted", "p1"),
            "again": Hidden("redacted", "p1"),
            "p2": Hidden("redacted", "p2"),
            "huge": 10**3000,
            "far": Decimal("1e999999"),
        }
    )


def run(text: str, absent: Absent = "missing") -> Value:
    return evaluate(parse(text), world(), absent)


def kind(value: Value) -> str:
    return {Missing: "missing", Hidden: "hidden"}.get(type(value)) or {True: "yes", False: "no"}[value]


FOUR = ("yes", "no", "missing", "hidden")


@pytest.mark.parametrize("a", FOUR)
@pytest.mark.parametrize("b", FOUR)
def test_and_or_follow_their_table(a: str, b: str) -> None:
    pair = {a, b}
    worst = "hidden" if "hidden" in pair else "missing" if "missing" in pair else None
    assert kind(run(f"{a} && {b}")) == ("no" if "no" in pair else worst or "yes")
    assert kind(run(f"{a} || {b}")) == ("yes" if "yes" in pair else worst or "no")


@pytest.mark.parametrize("a", FOUR)
@pytest.mark.parametrize("b", FOUR)
@pytest.mark.parametrize("c", FOUR)
def test_all_folds_with_and_exists_folds_with_or(a: str, b: str, c: str) -> None:
    conditions = f"i == 0 ? {a} : i == 1 ? {b} : {c}"
    assert kind(run(f"[0, 1, 2].all(i, {conditions})")) == kind(run(f"{a} && {b} && {c}"))
    assert kind(run(f"[0, 1, 2].exists(i, {conditions})")) == kind(run(f"{a} || {b} || {c}"))


@given(
    expressions | typed_expressions(), expressions | typed_expressions(), worlds(values), st.sampled_from(["&&", "||"])
)
@settings(max_examples=500)
def test_the_order_of_operands_never_matters(a: str, b: str, names: dict[str, Value], op: str) -> None:
    there = evaluate(parse(f"({a}) {op} ({b})"), World(names))
    back = evaluate(parse(f"({b}) {op} ({a})"), World(names))
    assert state_of(there) == state_of(back)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hidden ? 1 : 2", "hidden"),
        ("missing ? 1 : 2", "missing"),
        ("args.n ? 1 : 2", "missing"),
        ("!(missing && hidden)", "hidden"),
        ("!missing", "missing"),
        ("missing == hidden", "hidden"),
        ("missing + hidden", "hidden"),
        ("[missing, hidden]", "hidden"),
        ('{"a": missing, "b": hidden}', "hidden"),
        ("[1, 2].map(i, i == 1 ? missing : hidden)", "hidden"),
        ("[1, 2].filter(i, i == 1 ? missing : yes)", "missing"),
        ("[1, 2].exists_one(i, i == 1 ? hidden : missing)", "hidden"),
        ("hidden.all(i, yes)", "hidden"),
        ("size(missing)", "missing"),
        ("args.n && yes", "missing"),
        ("args.n && no", "no"),
        ("1 / 0 == 1 || yes", "yes"),
        ("hidden in [1]", "hidden"),
        ("missing.a.b.c", "missing"),
        ("hidden.a.b.c", "hidden"),
        ("hidden[missing]", "hidden"),
        ("nobody", "missing"),
    ],
)
def test_undecided_values_combine(text: str, expected: str) -> None:
    assert kind(run(text)) == expected


NULL_FACT = [
    ('order["B2"]', None),
    ('order["B2"] == null', True),
    ('order["A1"].state == "PAID"', True),
    ('"B2" in order', False),
    ('"A1" in order', True),
    ("order[7.0]", "seven"),
    ("order[1]", None),
    ("order[yes]", "yes"),
    ("size(order)", 3),
    ('order.exists(k, k == "A1")', True),
    ('order.exists(k, v, v == "seven")', True),
    ("order.A1.state", "PAID"),
    ('has(order["B2"].state)', False),
]


@pytest.mark.parametrize(("text", "expected"), NULL_FACT)
def test_null_fact(text: str, expected: Value) -> None:
    assert state_of(run(text)) == state_of(expected)


def test_what_is_selected_under_a_fact_never_recorded_is_missing() -> None:
    for absent in ("missing", "null"):
        assert type(run('order["B2"].state', absent)) is Missing


@pytest.mark.parametrize("text", ['gappy["B2"]', '"B2" in gappy', "size(gappy)", "gappy.all(k, yes)", "gappy == {}"])
def test_a_fact_behind_a_gap_is_hidden(text: str) -> None:
    assert type(run(text)) is Hidden


def test_what_a_gap_cannot_undo_stays_known() -> None:
    assert run('"A1" in gappy') is True
    assert run('gappy["A1"]') == 1


ABSENT_NULL = [
    ("args.zz", None),
    ("args.zz.deeper.still", None),
    ('args["zz"]', None),
    ('args["zz"]["y"].x', None),
    ("args.zz == null", True),
    ('args.zz == "a"', False),
    ('args.zz != "a"', True),
    ('args.zz in ["a"]', False),
    ('args.zz in {"a": 1}', False),
    ('"a" in args.zz', False),
    ("args.zz in [null]", True),
    ("(yes ? args.zz : 1).deeper == null", True),
    ("[1].map(i, args.zz)", [None]),
    ("args.?zz.orValue(1)", 1),
    ("args.zz.?deeper.orValue(1)", 1),
    ("has(args.zz.deeper)", False),
]


@pytest.mark.parametrize(("text", "expected"), ABSENT_NULL)
def test_absent_null(text: str, expected: Value) -> None:
    assert state_of(run(text, "null")) == state_of(expected)


@pytest.mark.parametrize(
    "text",
    ["args.none.deeper", "args.zz < 1", "args.zz + 1", "!args.zz", "args.n.deeper", "args.list[5]", "null in {'a': 1}"],
)
def test_absent_null_decides_nothing_else(text: str) -> None:
    assert type(run(text, "null")) is Missing


@pytest.mark.parametrize("text", [text for text, _ in ABSENT_NULL if "?" not in text and "has" not in text])
def test_outside_conditions_an_absent_member_is_missing(text: str) -> None:
    assert type(run(text)) is Missing


DEEP_HAS = [
    ("has(args.zz)", False),
    ("has(args.zz.y.x)", False),
    ("has(args.none)", True),
    ("has(args.none.x)", False),
    ("has(args.o.p.q)", True),
    ("has(args.o.p.zz)", False),
    ("has(args.list[7].x)", False),
    ("has(redacted.card)", True),
    ("has(args.?zz.y)", False),
]


@pytest.mark.parametrize(("text", "expected"), DEEP_HAS)
def test_deep_has(text: str, expected: bool) -> None:
    assert run(text) is expected


def test_has_under_text_is_missing_and_below_a_redaction_hidden() -> None:
    assert type(run("has(args.id.x)")) is Missing
    assert type(run("has(redacted.card.x)")) is Hidden


EXACT_DECIMAL = [
    ("0.1 + 0.2 == 0.3", True),
    ("0.1 + 0.2", Decimal("0.3")),
    ("args.d * 3 == 0.3", True),
    ("1 + 0.5", Decimal("1.5")),
    ("9223372036854775807 + 1", 2**63),
    ("1e3 == 1000", True),
    ("1000 == 1e3 && !(1e3 % 7 == 6)", Missing),
    ("7 / 2", 3),
    ("-7 / 2", -3),
    ("7 / 2.0", Decimal("3.5")),
    ("1 / 3.0", Decimal("0.3333333333333333333333333333333333")),
    ("2 / 3.0", Decimal("0.6666666666666666666666666666666667")),
    ("1.5 % 2", Missing),
    ("1.0 / 0", Missing),
    ("0 / 0.0", Missing),
    ("huge * huge * 1 == huge * huge", True),
    ("huge + 0.5 > huge", True),
    ("1e6144 * 10", Missing),
    ("1e-6144 / 10", Missing),
    ("far + 1", Missing),
    ("far > 1", True),
    ("far == far", True),
    ("1e6144 + 1e-6144 > 1e6144", True),
    ("100000000000000000000.0 + 0.00000000000000000001 != 1e20", True),
    ("string(0.10)", "0.1"),
    ("string(1e3)", "1000"),
    ("string(12.0)", "12"),
    ("int(2.9)", 2),
    ("int(-2.9)", -2),
    ("double(1) == 1", True),
    ("{1: 2}[1.0]", 2),
    ("-0.0 == 0", True),
    ("[1, 1.0, 2].distinct()", [1, 2]),
    ("[0.1, 0.2].sum() == 0.3", True),
    ("[1, 2.5, -1].max()", Decimal("2.5")),
]


@pytest.mark.parametrize(("text", "expected"), EXACT_DECIMAL)
def test_exact_decimal(text: str, expected: Value) -> None:
    if expected is Missing:
        assert type(run(text)) is Missing
    else:
        assert state_of(run(text)) == state_of(expected)


TRAPS = [
    ("true == 1", False),
    ("[true] == [1]", False),
    ('{"a": false} == {"a": 0}', False),
    ("1 in [true]", False),
    ("true in {1: 2}", False),
    ("{true: 1, 1: 2}[true]", 1),
    ("[1, true, 1.0].distinct()", [1, True]),
    ("1 == 1.0", True),
    ('1 == "1"', False),
    ('"10" < "9"', True),
    ("-7 % 3", -1),
    ("7 % -3", 1),
    ('"é".size()', 1),
    ('"e\\u0301".size()', 2),
    ('"\\U0001F600" > "\\uffff"', True),
    ('"İ".lowerAscii() == "İ"', True),
    ('"1,5".split(",", 1)', ["1,5"]),
    ('"\\u001c a".trim()', "\x1c a"),
    ("[[1], [true]].map(i, i == [1])", [True, False]),
    ("null == false", False),
]


@pytest.mark.parametrize(("text", "expected"), TRAPS)
def test_what_python_would_get_wrong(text: str, expected: Value) -> None:
    assert state_of(run(text)) == state_of(expected)


@pytest.mark.parametrize(
    "text", ["1 < true", "null < 1", '1 < "2"', "[1] < [2]", "true + 1", '"a" * 3', "[1] - [1]", '"1" + 1']
)
def test_types_do_not_mix(text: str) -> None:
    assert type(run(text)) is Missing


REDACTED = [
    ("redacted.card", Hidden),
    ("redacted.card.number", Hidden),
    ("redacted.a", 1),
    ("redacted == {}", False),
    ('redacted == {"a": 2, "card": 1, "list": []}', False),
    ('redacted == {"a": 1, "card": 1, "list": [1, 2]}', Hidden),
    ("redacted.list == [2, 2]", False),
    ("redacted.list == [1, 2]", Hidden),
    ("1 in redacted.list", True),
    ("2 in redacted.list", Hidden),
    ("redacted.list.exists(i, i == 1)", True),
    ("redacted.list.all(i, i == 2)", False),
    ("redacted.list.all(i, i == 1)", Hidden),
    ("size(redacted.list)", 2),
    ("redacted.list.sum()", Hidden),
    ("redacted.list.first()", 1),
    ("redacted.list.last()", Hidden),
    ("redacted.list.sort()", Hidden),
    ('mentions(redacted, "card")', True),
    ('mentions(redacted, "zzz")', Hidden),
    ("p1 == again", True),
    ("p1 != again", False),
    ("p1 == p2", False),
    ("p1 == 1", Hidden),
    ("hidden == hidden", Hidden),
    ("[p1] == [again]", True),
]


@pytest.mark.parametrize(("text", "expected"), REDACTED)
def test_a_redaction_hides_but_never_lies(text: str, expected: Value) -> None:
    value = run(text)
    if expected is Hidden:
        assert type(value) is Hidden
    else:
        assert state_of(value) == state_of(expected)


CUT = [
    ('cut.contains("RF-1")', True),
    ('cut.contains("RF-2")', Hidden),
    ('cut.matches("RF-[0-9]")', True),
    ('cut.matches("^$")', Hidden),
    ('cut.startsWith("refund")', True),
    ('cut.startsWith("credit")', Hidden),
    ('cut.endsWith("issued")', Hidden),
    ('mentions(cut, "RF-1")', True),
    ('mentions(cut, "RF-2")', Hidden),
    ('mentions([cut, "RF-2"], "RF-2")', True),
    ('mentions("RF-2", cut)', Hidden),
    ('carries(cut, "RF-1")', True),
    ('cut == "refund RF-1 issued"', Hidden),
    ("cut == 1", False),
    ("cut == null", False),
    ('cut < "z"', Hidden),
    ("cut < 1", Missing),
    ('cut + "a"', Hidden),
    ("cut + 1", Missing),
    ("size(cut)", Hidden),
    ('cut in ["a"]', Hidden),
    ("cut in [1]", False),
    ("{'a': 1}[cut]", Hidden),
    ("order[cut]", Hidden),
    ("cut.lowerAscii()", Hidden),
    ("secrets(cut)", Hidden),
    ("secrets(leak) == []", False),
    ("size(secrets(leak)) > 0", True),
    ('"none of ours" in secrets(leak)', Hidden),
    ("affirms(cut)", Hidden),
    ('runs(cut, "x")', Hidden),
]


@pytest.mark.parametrize(("text", "expected"), CUT)
def test_a_cut_text_shows_what_it_shows(text: str, expected: Value) -> None:
    value = run(text)
    assert type(value) is expected if isinstance(expected, type) else value is expected


OWN = [
    ("[3, 1, 2].sort()", [1, 2, 3]),
    ('["b", "a"].sort()', ["a", "b"]),
    ("[].sum()", 0),
    ("[1, 2].sum()", 3),
    ("[].min()", Missing),
    ('[1, "a"].max()', Missing),
    ('["a"].sum()', Missing),
    ("[1, 2].first()", 1),
    ("[].last()", Missing),
    ("[[1, [2]], 3].flatten()", [1, [2], 3]),
    ("[[1, [2]], 3].flatten(2)", [1, 2, 3]),
    ('mentions(text, "RF-1")', True),
    ("mentions(text, null)", False),
    ('number("1,200.00") == 1200', True),
    ('number("many")', Missing),
    ('timestamp("2024-05-15T15:00:00Z") - timestamp("2024-05-14T15:00:00Z") == days(1)', True),
    ('timestamp("2024-05-15T15:00:00Z").getHours("Europe/Paris")', Missing),
    ("known(text)", Missing),
    ('time("2024-05-15 15:00:00") == timestamp("2024-05-15T15:00:00Z")', True),
    ('time("2024-05-15") + days(0.5) == time("2024-05-15T12:00:00Z")', True),
    ('time("yesterday")', Missing),
    ('affirms("Yes, go ahead.")', True),
    ('affirms("No, do not.")', False),
    ('runs("cd x && git push --force origin", ["git push ** --force **"])', True),
    ('runs("git status", "git push **")', False),
    ('runs("git push $(", "git push **")', Missing),
    ("secrets(text) == []", True),
    ('"private-key" in secrets("-----BEGIN RSA PRIVATE KEY-----") || size(secrets("AKIAIOSFODNN7EXAMPLQ")) > 0', True),
    ('carries("x%52F-1", "RF-1")', True),
    ("[1, 2].transformList(i, v, i * v)", [0, 2]),
    ('{"a": 1}.transformMap(k, v, v + 1)', {"a": 2}),
    ('{"a": 1, "b": 2}.transformMap(k, v, v > 1, k)', {"b": "b"}),
]


@pytest.mark.parametrize(("text", "expected"), OWN)
def test_functions_beyond_the_standard(text: str, expected: Value) -> None:
    value = run(text)
    if expected is Missing:
        assert type(value) is Missing
    else:
        assert state_of(value) == state_of(expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("args.orderId", "`args.orderId`: no such member"),
        ("args.orderId == 1 && yes", "`args.orderId`: no such member"),
        ("args.list[2]", "`args.list[2]`: no such element"),
        ("args[args.id]", '`args["A1"]`: no such member'),
        ("args.none.x", '`args.none.x`: null has no member "x"'),
        ("args.n && yes", "`args.n` is a number, no truth value"),
        ('args.n < "a"', '`args.n < "a"`: no order between a number and text'),
        ("args.n / 0", "`args.n / 0`: division by zero"),
        ("args.n.all(i, yes)", "`args.n` is a number, no list or object"),
        ("args.n.contains('a')", '`args.n.contains("a")`: a number does not fit `text.contains(part)`'),
        ("nobody.x", "`nobody` is not bound here"),
    ],
)
def test_what_is_missing_says_why(text: str, reason: str) -> None:
    assert run(text).reason == reason


def test_an_engine_function_is_asked_of_the_surroundings() -> None:
    asked: list[tuple[Value, ...]] = []

    class Knowing(World):
        def function(self, name: str, args: tuple[Value, ...]) -> Value:
            assert name == "known"
            asked.append(args)
            return True

    names = {"to": "A1", "gone": Missing("gone")}
    assert evaluate(parse('known(to, "context")'), Knowing(names)) is True
    assert asked == [("A1", "context")]
    assert type(evaluate(parse("known(gone)"), Knowing(names))) is Missing
    assert len(asked) == 1


def test_variables_of_macros_hide_names_and_are_gone_afterwards() -> None:
    assert run("[5].all(args, args == 5) && args.n == 3") is True
    assert run("[1].map(i, [2].map(i, i))[0][0] == 2") is True
    assert run("[1, 2].map(i, [10].map(j, i + j))") == [[11], [12]]


@pytest.mark.parametrize(
    "text",
    [
        "m.all(a, m.all(b, m.all(c, a + b + c >= 0)))",
        "m.map(a, m.map(b, a + b)).size() > 0 && m.all(a, m.all(b, a == b || a != b))",
        "big.all(a, big.contains(a))",
        "m.exists(a, m == [a]) || m.exists(a, deep == [m])  || m.all(a, m.all(b, wide != [a]))",
        'long.replace("a", long).replace("a", long).replace("a", long).size()',
        "[long, long, long].map(a, [long, long, long].map(b, long.replace('a', a + b))).size()",
    ],
)
def test_costly_expressions_are_stopped_soon(text: str) -> None:
    m = list(range(1500))
    names: dict[str, Value] = {
        "m": m,
        "big": [str(i) for i in m],
        "long": "a" * 60_000,
        "deep": [m] * 3,
        "wide": m * 100,
    }
    start = time.monotonic()
    try:
        value = evaluate(parse(text), World(names))
    except TooCostly:
        pass
    else:
        assert type(value) is Missing
    assert time.monotonic() - start < 20


def test_values_nested_deeper_than_python_allows_are_too_costly_and_no_crash() -> None:
    deep: Value = 1
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(TooCostly):
        evaluate(parse("deep == deep2"), World({"deep": deep, "deep2": [deep]}))


def test_a_number_of_a_hundred_thousand_digits_is_the_largest() -> None:
    doubled = "huge * huge * huge * huge * huge * huge"
    assert type(run(f"({doubled}) * ({doubled}) * ({doubled}) * ({doubled}) * ({doubled}) * ({doubled})")) is Missing


def test_less_is_missing_across_types_and_hidden_beats_missing() -> None:
    assert less(1, Decimal("1.5")) is True
    assert type(less(1, "a")) is Missing
    assert type(less(Missing("x"), Hidden("y"))) is Hidden


@given(expressions | typed_expressions(), worlds(values), st.sampled_from(["missing", "null"]))
@settings(max_examples=1000)
def test_evaluation_never_raises(text: str, names: dict[str, Value], absent: Absent) -> None:
    evaluate(parse(text), World(names), absent)
