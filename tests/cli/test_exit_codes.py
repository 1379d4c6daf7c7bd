"""The gate as a table: what was done, what was met, how the command ends."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Outstep

SHOP = ("-c", "refund.yaml")

TABLE: list[tuple[str, tuple[str, ...], int]] = [
    ("all holds", (*SHOP, "good.jsonl"), 0),
    ("a block-level violation", (*SHOP, "bad.jsonl"), 1),
    ("a violation and a pass", (*SHOP, "good.jsonl", "bad.jsonl"), 1),
    ("a warning", (*SHOP, "quiet.jsonl"), 0),
    ("a warning that may fail", (*SHOP, "quiet.jsonl", "--fail-on", "warn"), 1),
    ("an undecided rule", (*SHOP, "gap.jsonl"), 3),
    ("a violation beats an undecided rule", (*SHOP, "gap.jsonl", "bad.jsonl"), 1),
    ("a fault beats a violation", (*SHOP, "bad.jsonl", "future.jsonl"), 2),
    ("a fault beats a pass", (*SHOP, "good.jsonl", "empty.jsonl"), 2),
    ("hidden triggers are allowed, lost records are not", (*SHOP, "gap.jsonl", "--allow", "hidden-trigger"), 3),
    (
        "only hidden triggers, and they are allowed",
        ("-c", "trusting.yaml", "gap.jsonl", "--allow", "hidden-trigger"),
        0,
    ),
    ("only hidden triggers, and they are not", ("-c", "trusting.yaml", "gap.jsonl"), 3),
    ("what is not there", (*SHOP, "nowhere.jsonl"), 2),
    ("a contract with mistakes", ("-c", "mistakes.yaml", "good.jsonl"), 2),
    ("a contract that is not there", ("-c", "nowhere.yaml", "good.jsonl"), 2),
    ("a contract for other runs", ("-c", "elsewhere.yaml", "good.jsonl"), 2),
    ("a contract for other runs beside one for this", ("-c", "elsewhere.yaml", *SHOP, "good.jsonl"), 2),
    ("shadow", ("-c", "shadow.yaml", "bad.jsonl"), 0),
    ("shadow that may fail", ("-c", "shadow.yaml", "bad.jsonl", "--fail-on", "warn"), 1),
    ("observe", ("-c", "observe.yaml", "bad.jsonl", "--fail-on", "warn"), 0),
    ("waived, but for one", ("-c", "waived.yaml", "bad.jsonl"), 1),
    ("everything exercised", (*SHOP, "good.jsonl", "--require-exercised"), 0),
    ("a block rule that nothing triggered", ("-c", "idle.yaml", "good.jsonl", "--require-exercised"), 1),
    ("the same without asking", ("-c", "idle.yaml", "good.jsonl"), 0),
    ("a warning rule that nothing triggered", ("-c", "idle-warn.yaml", "good.jsonl", "--require-exercised"), 0),
    (
        "a warning rule that nothing triggered, and warnings may fail",
        ("-c", "idle-warn.yaml", "good.jsonl", "--require-exercised", "--fail-on", "warn"),
        1,
    ),
    ("an expected refund that came", (*SHOP, "good.jsonl", "--param", "refunds_expected=1"), 0),
    ("an expected refund that never came", (*SHOP, "good.jsonl", "--param", "refunds_expected=2"), 1),
    ("a parameter that nobody knows", (*SHOP, "good.jsonl", "--param", "refund_expected=2"), 2),
    ("a version that may be read all the same", (*SHOP, "future.jsonl", "--unpinned"), 0),
]


@pytest.mark.parametrize(("words", "code"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_exit_code_says_what_was_met(outstep: Outstep, words: tuple[str, ...], code: int) -> None:
    done = outstep("check", *words)
    assert done.code == code, done.out + done.err


@pytest.mark.parametrize(("words", "code"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_exit_code_does_not_depend_on_the_format(outstep: Outstep, words: tuple[str, ...], code: int) -> None:
    done = outstep("check", *words, "--json")
    report = json.loads(done.out)
    assert (done.code, report["exit_code"]) == (code, code)
    assert report["gate"] == {0: "pass", 1: "block", 2: "error", 3: "inconclusive"}[code]
    assert next(iter(report)) == "schema"


USAGE: list[tuple[tuple[str, ...], str, str]] = [
    ((), "usage/no-command", "check, show"),
    (("chek",), "usage/unknown-command", "did you mean `check`?"),
    (("check", "good.jsonl"), "usage/no-contract", "--contract refund"),
    (("check", "-c", "refund"), "usage/no-paths", "patterns"),
    (("check", "good.jsonl", "--contrct", "refund"), "usage/unknown-option", "did you mean `--contract`?"),
    (("check", "good.jsonl", "-c", "refund", "--output", "jsn=-"), "usage/unknown-output", "did you mean `json`?"),
    (("check", "good.jsonl", "-c", "refund", "--output", "json"), "usage/arguments", "FORMAT=FILE"),
    (("check", "good.jsonl", "-c", "refund", "--fail-on", "wran"), "usage/arguments", "did you mean `warn`?"),
    (("check", "good.jsonl", "-c", "refund", "--allow", "hidden-triger"), "usage/arguments", "`hidden-trigger`"),
    (("check", "good.jsonl", "-c", "refund", "--param", "x"), "usage/arguments", "NAME=VALUE"),
    (("check", "good.jsonl", "-c", "refund", "--param", "x=\udcff"), "usage/arguments", "UTF-8"),
    (("check", "good.jsonl", "-c", "refund", "--format", "json"), "usage/arguments", "--output json=FILE"),
    (("check", "good.jsonl", "-c", "refund", "-j", "two"), "usage/arguments", "--help"),
    (("check", "good.jsonl", "-c", "refund", "-j", "-2"), "usage/arguments", "processes"),
    (("check", "good.jsonl", "-c", "refund", "--output", "json=good.jsonl"), "usage/arguments", "read by this check"),
    (("check", "good.jsonl", "-c", "refund", "--json", "--output", "terminal=-"), "usage/arguments", "stdout"),
    (("show",), "usage/no-paths", "name a file"),
    (("show", "good.jsonl", "--event", "99"), "usage/unknown-event", "1 to 9"),
    (("show", "good.jsonl", "bad.jsonl", "--event", "1"), "usage/several-traces", "--trace"),
    (("show", "good.jsonl", "--event", "1", "--events"), "usage/arguments", "one of the two"),
    (("show", "good.jsonl", "--trace", "god"), "usage/unknown-trace", "did you mean `good`?"),
    (("contract",), "usage/arguments", "one of: "),
    (("contract", "lnt"), "usage/unknown-command", "did you mean `lint`?"),
    (("contract", "lint"), "usage/no-contract", "a pack"),
    (("contract", "init"), "usage/no-paths", "good runs"),
    (("contract", "init", "good.jsonl", "--output", "refund.yaml"), "output/exists", "another file"),
    (("contract", "init", "good.jsonl", "--id", "a b"), "usage/arguments", "letters"),
    (("explain", "VERIFY_BEFORE_REFUN"), "usage/unknown-topic", "did you mean `VERIFY_BEFORE_REFUND`?"),
    (("adapters", "native"), "usage/arguments", "too many"),
]


@pytest.mark.parametrize(("words", "code", "help"), USAGE, ids=[" ".join(row[0]) or "nothing" for row in USAGE])
def test_wrong_usage_ends_with_2_and_one_line_that_helps(
    outstep: Outstep, words: tuple[str, ...], code: str, help: str
) -> None:
    done = outstep(*words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"error[{code}]: ")
    assert help in done.err
    assert len(done.err.splitlines()) <= 2


def test_a_wrong_format_is_a_fault_with_a_suggestion(outstep: Outstep) -> None:
    done = outstep("check", "good.jsonl", "-c", "refund", "--format", "natve")
    assert done.code == 2
    assert "error[adapter/unknown-format]" in done.err
    assert "did you mean `native`?" in done.err


@pytest.mark.parametrize("words", [("help",), ("--help",), ("check", "--help"), ("help", "check"), ("--version",)])
def test_help_is_no_error(outstep: Outstep, words: tuple[str, ...]) -> None:
    done = outstep(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "good.jsonl"), 0),
        (("show", "torn.jsonl"), 0),
        (("show", "gap.jsonl", "bad.jsonl"), 0),
        (("show", "damaged.jsonl"), 2),
        (("show", "future.jsonl"), 2),
        (("show", "nowhere.jsonl"), 2),
        (("contract", "lint", "refund.yaml", "refund", "waived.yaml"), 0),
        (("contract", "lint", "mistakes.yaml"), 2),
        (("contract", "lint", "refund.yaml", "nowhere.yaml"), 2),
        (("contract", "compile", "refund.yaml"), 0),
        (("contract", "compile", "mistakes.yaml"), 2),
        (("adapters",), 0),
        (("adapters", "--json"), 0),
        (("explain",), 0),
    ],
    ids=str,
)
def test_other_commands_end_with_0_or_2(outstep: Outstep, words: tuple[str, ...], code: int) -> None:
    assert outstep(*words).code == code
