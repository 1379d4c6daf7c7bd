"""Which recorded name means which tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.contracts.names import ToolNames, glob_fits, normal_form, split_name
from tests.contracts.loading import codes, contract


def names(tools: str) -> ToolNames:
    return ToolNames(contract(f"tools: {tools}"))


@pytest.mark.parametrize(
    ("recorded", "server", "form"),
    [
        ("refund.create", "", "refund_create"),
        ("refund_create", "", "refund_create"),
        ("refund-create", "", "refund_create"),
        ("refund/create", "", "refund_create"),
        ("refund  create", "", "refund_create"),
        ("refund__create", "", "refund_create"),
        ("mcp__shop__refund_create", "shop", "refund_create"),
        ("mcp__shop__refund_create_2172be3b7416", "shop", "refund_create"),
        ("mcp__my_shop__refund.create", "my_shop", "refund_create"),
        ("refund_create_2172be3b7416", "", "refund_create"),
        ("refund_create_2172be3b741", "", "refund_create_2172be3b741"),
        ("mcp__shop__", "", "mcp_shop_"),
        ("mcp_shop_refund", "", "mcp_shop_refund"),
        ("RefundCreate", "", "RefundCreate"),
        ("退款.创建", "", "退款_创建"),
        ("_2172be3b7416", "", "_2172be3b7416"),
        ("", "", ""),
    ],
)
def test_a_name_in_normal_form(recorded: str, server: str, form: str) -> None:
    assert split_name(recorded) == (server, form)
    assert normal_form(recorded) == form


@pytest.mark.parametrize(
    "recorded",
    [
        "refund.create",
        "refund_create",
        "mcp__shop__refund_create",
        "mcp__shop__refund_create_2172be3b7416",
        "refund-create",
    ],
)
def test_a_declared_name_stands_for_all_its_recorded_forms(recorded: str) -> None:
    assert names("{refund.create: {}}").canonical(recorded) == "refund.create"


@pytest.mark.parametrize(
    "recorded", ["refund", "Refund.create", "refundcreate", "refund_create_x", "xrefund_create", ""]
)
def test_and_for_no_other(recorded: str) -> None:
    assert names("{refund.create: {}}").canonical(recorded) == recorded


def test_names_are_more_names_of_a_tool_in_the_same_forms() -> None:
    found = names("{shell: {names: [bash, exec_command]}}")
    assert [found.canonical(name) for name in ("shell", "bash", "exec.command", "mcp__x__bash", "Bash")] == [
        *["shell"] * 4,
        "Bash",
    ]


def test_a_name_with_a_server_does_not_mean_the_tool_of_another_server() -> None:
    found = names("{refund: {names: [mcp__shop__refund]}}")
    assert found.canonical("mcp__shop__refund_2172be3b7416") == "refund"
    assert found.canonical("refund") == "refund"
    assert found.canonical("mcp__bank__refund") == "mcp__bank__refund"


def test_two_tools_of_one_name_on_two_servers_are_told_apart() -> None:
    found = names("{shop.refund: {names: [mcp__shop__refund]}, bank.refund: {names: [mcp__bank__refund]}}")
    assert found.canonical("mcp__shop__refund") == "shop.refund"
    assert found.canonical("mcp__bank__refund") == "bank.refund"
    assert found.canonical("mcp__post__refund") == "mcp__post__refund"
    assert found.canonical("refund") == "refund"


def test_names_of_different_servers_that_fall_together_are_reported() -> None:
    found = names("{refund: {}, order: {}}")
    recorded = ["mcp__shop__refund", "mcp__bank__refund", "mcp__shop__order", "order", "other"]
    assert found.ambiguous(recorded) == (("refund", ("mcp__shop__refund", "mcp__bank__refund")),)
    assert names("{refund: {names: [mcp__shop__refund]}}").ambiguous(recorded) == ()


@pytest.mark.parametrize(
    "tools",
    [
        "{order.get: {}, order_get: {}}",
        "{a: {names: [x]}, b: {names: [x]}}",
        "{a: {names: [b]}, b: {}}",
        "{a: {names: [mcp__s__x]}, b: {names: [mcp__s__x_2172be3b7416]}}",
    ],
)
def test_a_name_stands_for_one_tool_only(tools: str) -> None:
    assert [code.split()[0] for code in codes(f"tools: {tools}")] == ["duplicate-id"]


@pytest.mark.parametrize(
    ("selector", "recorded", "fits"),
    [
        (("refund.create",), "mcp__shop__refund_create", True),
        (("refund.*",), "refund.create", True),
        (("refund.*",), "mcp__shop__refund_create", True),
        (("refund_*",), "refund.create", True),
        (("refund.*",), "refund_undeclared", True),
        (("refund.*",), "mcp__shop__refund_undeclared", True),
        (("refund.*",), "order.get", False),
        (("@write",), "refund_create", True),
        (("@read",), "refund_create", False),
        (("@money",), "refund_create", True),
        (("order.get", "@write"), "refund_create", True),
        (("*",), "anything", True),
        ((), "anything", True),
        (("refund.create",), "refund.creates", False),
        (("@tmp",), "tmp_undeclared", True),
        (("@tmp",), "other_undeclared", False),
    ],
)
def test_a_selector_means_names_globs_effects_and_tags(selector: tuple[str, ...], recorded: str, fits: bool) -> None:
    found = names("{refund.create: {effect: write, tags: [money]}, order.get: {effect: read}, 'tmp*': {tags: [tmp]}}")
    assert found.matches(selector, recorded, found.canonical(recorded)) is fits


def test_a_glob_is_linear_enough_for_any_name() -> None:
    assert not glob_fits("*a" * 50 + "b", "a" * 5000)


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
def test_a_glob_means_what_a_pattern_of_it_means(pattern: str, text: str) -> None:
    import re

    expression = "".join({"*": ".*", "?": "."}.get(sign, sign) for sign in pattern)
    assert glob_fits(pattern, text) == (re.fullmatch(expression, text) is not None)


@given(st.text(max_size=40))
def test_a_normal_form_holds_letters_digits_and_single_lines_only(recorded: str) -> None:
    form = normal_form(recorded)
    assert "__" not in form
    assert all(sign.isalnum() or sign == "_" for sign in form)
