"""`report`: a report on 10,000 traces with 100,000 findings: written as JSON and as a page, opened in a browser."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import PYTHON, Command, run
from benchmarks.table import Line

TRACES, FINDINGS = 10_000, 10
OPENINGS = 5
SECONDS = 3.0
MEGABYTES = 150
"""Beyond the report itself, which is in memory anyway."""


def lines() -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        files = {format: Path(folder) / f"report.{format}" for format in ("json", "html")}
        return [*(_written(format, file) for format, file in files.items()), _opened(files["html"])]


def _written(format: str, file: Path) -> Line:
    words = [PYTHON, "-m", "benchmarks.write_report", format, str(TRACES), str(FINDINGS), str(file)]
    told = json.loads(run(Command(words)).stdout)
    measured = f"{told['seconds']:.1f} s, {file.stat().st_size / 1e6:.0f} MB"
    baseline = f"the report itself {told['report'] / 1e3:.0f} MB"
    return Line(f"{format}, written", measured, baseline, told["more"] / 1e3, "MB more", "at most", MEGABYTES)


def _opened(file: Path) -> Line:
    what = "html, opened, the first finding shown"
    try:
        from tests.render.browser import CHROMIUM, Visit, started
    except ImportError:
        return Line(what, "skipped: there is no playwright here")
    if CHROMIUM is None:
        return Line(what, "skipped: there is no Chromium here")
    seconds = []
    with started() as browser:
        for _ in range(OPENINGS):
            start = time.monotonic()
            met = Visit(browser, file)
            met.has(".finding.open", 1)
            seconds.append(time.monotonic() - start)
            met.context.close()
    each = ", ".join(f"{one:.1f}" for one in sorted(seconds))
    return Line(what, f"{each} s", "", median(seconds), "s", "at most", SECONDS)
