"""Where words go: reports to stdout, everything else to stderr, colours only for a person's eyes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from outstep.errors import Problem


def put(text: str) -> None:
    """Write text to stdout, byte for byte where it can hold it."""
    with _stdout():
        _write(sys.stdout, text)


def put_bytes(data: bytes) -> None:
    """Write bytes to stdout."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode(errors="backslashreplace"))
        return
    with _stdout():
        sys.stdout.flush()
        buffer.write(data)


def say(text: str) -> None:
    """Write a line to stderr; nobody listening is no reason to stop."""
    with suppress(BrokenPipeError, ValueError):
        _write(sys.stderr, text + "\n")
        sys.stderr.flush()


def say_problems(problems: Iterable[Problem], language: str | None = None) -> None:
    """Write problems to stderr, in a language or else in that of the environment."""
    problems = tuple(problems)
    if not problems:
        return
    from outstep.render.problems import problem_text
    from outstep.render.style import Style

    style = Style(colour=is_coloured(sys.stderr), language=language or os.environ.get("OUTSTEP_LANG") or "en")
    for problem in problems:
        say(problem_text(problem, style))


def say_crash(error: Exception) -> None:
    """Tell that Outstep itself broke; the traceback is for those who ask for it."""
    if os.environ.get("OUTSTEP_TRACEBACK"):
        from traceback import format_exception

        say("".join(format_exception(error)))
    sentence = f"Outstep broke: {type(error).__name__}: {error}"
    help = "this is a mistake of Outstep: please report it with what OUTSTEP_TRACEBACK=1 shows"
    say_problems([Problem(code="internal/crash", sentence=sentence, help=help)])


def flush() -> None:
    """Hand everything on; raises `BrokenPipeError` where nobody reads, `OutstepError` where it cannot be kept."""
    with _stdout():
        sys.stdout.flush()


@contextmanager
def _stdout() -> Iterator[None]:
    """Tell trouble with stdout, such as a full disk, as what it is: a report that is missing."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        from outstep.errors import problem

        mute()
        reason = (error.strerror or str(error)).lower()
        help = "the report is not whole; make room, or write it elsewhere"
        raise problem("output/unwritable", f"stdout cannot be written: {reason}", help=help) from None


def mute() -> None:
    """Leave stdout to nobody, so that the interpreter does not complain about it at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_coloured(stream: TextIO) -> bool:
    """Return whether colours may be shown on a stream."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person sits at the other end."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def columns(stream: TextIO, otherwise: int) -> int:
    """Return how wide a line may be."""
    if not is_terminal(stream):
        return otherwise
    from shutil import get_terminal_size

    return max(40, get_terminal_size((otherwise, 24)).columns)


def _write(stream: TextIO, text: str) -> None:
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
        return
    stream.flush()
    buffer.write(text.encode(stream.encoding or "utf-8", "backslashreplace"))
