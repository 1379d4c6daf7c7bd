"""The report as the page's script reads it: every text once, and everything else as small numbers.

A hundred thousand findings repeat most of what they say. The script looks up texts by number, searches each of them
once, and makes elements only for what is on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from outstep.errors import Place
from outstep.findings import Finding, Report, RuleSummary, Touched, TraceSummary, Witness
from outstep.render.escape import visible
from outstep.render.timelines import Step, Timeline

VERDICTS = ("violated", "inconclusive", "vacuous", "satisfied")
LEVELS = ("block", "warn", "observe")
LONGEST = 2000
"""Characters of one text of a finding."""

Row = list[Any]


class Texts:
    """Texts by number; each stands once, made safe to show."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def add(self, text: str, longest: int = LONGEST) -> int:
        """Return the number of a text; line ends are kept, everything else that acts is spelled out."""
        known = self._numbers.get(text)
        if known is not None:
            return known
        kept = text if len(text) <= longest else text[: longest - 1] + "…"
        shown = visible(kept) if "\n" not in kept else "\n".join(map(visible, kept.split("\n")))
        self.all.append(shown)
        number = self._numbers[text] = len(self.all) - 1
        return number

    def each(self) -> Iterator[str]:
        """Yield the texts in the order of their numbers."""
        yield from self.all

    def several(self, texts: Sequence[str]) -> list[int]:
        """Return the numbers of some texts."""
        return [self.add(text) for text in texts]


def packed_groups(groups: Sequence[Sequence[Finding]], report: Report, texts: Texts) -> Iterator[Row]:
    """Yield groups of findings as rows, in the order that `unpackGroup` of the script reads."""
    traces: dict[str, int] = {}
    for number, trace in enumerate(report.traces):
        traces.setdefault(trace.id, number)
    for group in groups:
        yield _group(group, report, traces, texts)


def _group(group: Sequence[Finding], report: Report, traces: Mapping[str, int], texts: Texts) -> Row:
    first = group[0]
    return [
        traces.get(first.trace, -1) if first.trace else -1,
        VERDICTS.index(first.verdict),
        int(any(report.gates(finding) for finding in group)),
        first.seq if first.seq is not None else -1,
        first.event or 0,
        first.of or 0,
        first.turn if first.turn is not None else -1,
        texts.add("" if first.agent == "main" else first.agent),
        _spot(first.place, first.raw_seq, texts),
        texts.add(first.contract),
        texts.add(first.waived),
        texts.several(first.missing),
        _witnesses(group, texts),
        [_member(finding, texts) for finding in group],
    ]


def _member(finding: Finding, texts: Texts) -> Row:
    sentence = finding.sentence if finding.sentence != finding.message else ""
    return [
        texts.add(finding.rule),
        LEVELS.index(finding.level),
        texts.add(finding.message),
        texts.add(sentence),
        texts.add(finding.key if finding.key != finding.call_id else ""),
        texts.several(finding.values),
        texts.add(finding.reason),
        texts.add(str(finding.contract_place) if finding.contract_place is not None else ""),
        texts.add(finding.cls),
        texts.add(_shared(finding)),
        texts.add(finding.fingerprint),
        _touched(finding.touched, texts),
    ]


def _shared(finding: Finding) -> str:
    """Return the help with signs of private use for rule and trace: the same text for all findings."""
    help = finding.help
    for sign, name in (("\ue001", finding.trace), ("\ue000", finding.rule)):
        if name.isascii() and name.isprintable():
            help = help.replace(f'"{name}"', f'"{sign}"')
    return help


def _touched(touched: Touched | None, texts: Texts) -> list[int]:
    if touched is None:
        return []
    told = f"{touched.access} {touched.kind} {touched.target}".strip()
    return texts.several((told, touched.rule, touched.differs, touched.outcome, touched.fix))


def _witnesses(group: Sequence[Finding], texts: Texts) -> list[Row]:
    met: dict[tuple[int, str], Witness] = {}
    for finding in group:
        for witness in finding.witness:
            met.setdefault((witness.seq, witness.note), witness)
    return [
        [
            witness.seq,
            # The reason of a gap is both its note and part of its quote.
            texts.add("" if witness.note in witness.quote else witness.note),
            texts.add(witness.quote),
            _spot(witness.place, witness.raw_seq, texts),
            texts.add(witness.type),
        ]
        for witness in met.values()
    ]


def _spot(place: Place | None, raw_seq: int | None, texts: Texts) -> list[int]:
    """Return source, the place in it, and the raw format's own number plus one."""
    if place is None:
        return []
    row = [texts.add(place.source), texts.add(_within(place))]
    return row if raw_seq is None else [*row, raw_seq + 1]


def _within(place: Place) -> str:
    if place.line is not None:
        return f":{place.line}" + (f" {place.pointer}" if place.pointer else "")
    if place.pointer is not None:
        return f" {place.pointer or '/'}"
    return f" +{place.offset}" if place.offset is not None else ""


def packed_traces(traces: Sequence[TraceSummary], texts: Texts) -> Iterator[Row]:
    """Yield what was read of each trace."""
    for trace in traces:
        yield [
            texts.add(trace.id),
            texts.several(trace.sources),
            texts.add(f"{trace.format} {trace.version}".strip()),
            int(trace.unpinned),
            texts.several([f"{name} {value}" for name, value in trace.subject.items()]),
            trace.events,
            trace.calls,
            trace.unanswered,
            texts.add(", ".join(f"{kind} ×{number}" for kind, number in trace.skipped.items())),
            texts.add(trace.end),
            [trace.violated, trace.inconclusive, trace.vacuous, trace.satisfied],
            texts.several(trace.sha256),
            texts.several([f"{metric.name} {metric.value}" for metric in trace.metrics]),
        ]


def packed_rules(rules: Sequence[RuleSummary], texts: Texts) -> Iterator[Row]:
    """Yield the rules with their counts of traces by verdict."""
    for rule in rules:
        yield [
            texts.add(rule.rule),
            LEVELS.index(rule.level),
            texts.add(rule.contract),
            texts.add(rule.pack),
            [rule.violated, rule.inconclusive, rule.vacuous, rule.satisfied],
        ]


def packed_timeline(timeline: Timeline) -> Row:
    """Return a timeline with texts of its own: lanes, steps, texts."""
    texts = Texts()
    lanes = [[texts.add(lane), texts.add(kind)] for lane, kind in timeline.lanes.items()]
    steps = [_step(step, texts) for step in timeline.steps]
    return [lanes, steps, texts.all]


def _step(step: Step, texts: Texts) -> Row:
    whole = 1 << 20  # what is long was cut, and counted, where the events were collected
    return [
        step.index,
        step.seq,
        texts.add(step.type),
        texts.add(step.agent),
        step.turn if step.turn is not None else -1,
        texts.add(step.tool),
        texts.add(step.outcome),
        step.answers or 0,
        int(step.is_open),
        texts.add(step.text, whole),
        step.left,
        texts.several(step.hidden),
        texts.several(step.may_hide),
        _spot(step.place, step.raw_seq, texts),
        texts.add(step.record, whole),
        step.record_left,
        texts.add(step.call_id),
        texts.add("" if step.by == "model" else step.by),
    ]
