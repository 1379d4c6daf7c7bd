"""Where reports go: `--output FORMAT=FILE`, any number of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.cli import console
from outstep.errors import OutstepError, Problem, problem
from outstep.findings import Report
from outstep.render import rendered, renderer
from outstep.render.style import Style

if TYPE_CHECKING:
    from outstep.render.timelines import Timeline

STDOUT = "-"


class Output(Struct, frozen=True):
    """One report to write."""

    format: str
    file: str


def read_outputs(texts: Sequence[str], *, is_json: bool) -> list[Output]:
    """Return what is to be written; without one for stdout, the terminal report goes there."""
    outputs = [_read(text) for text in texts]
    if is_json:
        outputs.append(Output("json", STDOUT))
    outputs = list(dict.fromkeys(outputs))
    files = [output.file for output in outputs]
    meant = [file if file == STDOUT else os.path.realpath(file) for file in files]
    twice = next((file for file, path in zip(files, meant, strict=True) if meant.count(path) > 1), None)
    if twice is not None:
        shown = "stdout" if twice == STDOUT else f"`{twice}`"
        raise problem("usage/arguments", f"two reports cannot both go to {shown}", help="name a file for one of them")
    if STDOUT not in files:
        outputs.append(Output("terminal", STDOUT))
    return outputs


def _read(text: str) -> Output:
    format, sign, file = text.partition("=")
    if not sign or not file:
        raise problem(
            "usage/arguments",
            f"`--output {text}` names no file",
            help="write --output FORMAT=FILE, as json=report.json; `-` is stdout",
        )
    renderer(format)
    return Output(format, file)


GATE_STANDS = "the gate stands as it was told; the exit code is 2, because this report is missing"


def write_whole(file: str, text: str | Iterable[str], help: str = GATE_STANDS) -> None:
    """Write a text, or the parts of one, so that a reader sees all of it or the old one; raises `OutstepError`."""
    parts = (text,) if isinstance(text, str) else text
    data = (part.encode("utf-8", "backslashreplace") for part in parts)
    path = os.path.realpath(file)
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:200]}.{os.getpid()}.part")
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            # A pipe or device has no whole that could be exchanged.
            with open(path, "wb") as out:
                out.writelines(data)
            return
        try:
            with open(beside, "xb") as out:
                out.writelines(data)
            os.replace(beside, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "output/unwritable",
            f"`{file}` cannot be written: {reason}",
            help=help,
        ) from None


def write_all(
    report: Report, outputs: Sequence[Output], style_of: Callable[[Output], Style], timelines: Sequence[Timeline] = ()
) -> list[Problem]:
    """Write a report in each form; returns what could not be written."""
    unwritten: list[Problem] = []
    read = sources_of(report) if any(output.file != STDOUT for output in outputs) else set()
    for output in outputs:
        parts = rendered(output.format, report, style_of(output), timelines)
        try:
            if output.file == STDOUT:
                for part in parts:
                    console.put(part)
                console.flush()
            else:
                # Which files a folder or pattern means is known only now.
                check_not_read([output], read)
                write_whole(output.file, parts)
        except BrokenPipeError:
            # The verdict stands, whoever stopped reading it.
            console.mute()
        except OutstepError as error:
            unwritten += error.problems
    return unwritten


def sources_of(report: Report) -> set[str]:
    """Return the files that were read as traces, those with faults and archives among them."""
    named = [source for trace in report.traces for source in trace.sources]
    named += [fault.place.source for fault in report.faults if fault.place is not None]
    return {*named, *(source.partition("!")[0] for source in named)}


def check_not_read(outputs: Sequence[Output], paths: Iterable[str]) -> None:
    """Refuse to write a report over something that is to be read."""
    read = {os.path.realpath(path) for path in paths if path != STDOUT}
    for output in outputs:
        if output.file != STDOUT and os.path.realpath(output.file) in read:
            raise problem(
                "usage/arguments",
                f"`{output.file}` is read by this check: a report cannot go there",
                help="name another file",
            )
