"""The files of a contract: itself, what it includes by name or path, and the pack `integrity`.

docs: docs/language.md, section 1
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from outstep.contracts import claims, facts, packs
from outstep.contracts.fields import Fields, entries, scalars
from outstep.contracts.located import Node, Scalar, decode, plain_value, read
from outstep.contracts.model import SCHEMA, Rule
from outstep.contracts.report import File, Report, Span
from outstep.digest import sha256

KEYS = (
    "outstep",
    "id",
    "title",
    "include",
    "levels",
    "stage",
    "applies_when",
    "params",
    "waivers",
    "tools",
    "facts",
    "claims",
    "rules",
)
MOST_FILES = 100
MOST_PARAMS = 1000


class Part:
    """One file of a contract."""

    def __init__(self, file: File, fields: Fields, pack: str, is_bundled: bool) -> None:
        self.file = file
        self.fields = fields
        self.pack = pack
        """What `include` calls it; empty for the contract itself."""
        self.is_bundled = is_bundled
        self.includes: list[Part] = []
        self.rules: list[tuple[Rule, Span]] = []


class Parts:
    """All files of a contract, read and not yet checked."""

    def __init__(self, report: Report, read_file: Callable[[str], bytes] | None, name: str, data: bytes | None) -> None:
        """Read the contract `name`, from `data` or by `read_file`, and everything it includes."""
        self._report = report
        self._read_file = read_file
        self._contents: list[tuple[str, bytes]] = []
        self._parts: dict[str, Part | None] = {}
        self._open: list[str] = []
        self.in_order: list[Part] = []
        """Included files before those that include them; the pack `integrity` last."""
        self.names_a_pack = False
        """Whether some `include` names a pack."""
        self.integrity: Part | None = None
        """The pack `integrity`."""
        self.main = self._part(name, "", data, None)
        if self.main is not None:
            self.integrity = self._bundled("integrity", None)
        if self.integrity in self.in_order:
            self.in_order.remove(self.integrity)
            self.in_order.append(self.integrity)
        self.facts: dict[str, facts.Entry] = {}
        self.replaced: list[tuple[facts.Entry, facts.Entry]] = []
        """Facts of included files with those that stand in their place."""
        self.claims: dict[str, claims.Entry] = {}
        for part in self.in_order:
            self._collect(part)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the files, the contract first."""
        return tuple(name for name, _ in self._contents)

    @property
    def contents(self) -> tuple[tuple[str, bytes], ...]:
        """Names and bytes of the files, the contract first."""
        return tuple(self._contents)

    def digest(self) -> str:
        """Return the sha256 of the contract's bytes and of the digests of what it includes."""
        whole = sha256(self._contents[0][1])
        for _, data in self._contents[1:]:
            whole.update(sha256(data).digest())
        return whole.hexdigest()

    def params(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters, the nearest file's value for each, replaced by those that are given."""
        found: dict[str, Any] = {}
        for part in self.in_order:
            for key, value in entries(part.fields.get("params"), self._report, "`params`", MOST_PARAMS):
                if not key.text.isidentifier() or not key.text.isascii():
                    sentence = f"`params.{key.text}` cannot be read in an expression"
                    self._report.error("reserved-name", sentence, key.span, "use letters, digits and `_`")
                found[key.text] = plain_value(value)
        for name, value in given.items():
            if name not in found:
                near = self._report.similar(name, list(found))
                listed = ", ".join(f"`{known}`" for known in found) or "none"
                sentence = f"the contract has no parameter `{name}`"
                self._report.error("unknown-name", sentence, None, near or f"its parameters: {listed}")
            else:
                found[name] = value
        return found

    def _part(self, name: str, pack: str, data: bytes | None, span: Span | None) -> Part | None:
        """Read one file and what it includes; none (and a mistake) where it cannot be read."""
        if name in self._parts:
            return self._parts[name]
        if len(self._parts) >= MOST_FILES and pack != "integrity":
            self._report.error("include", f"a contract has at most {MOST_FILES} files", span)
            return None
        self._parts[name] = None
        if data is None:
            data = self._data(name, span)
        if data is None:
            return None
        index = len(self._contents)
        self._contents.append((name, data))
        file = decode(data, name, index, self._report)
        node = None if file is None else read(file, self._report)
        if file is None or not self._is_contract(file, node):
            return None
        fields = Fields(node, self._report, "a contract", KEYS)
        part = Part(file, fields, pack, name.startswith("pack:"))
        self._check_head(part)
        self._parts[name] = part
        self._open.append(name)
        self._include(part)
        self._open.pop()
        self.in_order.append(part)
        return part

    def _data(self, name: str, span: Span | None) -> bytes | None:
        if self._read_file is None:
            self._report.error(
                "include", f"`{name}` cannot be opened here", span, "give the loader a way to read files"
            )
            return None
        try:
            return self._read_file(name)
        except (OSError, KeyError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it cannot be opened"
            code = "unreadable" if span is None else "include"
            self._report.error(code, f"`{name}` cannot be read: {reason.lower()}", span)
            return None

    def _is_contract(self, file: File, node: Node | None) -> bool:
        start = Span(file, 0, 1)
        if node is None or (isinstance(node, Scalar) and node.kind == "null"):
            if not self._report.failed:
                help = f"begin with `outstep: {SCHEMA}`"
                self._report.error("missing-key", f"`{file.name}` is empty", start, help)
            return False
        return True

    def _check_head(self, part: Part) -> None:
        if "outstep" not in part.fields and part.pack:
            return
        node = part.fields.need("outstep", f"write `outstep: {SCHEMA}`")
        if node is not None and not (isinstance(node, Scalar) and node.text == SCHEMA):
            shown = f"`{node.text}`" if isinstance(node, Scalar) else "this"
            sentence = f"{shown} is no contract language that this version reads"
            self._report.error("value", sentence, node.span, f"write `outstep: {SCHEMA}`")

    def _include(self, part: Part) -> None:
        node = part.fields.get("include")
        if node is None:
            return
        for item in scalars(node, self._report, "`include`"):
            if _is_path(item.text):
                name = posixpath.normpath(posixpath.join(posixpath.dirname(part.file.name), item.text))
                included = None if part.is_bundled else self._file(name, item)
            else:
                self.names_a_pack = True
                included = self._bundled(item.text, item.span)
            if included is not None and included not in part.includes:
                part.includes.append(included)

    def _file(self, name: str, item: Scalar) -> Part | None:
        if name in self._open:
            chain = " → ".join(f"`{file}`" for file in (*self._open[self._open.index(name) :], name))
            self._report.error("include-cycle", f"a file includes itself: {chain}", item.span)
            return None
        return self._part(name, item.text, None, item.span)

    def _bundled(self, name: str, span: Span | None) -> Part | None:
        data = packs.source(name)
        if data is None:
            if span is not None:
                known = list(packs.NAMES)
                help = "a file is included by its path, as `./common.yaml`"
                self._report.unknown("include", f"there is no pack `{name}`", span, name, known, help=help)
            return None
        return self._part(f"pack:{name}", name, data, span)

    def _collect(self, part: Part) -> None:
        """Take the facts and claims of one file; a nearer file's stand in the place of those with the same name."""
        for key, value in entries(part.fields.get("facts"), self._report, "`facts`", facts.MOST_FACTS):
            entry = facts.Entry(key, value)
            if (earlier := self.facts.pop(key.text, None)) is not None:
                self.replaced.append((earlier, entry))
            self.facts[key.text] = entry
        for key, value in entries(part.fields.get("claims"), self._report, "`claims`", claims.MOST_CLAIMS):
            self.claims.pop(key.text, None)
            self.claims[key.text] = claims.Entry(key, value)


def _is_path(text: str) -> bool:
    return text.startswith((".", "/")) or "/" in text or text.endswith((".yaml", ".yml"))
