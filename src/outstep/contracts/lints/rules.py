"""Warnings about whole rules: what another format of the record would change, and what picks nothing."""

from __future__ import annotations

from outstep.contracts.kinds import Then
from outstep.contracts.lints.base import Subject
from outstep.contracts.names import entry_fits, is_glob
from outstep.contracts.selectors import Selector


def warn(subject: Subject) -> None:
    """Warn of each rule."""
    for rule in subject.rules():
        within = rule.kind.within if isinstance(rule.kind, Then) else None
        if within is not None and within.unit == "events":
            sentence = f"`{rule.id}`: the number of events between two others changes with the format of the record"
            subject.tell("within-events", sentence, rule.spot, 1, "write `turns`")
        for selector in subject.selectors(rule):
            _warn_of_names(selector, subject)


def _warn_of_names(selector: Selector, subject: Subject) -> None:
    for name in selector.names:
        if name in ("@read", "@write") and name[1:] not in subject.reading.groups:
            sentence = f"no tool has `effect: {name[1:]}`, so `{selector.text}` picks nothing"
            subject.tell("never-picks", sentence, selector.spot, len(selector.text), "declare the effects in `tools`")
        elif is_glob(name) and (meant := _mistyped_glob(name, subject)):
            sentence = f"no declared tool fits `{name}`"
            subject.tell("never-picks", sentence, selector.spot, len(selector.text), meant)


def _mistyped_glob(glob: str, subject: Subject) -> str:
    """Return what a glob that fits no declared tool may mean, where it looks like a slip of the pen.

    Globs are free to mean tools that `tools` does not declare.
    """
    names = subject.contract.tools
    if not glob.endswith("*") or is_glob(glob[:-1]) or len(glob) < 4:
        return ""
    if any(entry_fits(glob, known) for tool in names for known in (tool.name, *tool.names)):
        return ""
    from difflib import get_close_matches  # only where a warning is likely

    head = glob[:-1]
    cuts = dict.fromkeys(
        name[: place + 1]
        for tool in names
        for name in (tool.name, *tool.names)
        for place, sign in enumerate(name)
        if not sign.isalnum()
    )
    near = get_close_matches(head, [cut for cut in cuts if cut[-1] == head[-1]], n=1, cutoff=0.85)
    return f"did you mean `{near[0]}*`?" if near else ""
