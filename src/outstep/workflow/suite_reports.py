"""Reports of a suite of tests: all that its tests checked, in files, whichever process ran them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from outstep import __version__
from outstep.errors import OutstepError, problem
from outstep.findings import Report
from outstep.render import json, renderer
from outstep.render.style import PLAIN
from outstep.reports import parse_report
from outstep.workflow.merging import merged
from outstep.workflow.reporting import report_text


class Output(Struct, frozen=True):
    """One report to write."""

    format: str
    file: str


def read_outputs(texts: Sequence[str]) -> list[Output]:
    """Return what is to be written; raises `OutstepError` for what cannot be."""
    outputs = []
    for text in texts:
        format, sign, file = text.partition("=")
        if not sign or not file:
            raise problem(
                "usage/arguments",
                f"`--outstep-output {text}` names no file",
                help="write FORMAT=FILE, as json=outstep.json",
            )
        renderer(format)
        outputs.append(Output(format, file))
    return outputs


def carried(report: Report) -> str:
    """Return a report as text that goes from one process to another."""
    return json.render(report, PLAIN)


def write(reports: Sequence[str], outputs: Sequence[Output], folder: Path) -> Report:
    """Write all reports that were carried here as one, in each form, and return it; raises `OutstepError`."""
    report = merged([parse_report(text.encode(), "the report of a test") for text in reports])
    report = structs.replace(report, tool=f"outstep {__version__}")
    language = "zh" if os.environ.get("OUTSTEP_LANG") == "zh" else "en"
    for output in outputs:
        text = _text(report, output.format, language)
        try:
            (folder / output.file).write_text(text, "utf-8", errors="backslashreplace")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise problem(
                "output/unwritable", f"`{output.file}` cannot be written: {reason}", help="name another file"
            ) from None
    return report


def _text(report: Report, format: str, language: str) -> str:
    sources = [source for trace in report.traces for source in trace.sources if os.path.isfile(source)]
    try:
        return report_text(report, format, traces=dict.fromkeys(sources), language=language)
    except OutstepError:
        # What cannot be read again has no timeline; that it could not be read is a fault of the report.
        return report_text(report, format, language=language)
