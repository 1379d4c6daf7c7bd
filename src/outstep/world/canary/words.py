"""Words of the shell: quotes, variables, substitutions and patterns of file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node

    from outstep.world.canary.shell import Shell

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_STRING = re.compile(r'\\([\\"$`\n])')
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "e": "\x1b"}
_PATTERN = re.compile(r"[*?\[]")


def text_of(source: bytes, node: Node) -> str:
    """Return a node as it is written."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


class Expander:
    """Expands the words of one text."""

    def __init__(self, shell: Shell, source: bytes) -> None:
        self._shell = shell
        self._source = source

    def one(self, node: Node) -> str:
        """Return a word as one text: neither split nor taken for a pattern."""
        return "".join(text for text, _ in self._parts(node))

    def many(self, node: Node) -> list[str]:
        """Return the words that a word becomes: none, one, or several."""
        parts = self._parts(node)
        if not any(is_bare for _, is_bare in parts):
            return ["".join(text for text, _ in parts)]
        whole = "".join(text for text, _ in parts)
        is_split = node.type in ("simple_expansion", "expansion", "command_substitution")
        words = whole.split() if is_split else [whole]
        bare = "".join(text for text, is_bare in parts if is_bare)
        found: list[str] = []
        for word in words:
            names = self._shell.files.glob(word, self._shell.cwd) if _PATTERN.search(bare) else []
            found += names or [word]
        return found

    def _parts(self, node: Node) -> list[tuple[str, bool]]:
        """Return texts, each with whether it stands outside quotes."""
        text = text_of(self._source, node)
        kind = node.type
        if kind in ("word", "number", "extglob_pattern", "regex", "variable_name"):
            return [(self._bare(text), True)]
        if kind == "raw_string":
            return [(text[1:-1], False)]
        if kind == "string":
            return [(self._string(node), False)]
        if kind == "ansi_c_string":
            return [(_ESCAPE.sub(lambda found: _ANSI.get(found[1], found[1]), text[2:-1]), False)]
        if kind == "concatenation":
            return [part for child in node.children for part in self._parts(child)]
        return [(self._expanded(node), True)]

    def _bare(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            text = self._shell.env.get("HOME", "") + text[1:]
        return _ESCAPE.sub(r"\1", text)

    def _string(self, node: Node) -> str:
        """Return what stands between double quotes: what no node covers is text, too."""
        kept: list[str] = []
        at = node.start_byte + 1
        for child in node.children:
            if child.type == '"':
                continue
            kept.append(self._quoted(at, child.start_byte))
            if child.type == "string_content":
                kept.append(self._quoted(child.start_byte, child.end_byte))
            else:
                # tree-sitter-bash 0.25: the blanks before an expansion in a string belong to its node.
                written = text_of(self._source, child)
                kept.append(written[: len(written) - len(written.lstrip())] + self._expanded(child))
            at = child.end_byte
        kept.append(self._quoted(at, node.end_byte - 1))
        return "".join(kept)

    def _quoted(self, start: int, end: int) -> str:
        text = self._source[start : max(start, end)].decode("utf-8", "replace")
        return _ESCAPE_IN_STRING.sub(lambda found: "" if found[1] == "\n" else found[1], text)

    def _expanded(self, node: Node) -> str:
        text = text_of(self._source, node).lstrip()
        if node.type == "simple_expansion":
            return self._variable(text[1:])
        if node.type == "expansion":
            return self._braced(text[2:-1])
        if node.type == "command_substitution":
            script = text[2:-1] if text.startswith("$(") else text[1:-1]
            out = self._shell.run(script)[0]
            return out.rstrip("\n")
        if node.type == "arithmetic_expansion":
            return _number(text[3:-2], self._shell.env)
        return text

    def _variable(self, name: str) -> str:
        if name == "?":
            return str(self._shell.status)
        special: dict[str, Any] = {"#": "0", "$": "4242", "@": "", "*": "", "0": "sh", "PWD": self._shell.cwd}
        return str(special.get(name, self._shell.env.get(name, "")))

    def _braced(self, inner: str) -> str:
        found = re.fullmatch(r"(\w+)(?:(:?[-+=])(.*))?", inner, re.DOTALL)
        if found is None:
            return ""
        value = self._variable(found[1])
        if found[2] is None:
            return value
        if "+" in found[2]:
            return found[3] if value else ""
        return value or found[3]


def _number(text: str, env: dict[str, str]) -> str:
    """Return one sum, difference, product or quotient of whole numbers; anything else is 0."""
    found = re.fullmatch(r"\s*\$?(\w+)\s*(?:([-+*/%])\s*\$?(\w+)\s*)?", text)
    if found is None:
        return "0"
    a, b = (_whole(part, env) for part in (found[1], found[3] or "0"))
    operator = found[2] or "+"
    if operator in "/%":
        return "0" if b == 0 else str(a // b if operator == "/" else a % b)
    return str({"+": a + b, "-": a - b, "*": a * b}[operator])


def _whole(part: str, env: dict[str, str]) -> int:
    text = part if part.isdigit() else env.get(part, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
