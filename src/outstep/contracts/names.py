"""Names of tools: which recorded name means which declared tool, and which names a selector means.

docs: docs/language.md, section 3
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from re import compile as linear_pattern
from typing import Any

from outstep.contracts.model import Contract, Tool

_SERVER = linear_pattern(r"mcp__(.+?)__(?=.)")
_HASH = linear_pattern(r"(?<=.)_[0-9a-fA-F]{12}\Z")
_RUN = linear_pattern(r"[\W_]+")
WILD = linear_pattern(r"[*?]")
EFFECTS = ("read", "write")


def split_name(recorded: str) -> tuple[str, str]:
    """Return the server in front of a name (or an empty text) and the name in normal form.

    `mcp__shop__refund_create_2172be3b7416` gives `("shop", "refund_create")`.
    """
    server = ""
    if found := _SERVER.match(recorded):
        server, recorded = found[1], recorded[found.end() :]
    return server, _RUN.sub("_", _HASH.sub("", recorded))


def normal_form(recorded: str) -> str:
    """Return a name without server and hash, with one `_` for every run of other characters."""
    return split_name(recorded)[1]


def is_glob(name: str) -> bool:
    """Return whether a name stands for several: it holds `*` or `?`."""
    return WILD.search(name) is not None


def glob_fits(pattern: str, text: str) -> bool:
    """Return whether a text fits a glob: `*` any characters, `?` one; at most length times length steps."""
    star, resume = -1, 0
    at, reached = 0, 0
    while reached < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, reached
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", text[reached]):
            at += 1
            reached += 1
        elif star >= 0:
            resume += 1
            at, reached = star + 1, resume
        else:
            return False
    return all(sign == "*" for sign in pattern[at:])


def collisions(tools: Iterable[Tool]) -> list[tuple[str, str, str]]:
    """Return `(tool, earlier tool, name)` for each name that would stand for two declared tools."""
    found: list[tuple[str, str, str]] = []
    exact: dict[str, str] = {}
    normal: dict[tuple[str, str], str] = {}
    for tool in tools:
        for name in dict.fromkeys((tool.name, *tool.names)):
            earlier = exact.setdefault(name, tool.name)
            if earlier == tool.name:
                earlier = normal.setdefault(split_name(name), tool.name)
            if earlier != tool.name:
                found.append((tool.name, earlier, name))
    return found


class ToolNames:
    """Maps recorded names to the tools of a contract, and holds selectors against them."""

    def __init__(self, contract: Contract) -> None:
        self._tools = {tool.name: tool for tool in contract.tools}
        self._defaults = contract.defaults
        self._exact: dict[str, str] = {}
        self._by_server: dict[tuple[str, str], str] = {}
        self._settled: dict[str, list[str]] = {}
        """Normal forms that `names` spells out with a server, with the tools that do."""
        for tool in contract.tools:
            for name in (tool.name, *tool.names):
                self._exact.setdefault(name, tool.name)
                server, base = split_name(name)
                self._by_server.setdefault((server, base), tool.name)
                if server:
                    meant = self._settled.setdefault(base, [])
                    if tool.name not in meant:
                        meant.append(tool.name)
        self._canonical: dict[str, str] = {}
        self._groups: dict[str, frozenset[str]] = {}

    def canonical(self, recorded: str) -> str:
        """Return the declared name that a recorded name stands for, or the recorded name itself."""
        known = self._canonical.get(recorded)
        if known is None:
            known = self._canonical[recorded] = self._find(recorded)
        return known

    def _find(self, recorded: str) -> str:
        if recorded in self._exact:
            return self._exact[recorded]
        server, base = split_name(recorded)
        if (server, base) in self._by_server:
            return self._by_server[server, base]
        settled = self._settled.get(base, [])
        if server:
            # A contract that names one server's tool does not mean the tool of another server.
            return recorded if settled else self._by_server.get(("", base), recorded)
        return settled[0] if len(settled) == 1 else recorded

    def tool(self, canonical: str) -> Tool | None:
        """Return the declared tool, or none."""
        return self._tools.get(canonical)

    def matches(self, names: Sequence[str], recorded: str, canonical: str) -> bool:
        """Return whether a selector's names mean this tool; no names mean any."""
        return not names or any(self._means(name, recorded, canonical) for name in names)

    def _means(self, name: str, recorded: str, canonical: str) -> bool:
        if name[:1] == "@":
            return name[1:] in self.groups(canonical)
        if name in (canonical, "*"):
            return True
        if not is_glob(name):
            return False
        if glob_fits(name, canonical):
            return True
        return glob_fits(_normal_glob(name), normal_form(recorded))

    def groups(self, canonical: str) -> frozenset[str]:
        """Return effect and tags of a tool; an undeclared one has those of the globs in `tools` that it fits."""
        known = self._groups.get(canonical)
        if known is None:
            tool = self._tools.get(canonical)
            if tool is None:
                effect, tags = _defaulted(self._defaults, canonical)
            else:
                effect, tags = tool.effect, tool.tags
            known = self._groups[canonical] = frozenset((*tags, effect) if effect else tags)
        return known

    def ambiguous(self, recorded: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the declared names that recorded names of different servers fall together on, with those names."""
        fallen: dict[str, dict[str, str]] = {}
        for name in recorded:
            canonical = self.canonical(name)
            if canonical in self._tools and name not in self._exact:
                fallen.setdefault(canonical, {}).setdefault(split_name(name)[0], name)
        return tuple((tool, tuple(names.values())) for tool, names in fallen.items() if len(names) > 1)

    @staticmethod
    def glob(pattern: str, text: str) -> bool:
        """Return whether a text fits a glob, as one of a lane's id after `by`."""
        return glob_fits(pattern, text)


def entry_fits(glob: str, name: str) -> bool:
    """Return whether a glob entry of `tools` gives defaults to a tool of this name."""
    return glob_fits(glob, name) or glob_fits(_normal_glob(glob), normal_form(name))


def defaulted_tool(defaults: Sequence[Tool], name: str) -> Tool | None:
    """Return what the glob entries of `tools` say of a tool that no entry declares; none where none fits."""
    fitting = [entry for entry in defaults if entry_fits(entry.name, name)]
    if not fitting:
        return None
    said: dict[str, Any] = {}
    for entry in fitting:
        said.update({key: value for key in entry.__struct_fields__ if (value := getattr(entry, key))})
    return Tool(**{**said, "name": name, "names": ()})


def _normal_glob(glob: str) -> str:
    """Return a glob in normal form: what is no wild card reads as a name does."""
    pieces = [_RUN.sub("_", piece) for piece in WILD.split(glob)]
    signs = [*WILD.findall(glob), ""]
    return "".join(piece + sign for piece, sign in zip(pieces, signs, strict=True))


def _defaulted(defaults: tuple[Tool, ...], name: str) -> tuple[str | None, tuple[str, ...]]:
    effect: str | None = None
    tags: tuple[str, ...] = ()
    for entry in defaults:
        if entry_fits(entry.name, name):
            effect = entry.effect or effect
            tags = entry.tags or tags
    return effect, tags
