"""`html`: one self-contained page: the verdict, the findings, and each trace as a timeline.

It loads nothing. Without a script it shows the gate, the counts and the first findings; its script filters, searches
and draws timelines, from data in which nothing acts (`render/page`).
docs: docs/html.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.findings import Report
from outstep.render.html.opening import body
from outstep.render.html.packed import Texts, packed_groups, packed_rules, packed_timeline, packed_traces
from outstep.render.html.words import WORDS
from outstep.render.page import SHELL, asset, embedded, embedded_list, in_words, page_parts
from outstep.render.style import Style
from outstep.render.timelines import Timeline
from outstep.render.wording import folded

SCRIPTS = ("packed.js", "findings.js", "timeline.js", "report.js")


def render(report: Report, style: Style, timelines: Sequence[Timeline] = ()) -> str:
    """Return the page; `timelines` are the traces whose events it shows, the other ones by what findings quote."""
    return "".join(parts(report, style, timelines))


def parts(report: Report, style: Style, timelines: Sequence[Timeline] = ()) -> Iterator[str]:
    """Yield the page in parts."""
    report = style.told(report)
    # What stands against the release comes first.
    groups = sorted(folded(report.findings), key=lambda group: not any(map(report.gates, group)))
    texts = Texts()
    words = in_words({**SHELL, **WORDS}, style.language)
    own = "outstep.render.html"
    return page_parts(
        words[f"title-{report.gate}"],
        body(report, groups, words),
        language=style.language,
        tool=report.tool,
        style=asset("report.css", own),
        script="".join(asset(name, own) for name in SCRIPTS),
        words=WORDS,
        data={
            "groups": embedded_list(packed_groups(groups, report, texts)),
            "traces": embedded_list(packed_traces(report.traces, texts)),
            "rules": embedded_list(packed_rules(report.rules, texts)),
            # All texts are there once what names them by number has been written.
            "texts": embedded_list(texts.each()),
            # One block a trace: only those that someone looks at are read.
            **{f"timeline-{timeline.trace}": (embedded(packed_timeline(timeline)),) for timeline in timelines},
        },
    )
