"""What was read, one line a trace: `142 records, 57 events, 17 calls (1 unanswered), 3 skipped kinds`."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli.console import say
from outstep.findings import TraceSummary
from outstep.render.escape import shown, visible
from outstep.render.wording import count
from outstep.workflow.judging import Judged

MOST = 5
"""Traces with a line of their own; more are summed up."""
LONGEST_NOTE = 400


def say_imports(imports: Sequence[Judged], *, verbose: bool) -> None:
    """Tell what was read of the traces."""
    if len(imports) > MOST and not verbose:
        say(sum_line([judged.summary for judged in imports]))
        noted = sum(1 for judged in imports if judged.notes)
        if noted:
            say(f"  note: {count(noted, 'trace')} with notes of the adapter: `-v` shows them")
        return
    for judged in imports:
        say(import_line(judged.summary))
        if verbose and judged.summary.skipped:
            kinds = ", ".join(f"{visible(kind)} ×{number}" for kind, number in judged.summary.skipped.items())
            say(f"  skipped: {kinds}")
        for note in judged.notes:
            say(f"  note: {shown(note, LONGEST_NOTE)}")


def import_line(trace: TraceSummary) -> str:
    """Return the line of one trace."""
    source = f"{visible(trace.sources[0])}: " if trace.sources else ""
    more = f" (and {count(len(trace.sources) - 1, 'more source')})" if len(trace.sources) > 1 else ""
    parts = [f"trace {visible(trace.id)}{more}, {_counted(trace, len(trace.skipped))}"]
    parts += [f"end: {trace.end}"] if trace.end not in {"completed", ""} else []
    parts += ["order: log"] if trace.order == "log" and trace.calls else []
    parts += [f"unpinned: {visible(trace.format)} {visible(trace.version)}"] if trace.unpinned else []
    return source + "; ".join(parts)


def sum_line(traces: Sequence[TraceSummary]) -> str:
    """Return one line for many traces."""
    total = TraceSummary(
        id="",
        events=sum(trace.events for trace in traces),
        calls=sum(trace.calls for trace in traces),
        unanswered=sum(trace.unanswered for trace in traces),
        records=sum(trace.records for trace in traces),
    )
    kinds = {kind for trace in traces for kind in trace.skipped}
    parts = [f"{count(len(traces), 'trace')}, {_counted(total, len(kinds))}"]
    for word in ("inferred", "taken", "cut_off", "aborted"):
        number = sum(1 for trace in traces if trace.end == word)
        parts += [f"end: {word} in {number}"] if number else []
    by_log = sum(1 for trace in traces if trace.order == "log" and trace.calls)
    parts += [f"order: log in {by_log}"] if by_log else []
    unpinned = sum(1 for trace in traces if trace.unpinned)
    parts += [f"unpinned: {unpinned}"] if unpinned else []
    return "; ".join(parts)


def _counted(trace: TraceSummary, kinds: int) -> str:
    text = f"{count(trace.records, 'record')}, {count(trace.events, 'event')}, {count(trace.calls, 'call')}"
    if trace.unanswered:
        text += f" ({trace.unanswered} unanswered)"
    return f"{text}, {count(kinds, 'skipped kind')}" if kinds else text
