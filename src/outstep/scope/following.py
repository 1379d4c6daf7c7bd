"""How the surroundings of a call follow from the calls before it: working directory, links, exported names."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from outstep.scope.commands.judging import script_of
from outstep.scope.commands.reading import UnreadableCommand
from outstep.scope.commands.script import Command, Doubt, Values
from outstep.scope.commands.walking import Folders, Walk
from outstep.scope.commands.words import Shown, shown_words
from outstep.scope.harnesses import TOOLS
from outstep.scope.limits import at
from outstep.scope.model import Surroundings, Target
from outstep.scope.paths.spelling import Refused, collapse, spell
from outstep.scope.targets import targets_of

_NOT_RUN = frozenset(("denied",))
_MOST = 4


def follow(
    around: Surroundings, tool: str, args: Any, outcome: str, keeps: bool | None, targets: list[Target] | None = None
) -> Surroundings:
    """Return the surroundings after a call; one that was refused changes nothing."""
    if outcome in _NOT_RUN:
        return around
    found = targets_of(tool, args) if targets is None else targets
    if not found:
        return around
    if keeps is None:
        known = TOOLS.get(tool)
        keeps = known.shell == "persistent" if known is not None and known.shell else None
    for target in found:
        if target.kind == "command":
            around = _after_command(around, target, keeps, outcome)
        elif target.kind == "path" and "link" in tool.lower():
            around = _after_link_tool(around, found)
            break
    return around


def _after_command(around: Surroundings, target: Target, keeps: bool | None, outcome: str) -> Surroundings:
    value = target.value
    text = value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, list) else ""
    if not any(sign in text for sign in ("cd", "ln", "pushd", "popd", "export", "declare", "eval", "source")):
        return around
    try:
        item = script_of(value)
    except UnreadableCommand:
        if keeps is False:
            return around
        return replace(
            around, doubt=around.doubt or "an earlier command could not be read, and may have moved the shell"
        )
    start = around
    if target.folder is not None:
        try:
            start = at(around, spell(target.folder, around).path)
        except Refused:
            return around
    visit = _Changes(start)
    folders: Folders = (start.cwd, *start.elsewhere)
    try:
        succeeded, failed = Walk(visit, around.home).walk(item, folders)
    except UnreadableCommand:
        succeeded = failed = (None,)
    around = replace(
        around,
        links=(*around.links, *visit.links) if visit.links else around.links,
        variables=tuple(sorted({*around.variables, *visit.names}))
        if visit.names and keeps is not False
        else around.variables,
    )
    if keeps is False:
        return around
    reached = succeeded if outcome == "ok" else tuple(dict.fromkeys((*succeeded, *failed)))
    return _moved(around, reached, folders, keeps)


def _moved(around: Surroundings, reached: Folders, before: Folders, keeps: bool | None) -> Surroundings:
    if reached == before:
        return around
    known = [folder for folder in reached if folder is not None]
    doubt = "an earlier command moved the shell to a folder that its text does not tell" if None in reached else ""
    if keeps:
        cwd = known[0] if known else around.cwd
        return replace(around, cwd=cwd, elsewhere=tuple(known[1:_MOST]), doubt=doubt or around.doubt)
    elsewhere = tuple(dict.fromkeys(each for each in (*around.elsewhere, *known) if each != around.cwd))
    if len(elsewhere) > _MOST:
        doubt = "earlier commands may have left the shell in any of several folders"
    return replace(around, elsewhere=elsewhere[:_MOST], doubt=doubt or around.doubt)


class _Changes:
    """Notes the links and the names that a script makes."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.links: list[tuple[str, str]] = []
        self.names: list[str] = []

    def __call__(self, command: Command | Doubt | Values, folders: Folders) -> None:
        if not isinstance(command, Command):
            return
        if not command.words:
            self.names += [word.text.partition("=")[0] for word in command.assignments]
            return
        words = shown_words(command.words, self._around.home)
        name = words[0].text.rpartition("/")[2]
        if name == "ln":
            for folder in folders:
                self.links += links_made(words, folder)
        elif name in ("export", "declare", "typeset", "readonly"):
            self.names += [word.text.partition("=")[0] for word in words[1:] if word.text[:1] != "-"]


def links_made(words: tuple[Shown, ...], folder: str | None) -> list[tuple[str, str]]:
    """Return the symbolic links that `ln` makes, each with where it leads."""
    operands: list[str] = []
    symbolic = False
    into = ""
    place = 1
    while place < len(words):
        text = words[place].text
        if text in ("-t", "--target-directory"):
            place += 1
            into = words[place].text if place < len(words) else ""
        elif text.startswith("--target-directory="):
            into = text.partition("=")[2]
        elif text[:2] == "--":
            symbolic = symbolic or text == "--symbolic"
        elif text[:1] == "-" and len(text) > 1:
            symbolic = symbolic or "s" in text
        else:
            operands.append(text)
        place += 1
    base = folder if folder is not None else "/"
    if not operands or (folder is None and any(each[:1] != "/" for each in operands)):
        return []
    *sources, last = operands if len(operands) > 1 and not into else (*operands, into or operands[0].rpartition("/")[2])
    found: list[tuple[str, str]] = []
    for source in sources:
        # The last operand may be a folder that is there already: the link then lies in it, so both are kept.
        for spot in (last, f"{last}/{source.rstrip('/').rpartition('/')[2]}"):
            link = collapse(spot, base)
            leads = collapse(source, link.rpartition("/")[0] or "/") if symbolic else collapse(source, base)
            if leads != link:
                found.append((link, leads))
    return found


def _after_link_tool(around: Surroundings, targets: list[Target]) -> Surroundings:
    """Return the surroundings after a tool that makes a link: its arguments are where it leads, and the link."""
    paths = [target for target in targets if target.kind == "path" and isinstance(target.value, str)]
    names = ("link", "link_path", "link_name", "destination", "dest", "dst", "new_path", "path", "to")
    link = next((each for name in names for each in paths if each.argument == name), None)
    leads = next((each for each in paths if each is not link), None)
    if link is None or leads is None:
        return around
    place = collapse(link.value, around.cwd)
    lead = collapse(leads.value, place.rpartition("/")[0] or "/")
    return replace(around, links=(*around.links, (place, lead)))
