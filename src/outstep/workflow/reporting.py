"""A report as text in any format, in one call (docs/cli.md#from-python)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import Group, documents, groups
from outstep.errors import OutstepError
from outstep.findings import Report
from outstep.render import SHOWING, rendered, renderer
from outstep.render.style import Style
from outstep.workflow.timelining import collect
from outstep.workflow.traces import InMemory, Trace

AnyPath = str | Path


def report_text(
    report: Report,
    format: str = "terminal",
    *,
    traces: AnyPath | Trace | Iterable[AnyPath | Trace] = (),
    language: str = "en",
    verbose: bool = False,
) -> str:
    """Return a report in a format of `--output`.

    `traces` are those that the report is about, as they were given to `check`: formats that show what happened
    (`html`) have their timelines then. Raises `OutstepError` for a format that nobody offers, and for traces that
    cannot be read.
    """
    renderer(format)
    given: Sequence[AnyPath | Trace] = [traces] if isinstance(traces, str | Path | Trace) else list(traces)
    timelines = collect(_groups(given), report, Options(), is_moved=True) if given and format in SHOWING else ()
    style = Style(verbose=verbose, language=language)
    return "".join(rendered(format, report, style, timelines))


def _groups(given: Sequence[AnyPath | Trace]) -> list[Group]:
    in_memory = [one for one in given if isinstance(one, Trace)]
    paths = [os.fspath(one) for one in given if not isinstance(one, Trace)]
    log = ReadLog()
    found = groups(documents(paths, log), None, log)
    if log.faults:
        raise OutstepError(*log.faults)
    return [*found, *([Group(adapter=InMemory(in_memory), documents=[])] if in_memory else [])]
