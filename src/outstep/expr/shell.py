"""Shell text: its simple commands, and `runs(command, patterns)` (LANGUAGE section 7).

The text is read by `expr.bash`; an error in its tree makes it unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outstep.expr.bash import argument_nodes, behind_target, parse, read_words, test_words
from outstep.expr.wrappers import Word, Words, inner_commands, inner_script

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Word", "runs", "simple_commands", "word_patterns", "words_match"]

_DEPTH = 10
_SYSTEM = frozenset(("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"))


def runs(command: Any, patterns: Any) -> bool:
    """Return whether a simple command of the shell text matches a pattern, word by word.

    In a pattern `*` stands for one word, `**` for any number of words, and inside a word `*` for any characters but
    `/`. A word that an expansion decides is matched by `*` and `**` only. `command` may also be a list of words.
    Raises `ValueError` for an unreadable command.
    """
    wanted = [word_patterns(pattern) for pattern in ([patterns] if isinstance(patterns, str) else _texts(patterns))]
    return any(words_match(pattern, words) for words in simple_commands(command) for pattern in wanted)


def simple_commands(command: Any) -> list[Words]:
    """Return the simple commands of a shell text, in the order in which they are written.

    Those in substitutions, pipelines, loops, functions and here-documents count, and behind a wrapper the command
    that it runs. Assignments alone are no command. Raises `ValueError` for an unreadable command.
    """
    if isinstance(command, str):
        return list(_all_commands(command, _DEPTH))
    if isinstance(command, list | tuple) and command and all(isinstance(word, str) for word in command):
        return list(_with_inner(tuple(Word(word, raw=word) for word in command), _DEPTH))
    raise ValueError("unreadable command: no text")


def _texts(patterns: Any) -> Sequence[str]:
    if not isinstance(patterns, list | tuple) or not all(isinstance(pattern, str) for pattern in patterns):
        raise ValueError("the patterns of `runs` are a text or a list of texts")
    return patterns


def _all_commands(text: str, depth: int) -> Iterator[Words]:
    for words in _plain_commands(text):
        yield from _with_inner(words, depth)


def _with_inner(words: Words, depth: int) -> Iterator[Words]:
    """Yield a command, then what it runs."""
    yield words
    if depth == 0:
        raise ValueError("unreadable command: nested too deeply")
    for inner in inner_commands(words):
        yield from _with_inner(inner, depth - 1)
    script = inner_script(words)
    if script is not None:
        yield from _all_commands(script, depth - 1)


def _plain_commands(text: str) -> Iterator[Words]:
    source, root = parse(text)
    behind: dict[int, list[Node]] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        words: Words = ()
        if node.type == "command":
            words = read_words(source, argument_nodes(node) + behind.get(node.id, []))
        elif node.type in ("declaration_command", "unset_command"):
            words = read_words(source, [child for child in node.children if child.type != "comment"])
        elif node.type == "test_command":
            words = read_words(source, test_words(node))
        elif node.type == "redirected_statement":
            words = read_words(source, _hand_over(node, behind))
        if words:
            yield words
        todo.extend(reversed(node.children))


def _hand_over(statement: Node, behind: dict[int, list[Node]]) -> list[Node]:
    """Give words behind a redirection to the command in front of it; return them if there is none."""
    extra: list[Node] = []
    body: Node | None = None
    for child in statement.children:
        if child.type.endswith("_redirect"):
            extra.extend(behind_target(child))
        elif body is None:
            body = child
    while body is not None and body.type in ("list", "pipeline", "negated_command", "redirected_statement"):
        inner = [child for child in body.children if child.is_named and not child.type.endswith("_redirect")]
        body = inner[-1] if inner else None
    if body is None:
        return extra
    if extra:
        behind.setdefault(body.id, []).extend(extra)
    return []


def word_patterns(text: str) -> list[str]:
    """Return the words of a pattern of `runs`; raises `ValueError` for an empty one."""
    words = text.split()
    if not words:
        raise ValueError("a pattern of `runs` is empty")
    return words


def words_match(pattern: list[str], words: Words) -> bool:
    """Return whether a simple command matches the words of a pattern."""
    if _match_from(pattern, words):
        return True
    folder, _, name = words[0].text.rpartition("/")
    return words[0].literal and folder in _SYSTEM and _match_from(pattern, (Word(name), *words[1:]))


def _match_from(pattern: list[str], words: Words) -> bool:
    """Match word by word; on a mismatch the last `**` takes one word more."""
    at = place = 0
    star = resume = -1
    while place < len(words):
        if at < len(pattern) and pattern[at] == "**":
            star, resume = at, place
            at += 1
        elif at < len(pattern) and _word_matches(pattern[at], words[place]):
            at += 1
            place += 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return all(rest == "**" for rest in pattern[at:])


def _word_matches(pattern: str, word: Word) -> bool:
    if pattern == "*":
        return True
    if not word.literal:
        return False
    if "*" not in pattern:
        return pattern == word.text
    wanted, parts = pattern.split("/"), word.text.split("/")
    return len(wanted) == len(parts) and all(map(_segment_matches, wanted, parts))


def _segment_matches(pattern: str, text: str) -> bool:
    """Match with `*` for any characters: first and last part at the ends, the others in order between."""
    first, *middle = pattern.split("*")
    if not middle:
        return pattern == text
    last = middle.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
