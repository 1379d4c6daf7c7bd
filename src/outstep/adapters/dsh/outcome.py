"""What a result says about its call.

The flag `isError` is the tool layer's view: a command that exits with 3, runs out of time or is stopped by the
sandbox is no error there. What happened to it stands in the last lines of its text, put there by the harness:

    [sandbox: file access denied under workspace-write mode]
    [exit code: 1]
"""

from __future__ import annotations

import re

from msgspec import Struct

from outstep.events import Outcome

SHELLS = frozenset({"bash"})
"""Tools whose text ends in such lines."""

UNKNOWN_CODES = frozenset({"TOOL_OUTCOME_UNKNOWN", "TOOL_TIMEOUT", "ABORTED"})
"""Errors after which the tool may have done its work all the same: nobody waited for its answer."""

_EXIT = re.compile(r"\[exit code: (-?[0-9]{1,10})\]")
_DETAIL = re.compile(r"exit code: (-?[0-9]{1,10})")
_DENIED = "[sandbox: file access denied under "
_REMAINS = 8
"""Lines looked at from the end; the harness writes at most five."""


class Ending(Struct, frozen=True):
    """The lines that the harness put at the end of a command's text."""

    exit: int | None = None
    denied: bool = False
    stopped: bool = False
    """Timed out or killed: how far the command got is not known."""
    moved: bool = False
    """Still running in the background."""


def outcome_of(
    tool: str, failed: bool, code: str, text: str, *, refused: bool, job: str | None = None
) -> tuple[Outcome, int | None]:
    """Return the outcome of a call and the exit status of its command.

    `refused`: a hook or an approval said no to this call. `job`: `running`, or what the record of the job says.
    """
    if code in UNKNOWN_CODES:
        return "unknown", None
    if failed:
        denied = refused or code == "FS_SANDBOX_DENIED" or _after_prefix(text).startswith(_DENIED)
        return ("denied" if denied else "failed"), None
    if tool not in SHELLS:
        return "ok", None
    return _of_command(ending(text), job)


def error_text(text: str) -> str:
    """Return the text of a failed result without the harness's prefix."""
    return _after_prefix(text)


def is_shortened(text: str) -> bool:
    """Return whether the harness kept only the beginning and the end of a result, and says so in its last lines."""
    return _without_notes(text)[1]


def settled(status: str, detail: str) -> tuple[Outcome, int | None]:
    """Return the outcome of a command that ran in the background, by the record of its end."""
    match = _DETAIL.search(detail[:64])
    if match is None:
        return "unknown", None
    exit = int(match[1])
    if _DENIED in detail:
        return "denied", exit
    return ("ok" if exit == 0 and status == "completed" else "failed"), exit


def ending(text: str) -> Ending:
    """Read the lines of the harness at the end of a command's text; equal lines further up are the command's own."""
    body, cut = _without_notes(text)
    if body.endswith("\n") and not cut:
        return Ending()  # the output of the command comes last: the harness adds no line end to its own lines
    exit: int | None = None
    denied = stopped = moved = False
    end = len(body.rstrip("\n"))
    for index in range(_REMAINS):
        start = body.rfind("\n", 0, end) + 1
        line = body[start:end]
        if index == 0 and (match := _EXIT.fullmatch(line)):
            exit = int(match[1])
        elif line.startswith(_DENIED) and line.endswith("]"):
            denied = True
        elif line.startswith(("[timed out after ", "[killed by signal: ")) and line.endswith("]"):
            stopped = True
        elif line.startswith("[still running after ") and "; moved to background job " in line:
            moved = True
        elif not line.startswith(("[sandbox: ", "The command keeps running in the background.")):
            break
        if start == 0:
            break
        end = start - 1
    return Ending(exit, denied, stopped, moved)


def _of_command(end: Ending, job: str | None) -> tuple[Outcome, int | None]:
    exit = end.exit
    if job is not None and (match := _DETAIL.match(job)):
        exit = int(match[1])  # the record of the job outranks the text, which the command could have written
    elif end.moved or job == "running":
        return "unknown", None
    elif end.stopped:
        return "unknown", exit
    if end.denied:
        return "denied", exit
    # dsh 0.1.0-0.2.1: a command that ends with 0 gets no line
    return ("ok", 0) if not exit else ("failed", exit)


def _after_prefix(text: str) -> str:
    return text[7:] if text.startswith("Error: ") else text


def _without_notes(text: str) -> tuple[str, bool]:
    """Cut what the harness says about output that it shortened, and say whether it did."""
    cut = False
    for _ in range(3):
        body = text.rstrip("\n") if cut else text
        start = body.rfind("\n") + 1
        line = body[start:]
        omitted = line.startswith("(Omitted ") and " Full formatted result stored at: " in line
        if not omitted and not (line.startswith("[output truncated; full output: ") and line.endswith("]")):
            break
        text, cut = body[:start], True
    return text, cut
