"""Redirections of the shell: where input comes from and output goes, among files in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outstep.world.canary.files import NotPossible
from outstep.world.canary.words import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from outstep.world.canary.shell import Shell


class Redirects:
    """The redirections of one statement."""

    def __init__(self, shell: Shell, source: bytes) -> None:
        self._shell = shell
        self._source = source

    def input(self, node: Node, given: str | None) -> str | None:
        """Return standard input after every `<`, `<<` and `<<<`."""
        for redirect in _redirects(node):
            if redirect.type == "heredoc_redirect":
                bodies = [child for child in redirect.named_children if child.type == "heredoc_body"]
                given = self._heredoc(bodies[0]) if bodies else ""
            elif redirect.type == "herestring_redirect":
                given = self._shell.expander.one(redirect.named_children[0]) + "\n"
            elif self._operator(redirect) == "<":
                given = self._read(self._target(redirect))
        return given

    def output(self, node: Node, out: str, err: str) -> tuple[str, str]:
        """Write output where it is sent, and return what is left of it."""
        for redirect in _redirects(node):
            operator = self._operator(redirect)
            if operator not in (">", ">>", ">|", "&>", "&>>", ">&"):
                continue
            descriptor = self._descriptor(redirect)
            target = self._target(redirect)
            if operator == ">&" and target in ("1", "2"):
                if descriptor == "2" and target == "1":
                    out, err = out + err, ""
                elif descriptor == "1" and target == "2":
                    out, err = "", err + out
                continue
            text = out + err if operator.startswith("&") else err if descriptor == "2" else out
            self._write(target, text, append=operator.endswith(">>"))
            out = "" if descriptor == "1" or operator.startswith("&") else out
            err = "" if descriptor == "2" or operator.startswith("&") else err
        return out, err

    def _operator(self, redirect: Node) -> str:
        return next((child.type for child in redirect.children if not child.is_named), "")

    def _descriptor(self, redirect: Node) -> str:
        found = redirect.children_by_field_name("descriptor")
        return text_of(self._source, found[0]) if found else "1"

    def _target(self, redirect: Node) -> str:
        found = redirect.children_by_field_name("destination")
        return self._shell.expander.one(found[0]) if found else ""

    def _read(self, path: str) -> str:
        try:
            return self._shell.files.read(path, self._shell.cwd)
        except NotPossible as refusal:
            raise NotPossible(f"{path}: {refusal}") from None

    def _write(self, path: str, text: str, *, append: bool) -> None:
        try:
            self._shell.files.write(path, text, self._shell.cwd, append=append)
        except NotPossible as refusal:
            raise NotPossible(f"{path}: {refusal}") from None

    def _heredoc(self, body: Node) -> str:
        kept: list[str] = []
        at = body.start_byte
        for child in body.named_children:
            kept.append(self._source[at : child.start_byte].decode("utf-8", "replace"))
            if child.type == "heredoc_content":
                kept.append(text_of(self._source, child))
            else:
                kept.append(self._shell.expander.one(child))
            at = child.end_byte
        kept.append(self._source[at : body.end_byte].decode("utf-8", "replace"))
        return "".join(kept)


def _redirects(node: Node) -> list[Node]:
    found: list[Node] = []
    for child in node.children:
        if child.type.endswith("_redirect"):
            # `cat <<EOF > file`: the second one hangs on the first.
            found += [child, *(inner for inner in child.children if inner.type == "file_redirect")]
    return found
