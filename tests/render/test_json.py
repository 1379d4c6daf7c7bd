"""The JSON report: the same data, whole, in equal bytes."""

from __future__ import annotations

import json

import msgspec
import pytest

from outstep.findings import Report
from outstep.render import json as json_report
from outstep.render.style import PLAIN
from outstep.render.values import pretty
from tests.render.reports import HOSTILE, finding, golden, hostile, report


def test_a_report_survives_the_way_there_and_back() -> None:
    for one in (report(), report(finding(), finding(rule="B")), hostile()):
        assert msgspec.json.decode(json_report.render(one, PLAIN), type=Report) == one


def test_the_schema_stands_first_and_nothing_that_counts_is_left_out() -> None:
    told = json.loads(json_report.render(report(), PLAIN))
    assert list(told) == [
        "schema",
        "tool",
        "gate",
        "exit_code",
        "fail_on",
        "contracts",
        "traces",
        "rules",
        "metrics",
        "findings",
        "faults",
        "warnings",
        "allowed",
    ]
    assert told["traces"][0]["unanswered"] == 0
    assert told["rules"][0]["violated"] == 0


def test_equal_reports_give_equal_bytes() -> None:
    assert json_report.render(report(finding()), PLAIN) == json_report.render(report(finding()), PLAIN)


def test_nothing_in_it_acts_on_a_terminal() -> None:
    text = json_report.render(hostile(), PLAIN)
    assert all(sign >= " " or sign == "\n" for sign in text)
    assert not set(text) & {"\u202e", "\x7f", "\x9b", "\u2028", "\U000e0041"}
    assert json.loads(text)["findings"][0]["message"] == HOSTILE


def test_a_sign_beyond_the_basic_plane_is_escaped_as_a_pair() -> None:
    told = report(finding(message="\U000e0041 🙂"))
    text = json_report.render(told, PLAIN)
    assert "\\udb40\\udc41 🙂" in text
    assert json.loads(text)["findings"][0]["message"] == "\U000e0041 🙂"


def test_a_file_name_that_is_no_text_is_spelled_out() -> None:
    told = report(finding(trace="a\udcffb"))
    assert json.loads(json_report.render(told, PLAIN))["findings"][0]["trace"] == "a\\xffb"


@pytest.mark.parametrize("made", [golden(), hostile(), report(), report(*(finding(rule=f"R{n}") for n in range(2500)))])
def test_a_report_in_parts_is_the_report(made: Report) -> None:
    text = json_report.render(made, PLAIN)
    assert text == pretty(json.loads(text))
    assert max(map(len, json_report.parts(made))) < 2_000_000
