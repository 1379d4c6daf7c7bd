"""Two runs side by side, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outstep import codec
from outstep.render.escape import shown
from outstep.render.style import Style

if TYPE_CHECKING:
    from outstep.compare.alignment import Pair
    from outstep.compare.steps import Step
    from outstep.compare.values import Difference

_SIGNS = {"same": " ", "changed": "~", "moved": ">", "added": "+", "removed": "-"}
_COLOURS = {"changed": "yellow", "moved": "cyan", "added": "green", "removed": "red"}
AROUND = 2
"""Steps that are the same and stand beside a change."""
MOST_DIFFERENCES = 12


def diff_lines(pairs: Sequence[Pair], style: Style) -> Iterator[str]:
    """Yield the lines of an alignment; long stretches without a change are counted."""
    kept = _kept(pairs)
    skipped = 0
    for place, pair in enumerate(pairs):
        if not kept[place]:
            skipped += 1
            continue
        if skipped:
            yield _folded(skipped, style)
            skipped = 0
        yield from _pair(pair, style)
    if skipped:
        yield _folded(skipped, style)


def _folded(steps: int, style: Style) -> str:
    told = "… 1 step is the same" if steps == 1 else f"… {steps} steps are the same"
    return style.paint(f"      {style.say(told)}", "dim")


def _kept(pairs: Sequence[Pair]) -> list[bool]:
    kept = [False] * len(pairs)
    for place, pair in enumerate(pairs):
        if pair.way != "same":
            for near in range(max(0, place - AROUND), min(len(pairs), place + AROUND + 1)):
                kept[near] = True
    return kept


def _pair(pair: Pair, style: Style) -> Iterator[str]:
    step = pair.after if pair.after is not None else pair.before
    if step is None:
        return
    before = str(pair.before.number) if pair.before is not None else ""
    after = str(pair.after.number) if pair.after is not None else ""
    text = f"{_SIGNS[pair.way]} {before:>4} {after:>4}  {step_text(step)}"
    line = shown(text, style.columns)
    yield style.paint(line, _COLOURS[pair.way]) if pair.way in _COLOURS else line
    for label, some in (("said", pair.said), ("got", pair.answered)):
        for difference in some[:MOST_DIFFERENCES]:
            yield shown(f"             {style.say(label)} {_told(difference, style)}", style.columns)
        if len(some) > MOST_DIFFERENCES:
            more = style.say(f"… and {len(some) - MOST_DIFFERENCES} more")
            yield f"             {style.say(label)} {more}"


def step_text(step: Step) -> str:
    """Return a step on one line."""
    lane = f" [{step.agent}]" if step.agent != "main" else ""
    if step.kind == "call":
        said = step.said if isinstance(step.said, str) else codec.encode(step.said).decode()
        return f"call {step.name}{lane} {said} → {step.outcome}"
    name = f" {step.name}" if step.name else ""
    return f"{step.kind}{name}{lane} {codec.encode(step.said).decode()}"


def _told(difference: Difference, style: Style) -> str:
    path = difference.path or style.say("all of it")
    if difference.before is None:
        return f"{path}: {difference.after} {style.say('is new')}"
    if difference.after is None:
        return f"{path}: {difference.before} {style.say('is gone')}"
    return f"{path}: {difference.before} → {difference.after}"
