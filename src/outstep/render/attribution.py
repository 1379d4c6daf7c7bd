"""Where a finding went wrong, as people and programs read it (docs/attribution.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from outstep.render.escape import shown, visible
from outstep.render.style import PLAIN, Style
from outstep.render.values import pretty
from outstep.render.wording import count, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from outstep.attribution.answer import Answer, Basis, Reading, RuledOut
    from outstep.attribution.matrix import Contrast
    from outstep.findings import Finding

MOST_RUNS = 8
LONGEST = 1000


def terminal(
    finding: Finding,
    source: str,
    answer: Answer,
    contrasts: Sequence[Contrast] = (),
    notes: Sequence[str] = (),
    style: Style = PLAIN,
) -> str:
    """Return a reading as text."""
    colour = "red" if finding.verdict == "violated" else "yellow"
    head = style.paint(f"{style.say(finding.verdict)}[{visible(finding.rule)}]", colour)
    message = style.say(finding.message) if finding.message == finding.sentence else finding.message
    lines = [
        f"{head} {style.say(finding.level)}: {shown(message, LONGEST)}",
        f"  {style.paint('-->', 'cyan')} {_where(finding, source, style)}",
        "",
        style.paint(style.say(headline(answer)), "bold"),
    ]
    for number, reading in enumerate(answer.readings, 1):
        lines += _reading(number, reading, style)
    if not answer.readings:
        lines += _untold(answer, style)
    lines += [f"  {style.say(f'note: {visible(note)}')}" for note in notes]
    lines += contrast_lines(contrasts, style)
    return "\n".join(lines) + "\n"


def _where(finding: Finding, source: str, style: Style) -> str:
    spot = where(finding, names_trace=True, style=style)
    return spot if finding.place is not None else f"{visible(source)}: {spot}"


def headline(answer: Answer) -> str:
    """Return on one line where it went wrong."""
    if not answer.readings:
        return "can't tell where it went wrong"
    factors = list(dict.fromkeys(reading.factor for reading in answer.readings))
    return f"went wrong at: {', then '.join(factors)}"


def _reading(number: int, reading: Reading, style: Style) -> Iterator[str]:
    told = style.say(f"{reading.factor} [{reading.code}]: {reading.sentence}")
    yield f"  {number}. {shown(told, LONGEST)}"
    yield from (f"     {line}" for line in _proof(reading.rests_on, reading.ruled_out, style))


def _untold(answer: Answer, style: Style) -> Iterator[str]:
    yield f"  {shown(style.say(f'[{answer.code}] {answer.because}'), LONGEST)}"
    yield from (f"     {line}" for line in _proof(answer.rests_on, answer.ruled_out, style))
    if answer.left:
        possible = f"still possible: {', '.join(answer.left)}"
        yield f"     {style.say(possible)}"
    if answer.would_tell:
        yield f"     {shown(style.say(f'what would tell: {answer.would_tell}'), LONGEST)}"


def _proof(rests_on: Sequence[Basis], ruled_out: Sequence[RuledOut], style: Style) -> Iterator[str]:
    for basis in rests_on:
        yield shown(style.say(basis_text(basis)), style.columns)
    for one in ruled_out:
        yield shown(style.say(ruled_out_text(one)), style.columns)


def basis_text(basis: Basis) -> str:
    """Return an event that a reading rests on, not yet escaped."""
    event = f"event {basis.event}" if basis.event else "beside it"
    note = f" ({basis.note})" if basis.note else ""
    return f"rests on {event}{note}: {basis.quote}"


def ruled_out_text(one: RuledOut) -> str:
    """Return a factor that is ruled out, not yet escaped."""
    events = f" (event {', '.join(map(str, one.events))})" if one.events else ""
    return f"not {one.factor}: {one.because}{events}"


def contrast_lines(contrasts: Sequence[Contrast], style: Style = PLAIN) -> Iterator[str]:
    """Yield what runs that differ in one factor say, safe to show."""
    if contrasts:
        yield ""
        yield style.say("runs of the same case that differ in one recorded factor:")
    for one in contrasts:
        broken, held, other_broken, other_held = one.counts
        verdict = f"went wrong at: {one.factor}" if one.is_told else "can't tell"
        told = (
            f"{one.part} {visible(one.broken)} against {visible(one.held)}: {verdict}: {visible(one.says)}"
            f" (broken {broken} of {broken + held}, {other_broken} of {other_broken + other_held}; p = {one.p:.3f})"
        )
        yield f"  {style.say(told)}"
        more = f", … {count(len(one.runs) - MOST_RUNS, 'run')} more" if len(one.runs) > MOST_RUNS else ""
        runs = f"rests on: {', '.join(visible(run) for run in one.runs[:MOST_RUNS])}{more}"
        yield f"     {style.say(runs)}"
        if one.unrecorded:
            absent = f"not recorded, so taken as the same: {', '.join(one.unrecorded)}"
            yield f"     {style.say(absent)}"


def json(some: Sequence[tuple[Finding, str, Answer, Sequence[Contrast], Sequence[str]]]) -> str:
    """Return readings as indented JSON, schema `attribution/v1`."""
    told: list[dict[str, Any]] = [
        {
            "finding": msgspec.to_builtins(finding),
            "source": source,
            "factors": list(dict.fromkeys(reading.factor for reading in answer.readings)),
            "answer": msgspec.to_builtins(answer),
            "contrasts": msgspec.to_builtins(list(contrasts)),
            "notes": list(notes),
        }
        for finding, source, answer, contrasts, notes in some
    ]
    return pretty({"schema": "attribution/v1", "findings": told})
