"""Reports as text, from Python."""

from __future__ import annotations

import re

import pytest

import outstep
from outstep.render import NAMES
from tests.command_line import ROOT
from tests.command_line import outstep as command

RECORDING = "examples/refund/recordings/refund-before-identity"
CONTRACT = "examples/refund/dsh-refund.yaml"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("format", ["html", "markdown"])
def test_python_and_the_command_write_the_same(format: str) -> None:
    report = outstep.check(RECORDING, CONTRACT)
    done = command("check", RECORDING, "-c", CONTRACT, "--output", f"{format}=-")
    assert outstep.report_text(report, format, traces=RECORDING) == done.stdout.decode()


def test_every_format_can_be_asked_for() -> None:
    report = outstep.check(RECORDING, CONTRACT)
    assert all(outstep.report_text(report, name) for name in NAMES)
    with pytest.raises(outstep.OutstepError, match="no report format"):
        outstep.report_text(report, "pdf")


def test_traces_in_memory_have_timelines_too() -> None:
    traces = list(outstep.load_traces(RECORDING))
    report = outstep.check(traces, CONTRACT)
    page = outstep.report_text(report, "html", traces=traces, language="zh")
    assert re.findall(r'id="data-timeline-(\d+)"', page) == ["0"]
    assert '<html lang="zh">' in page


def test_traces_that_cannot_be_read_are_told() -> None:
    report = outstep.check(RECORDING, CONTRACT)
    with pytest.raises(outstep.OutstepError, match="does not exist"):
        outstep.report_text(report, "html", traces="nowhere")
