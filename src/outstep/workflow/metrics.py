"""Scores that people or models gave recorded runs: `metrics.jsonl` beside the traces.

docs: docs/metrics.md
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Adapter, Batch, Document, Options, Origin, ReadLog
from outstep.codec import Unreadable, loads
from outstep.engine.views import mean_metrics
from outstep.errors import Place, Problem
from outstep.events import SCHEMA, Header, Metric
from outstep.findings import TraceSummary, Trend
from outstep.workflow.judging import metric_files

MEMBERS = ("trace", "name", "value", "by")
LARGEST = 1 << 28
"""Bytes of one file."""


class Scores(Struct, frozen=True):
    """What a file of scores says."""

    by_trace: dict[str, tuple[Metric, ...]]
    mistakes: tuple[Problem, ...]
    is_ours: bool
    """Whether some line has a trace and a name: another program may keep numbers under the same file name."""


class Scored:
    """An adapter whose traces carry the scores that lie beside their documents."""

    def __init__(self, adapter: Adapter, files: Sequence[str], faults: list[Problem]) -> None:
        """Mistakes in the files go to `faults`."""
        self._adapter = adapter
        self.name = adapter.name
        self.version = adapter.version
        self.pinned = adapter.pinned
        self.title = adapter.title
        self.cannot_carry = adapter.cannot_carry
        self._by_trace: dict[str, tuple[Metric, ...]] = {}
        for file in files:
            scores = read_scores(file)
            if scores.is_ours:
                faults += scores.mistakes
                for trace, metrics in scores.by_trace.items():
                    self._by_trace[trace] = (*self._by_trace.get(trace, ()), *metrics)

    def sniff(self, document: Document, head: bytes) -> bool:
        """Return what the adapter itself says."""
        return self._adapter.sniff(document, head)

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield the batches, each header with its scores."""
        for batch in self._adapter.stream(documents, options, log):
            if any(type(item) is Header for item in batch):
                yield [self._with_scores(item) if isinstance(item, Header) else item for item in batch]
            else:
                yield batch

    def _with_scores(self, header: Header) -> Header:
        found = self._by_trace.get(header.id)
        return replace(header, metrics=(*header.metrics, *found)) if found else header

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Return where events stand."""
        return self._adapter.origins(documents, options, wanted)


def read_scores(file: str) -> Scores:
    """Return what a file of scores says, with every mistake in it."""
    try:
        about = os.stat(file)
        if about.st_size > LARGEST:
            return _unread(file, f"holds more than {LARGEST >> 20} MiB")
        return _read(file, about.st_size, about.st_mtime_ns)
    except OSError as error:
        return _unread(file, f"cannot be read: {(error.strerror or str(error)).lower()}")


def _unread(file: str, why: str) -> Scores:
    mistake = Problem(
        code="metrics/unreadable",
        sentence=f"`{file}` {why}",
        place=Place(source=file),
        help="mend or remove it: without it the traces beside it have no scores",
    )
    return Scores({}, (mistake,), is_ours=True)


@lru_cache(maxsize=64)
def _read(file: str, size: int, changed: int) -> Scores:  # noqa: ARG001 - what tells versions of the file apart
    by_trace: dict[str, tuple[Metric, ...]] = {}
    mistakes: list[Problem] = []
    seen: dict[tuple[str, str, str], int] = {}
    is_ours = False
    with open(file, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not (text := line.removeprefix(b"\xef\xbb\xbf").strip()):
                continue
            try:
                value = loads(text)
            except Unreadable as error:
                mistakes.append(_mistake(file, number, f"this line is no JSON: {error}"))
                continue
            is_ours = is_ours or (isinstance(value, dict) and "trace" in value and "name" in value)
            if wrong := _wrong(value):
                mistakes.append(_mistake(file, number, wrong))
                continue
            by = value.get("by", "")
            key = (value["trace"], value["name"], by)
            if key in seen:
                mistakes.append(_mistake(file, number, f"`{key[1]}` of this trace stands in line {seen[key]} already"))
                continue
            seen[key] = number
            score = value["value"] if isinstance(value["value"], int) else float(value["value"])
            metric = Metric(name=value["name"], value=score, by=by)
            by_trace[value["trace"]] = (*by_trace.get(value["trace"], ()), metric)
    return Scores(by_trace, tuple(mistakes), is_ours)


def _wrong(value: Any) -> str:
    """Return what is wrong with a line, or nothing."""
    if not isinstance(value, dict):
        return "a score is a JSON object"
    for name in ("trace", "name"):
        if not isinstance(value.get(name), str) or not value[name]:
            return f"a score lacks its `{name}`" if name not in value else f"`{name}` is a text"
    if not isinstance(value.get("by", ""), str):
        return "`by` is a text"
    if strange := [name for name in value if name not in MEMBERS]:
        return f"a score has no member `{strange[0]}`"
    score = value.get("value")
    if "value" not in value:
        return "a score lacks its `value`"
    if isinstance(score, bool | str | dict | list) or score is None or not isfinite(float(score)):
        return "`value` is a number"
    return ""


def _mistake(file: str, line: int, sentence: str) -> Problem:
    return Problem(
        code="metrics/line",
        sentence=sentence,
        place=Place(source=file, line=line),
        help='a line is `{"trace": "ID", "name": "kindness", "value": 0.8, "by": "judge-1"}`',
    )


def not_ours(groups: Sequence[Sequence[Document]], ids: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for each file of scores of which no line speaks of a trace that was checked."""
    checked = set(ids)
    for file in dict.fromkeys(file for documents in groups for file in metric_files(documents)):
        scores = read_scores(file)
        if scores.is_ours and (not scores.by_trace or checked & scores.by_trace.keys()):
            continue
        first = next(iter(scores.by_trace), "")
        told = f"its first line speaks of `{first}`" if first else f"its lines have no `trace` and `name` of {SCHEMA}"
        yield Problem(
            code="metrics/no-trace",
            sentence=f"no score of `{file}` belongs to a trace that was checked: {told}",
            place=Place(source=file),
            help="`trace` is the id that `outstep show` names",
            level="warning",
        )


def trends(summaries: Sequence[TraceSummary]) -> tuple[Trend, ...]:
    """Return each metric over all traces, by name."""
    values: dict[str, list[float]] = {}
    for summary in summaries:
        for name, value in mean_metrics(Header(schema=SCHEMA, metrics=summary.metrics)).items():
            values.setdefault(name, []).append(float(value))
    return tuple(
        Trend(name=name, traces=len(some), mean=round(sum(some) / len(some), 6), least=min(some), most=max(some))
        for name, some in sorted(values.items())
    )
