"""Messages about what could not be done: a code, a sentence of fact, a place and a next step.

Two families share the form: a *problem* stops a command (usage, contract), a *fault* is a check that could not be
made (an unreadable file, an unpinned version) and is listed in the report. Both end in exit code 2.
"""

from msgspec import Struct

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class Place(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where something stands in a file a person can open."""

    source: str
    """Path as given, or `member` of an archive as `path!member`."""
    line: int | None = None
    """1-based."""
    column: int | None = None
    """1-based, in characters."""
    offset: int | None = None
    """0-based byte offset."""
    pointer: str | None = None
    """JSON pointer."""

    def __str__(self) -> str:
        """Return `source:line:column`, or with a pointer or byte offset."""
        text = self.source
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        if self.pointer is not None:
            text += f" at {self.pointer or '/'}"
        if self.offset is not None:
            text += f" (byte {self.offset})"
        return text


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message: code, fact, place, next step."""

    code: str
    """`family/name`, as `contract/unknown-tool`."""
    sentence: str
    """What is the case, with the value we saw; lower case, no full stop."""
    place: Place | None = None
    excerpt: str = ""
    """The line of the file at `place`, without its line end."""
    underline: tuple[int, int] | None = None
    """First and last-plus-one column (0-based) of the excerpt to underline."""
    help: str = ""
    level: str = "error"
    """`error` or `warning`."""


class OutstepError(Exception):
    """Something could not be done; carries every problem found, not only the first."""

    def __init__(self, *problems: Problem, warnings: tuple[Problem, ...] = ()) -> None:
        super().__init__("; ".join(f"{problem.code}: {problem.sentence}" for problem in problems))
        self.problems = problems
        self.warnings = warnings
        """What was found besides, and would not have stopped anything."""


def problem(code: str, sentence: str, *, place: Place | None = None, help: str = "") -> OutstepError:
    """Return an error with one problem, ready to raise."""
    return OutstepError(Problem(code=code, sentence=sentence, place=place, help=help))


def suggestion(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Return ``did you mean `x`?`` for the nearest known word, or an empty text."""
    from difflib import get_close_matches  # only on the way to an error

    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""
