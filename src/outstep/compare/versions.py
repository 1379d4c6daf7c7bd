"""What acted in the runs: model, prompt, skills, tools, harness, configuration, and how often each version passed.

docs: docs/compare.md#versions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from outstep.compare.results import PARTS, Result, Results
from outstep.compare.scores import Score, score


class Difference(Struct, frozen=True, kw_only=True):
    """A part of what acted that is not the same on both sides."""

    part: str
    before: tuple[str, ...]
    """Its values; empty where no run records it."""
    after: tuple[str, ...]


class Version(Struct, frozen=True, kw_only=True):
    """One combination of parts, with its runs on all sides."""

    subject: dict[str, str]
    score: Score


def versions(sides: Sequence[Results]) -> list[Version]:
    """Return how each version did, in order of appearance; none where the scores of the sides tell it already."""
    found: dict[tuple[str, ...], list[Result]] = {}
    for side in sides:
        for run in side.runs:
            found.setdefault(tuple(run.subject.get(part, "") for part in PARTS), []).append(run)
    own = [{tuple(run.subject.get(part, "") for part in PARTS) for run in side.runs} for side in sides]
    if len(found) < 2 or (len(sides) == 2 and all(len(one) == 1 for one in own)):
        return []
    return [
        Version(
            subject={part: value for part, value in zip(PARTS, values, strict=True) if value},
            score=score(runs, f"version {number}"),
        )
        for number, (values, runs) in enumerate(found.items(), 1)
    ]


def varying(told: Sequence[Version]) -> list[str]:
    """Return the parts in which versions differ."""
    return [part for part in PARTS if len({one.subject.get(part, "") for one in told}) > 1]


def differences(before: Results, after: Results) -> Iterator[Difference]:
    """Yield the parts of what acted that differ, as far as both sides record them."""
    for part in PARTS:
        was, now = _values(before, part), _values(after, part)
        if was and now and was != now:
            yield Difference(part=part, before=was, after=now)


def _values(side: Results, part: str) -> tuple[str, ...]:
    return tuple(sorted({run.subject[part] for run in side.runs if run.subject.get(part)}))


def split(sides: Sequence[Results], part: str) -> list[Results]:
    """Return the runs of some sides as one side for each value of a part; runs that do not record it are one, too."""
    found: dict[str, list[Result]] = {}
    for side in sides:
        for run in side.runs:
            found.setdefault(run.subject.get(part, ""), []).append(run)
    by_model = any(len({run.model for run in runs}) > 1 for runs in found.values())
    return [
        Results(
            name=f"{part} {short(value)}" if value else f"{part} not recorded",
            runs=tuple(_numbered(runs, by_model=by_model)),
            contracts=tuple(dict.fromkeys(one for side in sides for one in side.contracts)),
            known_rules=tuple(dict.fromkeys(rule for side in sides for rule in side.known_rules)),
        )
        for value, runs in found.items()
    ]


def _numbered(runs: Sequence[Result], *, by_model: bool) -> Iterator[Result]:
    """Yield runs that come from several sides, their epochs numbered anew, so that each can be paired once."""
    epochs: dict[tuple[str, str], int] = {}
    for run in runs:
        key = (run.case, run.model if by_model else "")
        epochs[key] = epochs.get(key, 0) + 1
        yield replace(run, epoch=epochs[key])


def short(value: str) -> str:
    """Return a value as it is shown: of a digest the first twelve digits."""
    is_digest = len(value) == 64 and all(sign in "0123456789abcdef" for sign in value)
    return value[:12] if is_digest else value
