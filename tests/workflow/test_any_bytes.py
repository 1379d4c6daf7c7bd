"""Whatever the bytes: a report, an exit code of the four, and no exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import outstep
from outstep.render import NAMES, renderer
from outstep.render.style import Style
from tests.workflow.shop import BAD, GOOD, contract, lines, trace

WHOLE = lines(trace(BAD, "t1"), trace(GOOD, "t2"))
CHECKED = contract()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw the bytes of two traces with a few pieces cut out, doubled or overwritten."""
    data = bytearray(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        data[start:end] = draw(st.one_of(st.just(b""), st.just(bytes(data[start:end]) * 2), st.binary(max_size=20)))
    return bytes(data)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged())
def test_damaged_documents_give_a_report_that_every_renderer_shows(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(data)
    report = outstep.check(path, CHECKED)
    assert report.exit_code in {0, 1, 2, 3}
    assert report.exit_code != 0 or not report.faults
    assert not any(fault.code.endswith("/crash") for fault in report.faults)
    for name in NAMES:
        assert renderer(name).render(report, Style(verbose=True)).endswith("\n")


@pytest.mark.parametrize("text", ["", "\n", "{}", "[]", "null", "\0" * 100, "\ufeff"])
def test_a_document_of_nothing_is_never_green(text: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text, "utf-8")
    report = outstep.check(path, CHECKED)
    assert (report.exit_code, report.passed) == (2, False)
    assert report.faults
