"""Reports as files: the published schema, and reading them again."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from outstep.errors import OutstepError
from outstep.findings import Report
from outstep.render import json as json_report
from outstep.render.style import PLAIN
from outstep.reports import parse_report, read_report
from tests.command_line import ROOT
from tests.render.reports import finding, golden, hostile, report
from tools import report_schema

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "report.v1.json").read_text("utf-8"))


@pytest.mark.parametrize("published", report_schema.ALL, ids=[one.id for one in report_schema.ALL])
def test_the_published_schema_is_that_of_the_types(published: report_schema.Published) -> None:
    assert published.file.read_text("utf-8") == report_schema.text(published), "run python tools/report_schema.py"


@pytest.mark.parametrize(
    "told", [golden(), hostile(), report(), report(finding())], ids=["golden", "hostile", "clean", "bad"]
)
def test_what_is_written_is_valid_and_can_be_read_again(told: Report, tmp_path: Path) -> None:
    text = json_report.render(told, PLAIN)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(json.loads(text))] == []
    file = tmp_path / "report.json"
    file.write_text(text, "utf-8")
    again = read_report(str(file))
    assert json_report.render(again, PLAIN) == text


def test_members_that_are_not_known_are_passed_over() -> None:
    value = json.loads(json_report.render(report(finding()), PLAIN))
    value["later"] = value["findings"][0]["later"] = 1
    assert parse_report(json.dumps(value).encode(), "r.json") == report(finding())


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        ("", "report/no-report", None),
        ("{", "report/no-report", None),
        ("[" * 100_000, "report/no-report", None),
        ("[]", "report/no-report", None),
        ("\xff", "report/no-report", None),
        ("{}", "report/no-report", None),
        ('{"schema": 1}', "report/no-report", None),
        ('{"schema": "report/v2"}', "report/unknown-schema", None),
        ('{"schema": "trace/v1"}', "report/unknown-schema", None),
        ('{"schema": "report/v1", "gate": "maybe"}', "report/malformed", "/gate"),
        ('{"schema": "report/v1", "findings": [{"rule": 1}]}', "report/malformed", "/findings/0/rule"),
        ('{"schema": "report/v1", "findings": [{"rule": "a"}]}', "report/malformed", "/findings/0"),
    ],
)
def test_what_is_no_report_is_refused_with_its_place(text: str, code: str, pointer: str | None) -> None:
    with pytest.raises(OutstepError) as caught:
        parse_report(text.encode("latin-1"), "r.json")
    (told,) = caught.value.problems
    assert (told.code, told.place.pointer if told.place is not None else None) == (code, pointer)
    assert "`r.json`" in told.sentence
    assert told.help


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutstepError) as caught:
        read_report(str(tmp_path / "none.json"))
    assert caught.value.problems[0].code == "report/unreadable"
