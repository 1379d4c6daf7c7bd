"""`html`: one self-contained page: the verdict, the findings, and each trace as a timeline.

It loads nothing. Without a script it shows the gate, the counts and the first findings; its script filters, searches
and draws timelines, from data in which nothing acts (`render/page`).
docs: docs/html.md
"""

from __future__ import annotations

from collections.abc import Sequence

from outstep.findings import Report
from outstep.render.html.opening import body
from outstep.render.html.packed import Texts, packed_groups, packed_rules, packed_timelines, packed_traces
from outstep.render.html.words import WORDS
from outstep.render.page import SHELL, asset, embedded, in_words, page
from outstep.render.style import Style
from outstep.render.timelines import Timeline
from outstep.render.wording import folded

SCRIPTS = ("packed.js", "findings.js", "timeline.js", "report.js")


def render(report: Report, style: Style, timelines: Sequence[Timeline] = ()) -> str:
    """Return the page; `timelines` are the traces whose events it shows, the other ones by what findings quote."""
    # What stands against the release comes first.
    groups = sorted(folded(report.findings), key=lambda group: not any(map(report.gates, group)))
    texts = Texts()
    told = {
        "groups": packed_groups(groups, report, texts),
        "traces": packed_traces(report.traces, texts),
        "rules": packed_rules(report.rules, texts),
    }
    timeline_texts, by_trace = packed_timelines(timelines)
    words = in_words({**SHELL, **WORDS}, style.language)
    own = "outstep.render.html"
    return page(
        words[f"title-{report.gate}"],
        body(report, groups, words),
        language=style.language,
        tool=report.tool,
        style=asset("report.css", own),
        script="".join(asset(name, own) for name in SCRIPTS),
        words=WORDS,
        data={
            "texts": embedded(texts.all),
            "report": embedded(told),
            "timeline-texts": embedded(timeline_texts),
            "timelines": embedded({str(trace): row for trace, row in by_trace.items()}),
        },
    )
