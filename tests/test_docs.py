"""The commands in the docs do what the docs show.

A `console` block holds commands after `$ ` and what they print. Commands of `outstep` are run in the root of the
repository; `$ echo $?` shows the exit code of the one before, which is 0 where it is not shown. A line `...` of the
output stands for any number of lines. Output that is not shown is not compared. A `yaml` block that opens with
`outstep: contract/v1` is a whole contract, and has no mistake.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from msgspec import Struct

from tests.command_line import ROOT, needed, outstep

PAGES = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = ("outstep", ".venv/bin/outstep")
NOT_RUN = ("make",)


class Command(Struct, frozen=True):
    """One command of a page, with what it shows."""

    page: str
    line: int
    words: tuple[str, ...]
    code: int
    output: tuple[str, ...]


def commands_of(page: str, text: str) -> list[Command]:
    """Return the commands of all `console` blocks of a page."""
    found: list[Command] = []
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1)) + 1
        for number, line in enumerate(block[1].splitlines(), first):
            if line == "$ echo $?":
                continue
            if line.startswith("$ "):
                found.append(Command(page, number, tuple(shlex.split(line[2:])), 0, ()))
            elif not found or found[-1].line < first:
                raise ValueError(f"{page}:{number}: output before the first command")
            else:
                found[-1] = _shown(found[-1], line, after_echo=_follows_echo(block[1], number - first))
    return found


def _follows_echo(block: str, index: int) -> bool:
    return index > 0 and block.splitlines()[index - 1] == "$ echo $?"


def _shown(command: Command, line: str, *, after_echo: bool) -> Command:
    if after_echo:
        return Command(command.page, command.line, command.words, int(line), command.output)
    return Command(command.page, command.line, command.words, command.code, (*command.output, line))


def fits(shown: tuple[str, ...], printed: str) -> bool:
    """Return whether the printed text is the shown one, `...` standing for any number of lines."""
    parts = [".*" if line == "..." else re.escape(line) + "\n" for line in shown]
    return re.fullmatch("".join(parts), printed.rstrip("\n") + "\n", re.DOTALL) is not None


COMMANDS = [command for page in PAGES for command in commands_of(str(page.relative_to(ROOT)), page.read_text("utf-8"))]


@needed
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.page}:{command.line}")
def test_a_command_in_the_docs_does_what_the_docs_show(command: Command) -> None:
    if command.words[0] in NOT_RUN:
        return
    assert command.words[0] in PROGRAMS, f"{command.page}:{command.line}: only `outstep` and `make` can be shown"
    done = outstep(*command.words[1:], together=True)
    printed = done.stdout.decode()
    assert done.returncode == command.code, printed
    assert not command.output or fits(command.output, printed), printed


def contracts() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in re.finditer(r"^```yaml\n(outstep: contract/v1\n.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, block.start(1)) + 1
            found.append((f"{page.relative_to(ROOT)}:{line}", block[1]))
    return found


@needed
@pytest.mark.parametrize(("place", "contract"), contracts(), ids=[place for place, _ in contracts()])
def test_a_contract_in_the_docs_has_no_mistake(place: str, contract: str, tmp_path: Path) -> None:
    file = tmp_path / "contract.yaml"
    file.write_text(contract, "utf-8")
    done = outstep("contract", "lint", str(file), together=True)
    assert done.returncode == 0, f"{place}\n{done.stdout.decode()}"


def test_exit_codes_and_output_are_read_off_a_block() -> None:
    text = "text\n```console\n$ outstep check 'a b'\nviolated\n...\n$ echo $?\n1\n$ outstep show x\n```\n"
    assert commands_of("page", text) == [
        Command("page", 3, ("outstep", "check", "a b"), 1, ("violated", "...")),
        Command("page", 8, ("outstep", "show", "x"), 0, ()),
    ]


def test_dots_stand_for_any_number_of_lines_and_nothing_else_does() -> None:
    assert fits(("a", "...", "d"), "a\nb\nc\nd\n")
    assert fits(("a", "...", "d"), "a\nd")
    assert not fits(("a", "d"), "a\nb\nd\n")
    assert not fits(("a.",), "ab\n")


def test_the_readme_has_a_command_to_run() -> None:
    assert [command for command in COMMANDS if command.page == "README.md"]
