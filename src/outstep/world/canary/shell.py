"""A small part of the shell language, carried out over files in memory: nothing is handed to a real shell.

Lists, pipes, redirections, variables, substitutions, `if` and `for` are done as a shell does them. What else the
language has is refused by name, as a very small shell would.
docs: docs/worlds.md#canary
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from outstep.expr.bash import argument_nodes, parse
from outstep.world.canary.files import LARGEST, Files, NotPossible
from outstep.world.canary.words import Expander, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from outstep.world.canary.web import Web

MOST_COMMANDS = 2_000
DEEPEST = 40


class TooMuch(Exception):
    """A script goes on for too long."""


class Process:
    """What a command meets: its words, its input, and where its output goes."""

    def __init__(self, shell: Shell, words: list[str], given: str | None) -> None:
        self.shell = shell
        self.words = words
        self.given = given
        """Standard input; none where nothing is piped in."""
        self.out: list[str] = []
        self.err: list[str] = []

    @property
    def files(self) -> Files:
        """The tree of files."""
        return self.shell.files

    def put(self, text: str) -> None:
        """Write to standard output."""
        self.out.append(text)

    def complain(self, text: str) -> None:
        """Write a line to standard error, with the command's name before it."""
        self.err.append(f"{self.words[0]}: {text}\n")


Command = Callable[[Process], int]
"""Carries a command out and returns its exit status."""
Prepared = Callable[[str], "tuple[str, int] | None"]
"""Returns what a scenario says that a command answers, or none."""


class Shell:
    """One shell: its variables, its folder, its files."""

    def __init__(
        self,
        files: Files,
        *,
        cwd: str,
        env: dict[str, str],
        commands: dict[str, Command],
        prepared: Prepared,
        web: Web,
        world: list[Any],
        repository: dict[str, Any],
    ) -> None:
        self.files = files
        self.cwd = cwd
        self.env = dict(env)
        self.commands = commands
        self.prepared = prepared
        self.web = web
        self.world = world
        """What commands do beyond files is written down here."""
        self.repository = repository
        """What git knows."""
        self.root = cwd
        self.status = 0
        self.ends = False
        """Whether `exit` was called."""
        self._left = MOST_COMMANDS
        self._depth = 0
        self._source = b""
        self._attached: dict[tuple[int, int], Node] = {}
        """Redirections of the last command of a list or pipe, which the grammar hangs on the whole of it."""

    def head(self) -> dict[str, str]:
        """Return what git takes for the first version."""
        from outstep.world.canary.git import Repository

        return Repository(Process(self, ["git"], None)).now()

    def run(self, script: str) -> tuple[str, int]:
        """Carry a script out and return what it writes, errors included, and its exit status."""
        whole = self.prepared(script.strip())
        if whole is not None:
            return whole
        try:
            source, root = parse(script + "\n")
        except ValueError:
            return "sh: syntax error\n", 2
        before, self._source = self._source, source
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                return "sh: nested too deeply\n", 2
            out, err = self._many(root.named_children, None)
        except TooMuch as limit:
            out, err, self.status = "", f"sh: {limit}\n", 137
        finally:
            self._source = before
            self._depth -= 1
        return (out + err)[:LARGEST], self.status

    def _many(self, nodes: list[Node], given: str | None) -> tuple[str, str]:
        out, err = "", ""
        for node in nodes:
            if self.ends:
                break
            more = self.node(node, given)
            out, err = out + more[0], err + more[1]
            if len(out) > LARGEST:
                raise TooMuch("output limit reached")
        return out, err

    def node(self, node: Node, given: str | None) -> tuple[str, str]:
        """Carry one node out; returns what it writes to standard output and to standard error."""
        attached = self._attached.pop((id(self._source), node.id), None)
        if attached is not None:
            return self._with_redirects(attached, node, given)
        handler = _HANDLERS.get(node.type)
        if handler is None:
            self.status = 2
            return "", f"sh: syntax not supported: {text_of(self._source, node)[:40]}\n"
        return handler(self, node, given)

    def _list(self, node: Node, given: str | None) -> tuple[str, str]:
        left, operator, right = node.children[0], node.children[1].type, node.children[2]
        out, err = self.node(left, given)
        if self.ends or (operator == "&&") != (self.status == 0):
            return out, err
        more = self.node(right, given)
        return out + more[0], err + more[1]

    def _pipeline(self, node: Node, given: str | None) -> tuple[str, str]:
        err = ""
        out = given
        for part in node.named_children:
            text, more = self.node(part, out)
            out, err = text, err + more
        return out or "", err

    def _negated(self, node: Node, given: str | None) -> tuple[str, str]:
        found = self.node(node.named_children[0], given)
        self.status = int(self.status == 0)
        return found

    def _group(self, node: Node, given: str | None) -> tuple[str, str]:
        return self._many(node.named_children, given)

    def _subshell(self, node: Node, given: str | None) -> tuple[str, str]:
        kept = (self.cwd, dict(self.env))
        found = self._many(node.named_children, given)
        self.cwd, self.env = kept
        self.ends = False
        return found

    def _if(self, node: Node, given: str | None) -> tuple[str, str]:
        out, err = "", ""
        conditions = [child for child in node.children_by_field_name("condition") if child.is_named]
        rest = [child for child in node.named_children if child not in conditions]
        more = self._many(conditions, given)
        out, err = out + more[0], err + more[1]
        body = [child for child in rest if child.type not in ("else_clause", "elif_clause")]
        if self.status == 0:
            more = self._many(body, given)
            return out + more[0], err + more[1]
        self.status = 0
        for child in rest:
            if child.type == "else_clause":
                more = self._many(child.named_children, given)
                return out + more[0], err + more[1]
            if child.type == "elif_clause":
                more = self._many(child.named_children[:1], given)
                out, err = out + more[0], err + more[1]
                if self.status == 0:
                    more = self._many(child.named_children[1:], given)
                    return out + more[0], err + more[1]
                self.status = 0
        return out, err

    def _for(self, node: Node, given: str | None) -> tuple[str, str]:
        out, err = "", ""
        name = text_of(self._source, node.children_by_field_name("variable")[0])
        words = self._words(node.children_by_field_name("value"))
        for word in words:
            self.env[name] = word
            more = self._many(node.children_by_field_name("body")[0].named_children, given)
            out, err = out + more[0], err + more[1]
        return out, err

    def _assignments(self, node: Node, given: str | None) -> tuple[str, str]:
        del given
        nodes = [node] if node.type == "variable_assignment" else node.named_children
        self.status = 0
        for one in nodes:
            if one.type == "variable_assignment":
                name, value = self._assignment(one)
                self.env[name] = value
        return "", ""

    def _assignment(self, node: Node) -> tuple[str, str]:
        name = text_of(self._source, node.children_by_field_name("name")[0])
        values = node.children_by_field_name("value")
        return name, self.expander.one(values[0]) if values else ""

    def _unset(self, node: Node, given: str | None) -> tuple[str, str]:
        del given
        for child in node.named_children:
            self.env.pop(text_of(self._source, child), None)
        self.status = 0
        return "", ""

    def _redirected(self, node: Node, given: str | None) -> tuple[str, str]:
        body = next(iter(node.children_by_field_name("body")), None)
        if body is None or body.type not in ("list", "pipeline"):
            return self._with_redirects(node, body, given)
        last = body
        while last.type in ("list", "pipeline"):
            last = last.named_children[-1]
        key = id(self._source), last.id
        self._attached[key] = node
        try:
            return self.node(body, given)
        finally:
            self._attached.pop(key, None)  # where the last command was never reached

    def _with_redirects(self, node: Node, body: Node | None, given: str | None) -> tuple[str, str]:
        from outstep.world.canary.redirects import Redirects

        redirects = Redirects(self, self._source)
        try:
            given = redirects.input(node, given)
            out, err = self.node(body, given) if body is not None else ("", "")
            return redirects.output(node, out, err)
        except NotPossible as refusal:
            self.status = 1
            return "", f"sh: {refusal}\n"

    def _command(self, node: Node, given: str | None) -> tuple[str, str]:
        self._left -= 1
        if self._left < 0:
            raise TooMuch("too many commands")
        words = self._words(argument_nodes(node))
        kept = dict(self.env)
        assigned = [self._assignment(child) for child in node.named_children if child.type == "variable_assignment"]
        self.env.update(assigned)
        for child in node.named_children:
            if child.type == "herestring_redirect":
                given = self.expander.one(child.named_children[0]) + "\n"
        if not words:
            self.status = 0
            return "", ""
        prepared = self.prepared(text_of(self._source, node).strip()) or self.prepared(" ".join(words))
        out, err = prepared[0] if prepared else "", ""
        if prepared is not None:
            self.status = prepared[1]
        else:
            out, err = self.call(words, given)
        if assigned and words[0] != "export":
            changed = {name: value for name, value in self.env.items() if kept.get(name) != value}
            self.env = kept | {name: value for name, value in changed.items() if name not in dict(assigned)}
        return out, err

    def call(self, words: list[str], given: str | None) -> tuple[str, str]:
        """Carry a command out by its words."""
        name = (
            words[0].rpartition("/")[2] if words[0].startswith(("/bin/", "/usr/bin/", "/usr/local/bin/")) else words[0]
        )
        command = self.commands.get(name)
        if command is None:
            self.status = 127
            return "", f"sh: {words[0]}: command not found\n"
        process = Process(self, [name, *words[1:]], given)
        try:
            self.status = command(process)
        except NotPossible as refusal:
            process.complain(str(refusal))
            self.status = 1
        return "".join(process.out)[:LARGEST], "".join(process.err)

    def _test(self, node: Node, given: str | None) -> tuple[str, str]:
        from outstep.expr.bash import test_words

        words = [word for leaf in test_words(node) for word in self._test_word(leaf)]
        return self.call(["test", *(word for word in words if word not in ("[", "]", "[[", "]]"))], given)

    def _test_word(self, leaf: Node) -> list[str]:
        return (
            self.expander.many(leaf)
            if leaf.is_named and leaf.type != "test_operator"
            else [text_of(self._source, leaf)]
        )

    @property
    def expander(self) -> Expander:
        """What words are expanded by."""
        return Expander(self, self._source)

    def _words(self, nodes: list[Node]) -> list[str]:
        return [word for node in nodes for word in self.expander.many(node)]

    def _nothing(self, node: Node, given: str | None) -> tuple[str, str]:
        del node, given
        return "", ""


_HANDLERS: dict[str, Callable[[Shell, Any, str | None], tuple[str, str]]] = {
    "list": Shell._list,
    "pipeline": Shell._pipeline,
    "negated_command": Shell._negated,
    "compound_statement": Shell._group,
    "do_group": Shell._group,
    "subshell": Shell._subshell,
    "if_statement": Shell._if,
    "for_statement": Shell._for,
    "variable_assignment": Shell._assignments,
    "variable_assignments": Shell._assignments,
    "declaration_command": Shell._assignments,
    "unset_command": Shell._unset,
    "redirected_statement": Shell._redirected,
    "command": Shell._command,
    "test_command": Shell._test,
    "comment": Shell._nothing,
}
