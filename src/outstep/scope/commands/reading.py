"""Reads shell text into a script. Every kind of node is known by name; any other is in doubt, never passed over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from outstep.expr.bash import argument_nodes, behind_target, parse, read_words, test_words
from outstep.expr.wrappers import Word, Words
from outstep.scope.commands.script import And, Apart, Both, Branch, Command, Doubt, Item, Or, Redirect, Values

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST: Final = 200_000
_DEEPEST: Final = 150
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SUBSTITUTIONS: Final = frozenset(("command_substitution", "process_substitution"))
_EXPANSIONS: Final = frozenset(("simple_expansion", "expansion", "arithmetic_expansion", *_SUBSTITUTIONS))
_PLAIN: Final = frozenset(("compound_statement", "do_group", "else_clause", "elif_clause", "if_statement",
                           "while_statement", "for_statement", "c_style_for_statement", "case_statement", "case_item",
                           "function_definition"))  # fmt: skip
_BODIES: Final = frozenset(("list", "pipeline", "negated_command", "redirected_statement"))
_STATEMENTS: Final = frozenset(("command", "declaration_command", "unset_command", "test_command", "subshell",
                                "variable_assignment", "variable_assignments", *_BODIES, *_PLAIN))  # fmt: skip


_COMMANDS: Final = frozenset(("command", "subshell", *_BODIES, *_PLAIN))
"""Statements that are read where they stand, with the substitutions in them."""


class UnreadableCommand(ValueError):
    """A text that is no shell text; carries a code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def read_script(text: str) -> Item:
    """Return the script of a shell text; raises `UnreadableCommand`."""
    if not text.strip():
        raise UnreadableCommand("command-empty", "the command is empty")
    if len(text) > LONGEST:
        raise UnreadableCommand("command-too-long", f"the command is longer than {LONGEST} characters")
    if (control := _CONTROL.search(text)) is not None:
        sentence = (
            f"the command holds the control character U+{ord(control[0]):04X}, which shells and parsers read apart"
        )
        raise UnreadableCommand("command-control", sentence)
    try:
        source, root = parse(text)
    except ValueError:
        raise UnreadableCommand("command-syntax", "the command is no shell text that can be read") from None
    return _Reader(source).sequence(root.children, 0)


def words_of(texts: list[str]) -> Words:
    """Return words as a program is given them, without a shell."""
    return tuple(Word(text, raw=_quoted(text)) for text in texts)


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_./:=@%+,-]+", text) else "'" + text.replace("'", "'\\''") + "'"


class _Reader:
    def __init__(self, source: bytes) -> None:
        self._source = source

    def sequence(self, nodes: list[Node], depth: int) -> Item:
        """Return statements one after the other; one followed by `&` is apart."""
        items: list[Item] = []
        for node in nodes:
            if node.type == "&" and items:
                items.append(Apart((items.pop(),)))
            elif node.type in _STATEMENTS:
                items.append(self._statement(node, depth + 1))
            elif node.is_named and node.type != "comment":
                items += self._inside([node], depth)
                if node.type not in _NAMES and node.type not in _SUBSTITUTIONS:
                    items.append(Doubt("command-construct", _text(self._source, node)))
        return items[0] if len(items) == 1 else Both(tuple(items))

    def _statement(self, node: Node, depth: int, behind: tuple[Node, ...] = ()) -> Item:
        """Return a statement; `behind` are redirects that stand after it and belong to its last command."""
        if depth > _DEEPEST:
            raise UnreadableCommand("command-too-deep", f"the command is nested deeper than {_DEEPEST} levels")
        kind = node.type
        if kind == "command":
            return self._command(node, behind, depth)
        if kind == "redirected_statement":
            return self._redirected(node, depth, behind)
        if kind == "list":
            joined = And if node.children[1].type == "&&" else Or
            left, right = node.children[0], node.children[-1]
            return joined(self._statement(left, depth + 1), self._statement(right, depth + 1, behind))
        if kind == "pipeline":
            parts = [child for child in node.children if child.type in _STATEMENTS]
            last = len(parts) - 1
            read = [self._statement(part, depth + 1, behind if at == last else ()) for at, part in enumerate(parts)]
            return Both(tuple(Apart((part,)) for part in read))
        if kind == "negated_command":
            return self._statement(node.children[-1], depth + 1, behind)
        return self._opened(self._compound(node, depth), behind, depth)

    def _compound(self, node: Node, depth: int) -> Item:
        kind = node.type
        if kind in ("compound_statement", "do_group"):
            return self.sequence(node.children, depth + 1)
        if kind == "subshell":
            return Apart((self.sequence(node.children, depth + 1),))
        if kind in _PLAIN:
            head = self._values(node)
            loop = kind in ("while_statement", "for_statement", "c_style_for_statement", "function_definition")
            return Branch((*head, self.sequence(node.children, depth + 1)), loop)
        if kind in ("variable_assignment", "variable_assignments"):
            nodes = [node] if kind == "variable_assignment" else [child for child in node.children if child.is_named]
            return self._with(Command((), self._assignments(nodes)), [node], depth)
        nodes = (
            test_words(node) if kind == "test_command" else [each for each in node.children if each.type != "comment"]
        )
        return self._with(Command(read_words(self._source, nodes), builtin=True), [node], depth)

    def _values(self, node: Node) -> tuple[Values, ...]:
        """Return what the variable of a `for` loop takes."""
        if node.type != "for_statement":
            return ()
        name, *words = [child for child in node.children if child.is_named and child.type in _NAMES]
        return (Values(_text(self._source, name), read_words(self._source, words)),)

    def _opened(self, item: Item, redirects: tuple[Node, ...], depth: int) -> Item:
        """Return a compound statement with redirects of its own, which are opened before it runs."""
        if not redirects:
            return item
        first = self._with(Command((), (), self._redirects(redirects)), redirects, depth)
        extra = [node for redirect in redirects for node in behind_target(redirect)]
        doubts = [Doubt("command-construct", _text(self._source, node)) for node in extra]
        return Both((first, item, *doubts))

    def _command(self, node: Node, behind: tuple[Node, ...], depth: int) -> Item:
        assignments = [child for child in node.children if child.type == "variable_assignment"]
        redirects = [*(child for child in node.children if child.type.endswith("_redirect")), *behind]
        nodes = argument_nodes(node) + [each for redirect in behind for each in behind_target(redirect)]
        command = Command(read_words(self._source, nodes), self._assignments(assignments), self._redirects(redirects))
        return self._with(command, [*nodes, *assignments, *redirects], depth)

    def _redirected(self, node: Node, depth: int, behind: tuple[Node, ...]) -> Item:
        redirects = (*(child for child in node.children if child.type.endswith("_redirect")), *behind)
        bodies = [child for child in node.children if child.type in _STATEMENTS]
        alone = Both(())
        item = self._statement(bodies[0], depth + 1, redirects) if bodies else self._opened(alone, redirects, depth)
        for left in (self._hung(redirect, depth) for redirect in redirects):
            item = And(item, left) if left is not None else item
        return item

    def _hung(self, redirect: Node, depth: int) -> Item | None:
        """Return the statements that stand behind `<<EOF` in its line: they hang on it in the tree."""
        if redirect.type != "heredoc_redirect":
            return None
        found = [child for child in redirect.children if child.type in _STATEMENTS]
        return self.sequence(found, depth + 1) if found else None

    def _assignments(self, nodes: list[Node]) -> Words:
        words = []
        for node in nodes:
            text = _text(self._source, node)
            value = next((child for child in reversed(node.children) if child.is_named), None)
            read = read_words(self._source, [value]) if value is not None and value.type != "variable_name" else ()
            if any(child.type in ("subscript", "array") for child in node.children):
                words.append(Word(text, literal=not _has(node, _EXPANSIONS), raw=text))
                continue
            name = text.partition("=")[0]
            literal = all(word.literal for word in read)
            words.append(Word(f"{name}={read[0].text if read else ''}" if literal else text, literal, text))
        return tuple(words)

    def _redirects(self, nodes: Sequence[Node]) -> tuple[Redirect, ...]:
        found: list[Redirect] = []
        for node in nodes:
            if node.type == "heredoc_redirect":
                found.extend(self._redirects([child for child in node.children if child.type == "file_redirect"]))
            if node.type != "file_redirect":
                continue
            operator = next((child.type for child in node.children if not child.is_named), "")
            named = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
            if not named:
                continue  # `>&-`
            word = read_words(self._source, named[:1])[0]
            if operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", word.text):
                continue
            found.append(Redirect(operator, word))
        return tuple(found)

    def _with(self, command: Command, nodes: Sequence[Node], depth: int) -> Item:
        """Return a command, with what its substitutions run and a doubt for what its here-documents expand."""
        inner = self._inside(nodes, depth)
        return command if not inner else Both((*inner, command))

    def _inside(self, nodes: Sequence[Node], depth: int) -> list[Item]:
        """Return the substitutions below nodes, and doubts for expansions outside of words."""
        items: list[Item] = []
        todo: list[tuple[Node, bool]] = [(node, False) for node in nodes]
        while todo:
            node, document = todo.pop()
            if node.type in _SUBSTITUTIONS:
                items.append(Doubt("command-substitution", _text(self._source, node)))
                items.append(Apart((self.sequence(node.children[1:-1], depth + 1),)))
                continue
            if document and node.type in _EXPANSIONS:
                items.append(Doubt("command-expansion", _text(self._source, node)))
            document = document or node.type in ("heredoc_body", "herestring_redirect")
            if node.type not in _COMMANDS:
                todo.extend((child, document) for child in node.children)
        return items


_NAMES: Final = frozenset(("word", "string", "raw_string", "concatenation", "number", "ansi_c_string", "variable_name",
                           "extglob_pattern", "regex", "test_operator", "binary_expression", "postfix_expression",
                           "unary_expression", "parenthesized_expression", "ternary_expression", "simple_expansion",
                           "expansion", "arithmetic_expansion"))  # fmt: skip
"""What stands in the head of a loop, a branch or a function."""


def _has(node: Node, kinds: frozenset[str]) -> bool:
    todo: list[Any] = [node]
    while todo:
        each = todo.pop()
        if each.type in kinds:
            return True
        todo.extend(each.children)
    return False


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : min(node.end_byte, node.start_byte + 200)].decode("utf-8", "replace")
