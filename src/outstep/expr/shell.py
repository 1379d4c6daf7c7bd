"""Shell text: its simple commands, and `runs(command, patterns)` (LANGUAGE section 7).

Read by tree-sitter's grammar of bash, loaded on first use. Any error in the tree makes a text unreadable. Facts about
tree-sitter-bash 0.25: words behind a redirection (`git push >log -f`) hang on the redirection; NUL is no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outstep.expr.wrappers import Word, Words, inner_commands, inner_script

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["Word", "runs", "simple_commands"]

_LONGEST = 1_000_000
_DEPTH = 10
_SHOWN = 4096
"""Bytes kept of a word that the shell computes; substitutions nest, and each would hold all inside it."""

_ARGUMENTS = frozenset(("word", "string", "raw_string", "concatenation", "number", "ansi_c_string", "simple_expansion",
                        "expansion", "command_substitution"))  # fmt: skip
_SYSTEM = frozenset(("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"))


def runs(command: Any, patterns: Any) -> bool:
    """Return whether a simple command of the shell text matches a pattern, word by word.

    In a pattern `*` stands for one word, `**` for any number of words, and inside a word `*` for any characters but
    `/`. A word that an expansion decides is matched by `*` and `**` only. `command` may also be a list of words.
    Raises `ValueError` for an unreadable command.
    """
    wanted = [_pattern(pattern) for pattern in ([patterns] if isinstance(patterns, str) else _texts(patterns))]
    return any(_matches(pattern, words) for words in simple_commands(command) for pattern in wanted)


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


_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


def _plain_commands(text: str) -> Iterator[Words]:
    if len(text) > _LONGEST:
        raise ValueError(f"unreadable command: longer than {_LONGEST} characters")
    if "\0" in text:
        raise ValueError("unreadable command: it holds a NUL character")
    source = text.encode("utf-8", "replace")
    # tree-sitter-bash 0.25.1 reads characters beyond ASCII through tables of the C library that end before the last of
    # them, which kills the process. None of them means anything to a shell, so it gets a plain sign in their place.
    root = _parser().parse(_BEYOND_ASCII.sub(b".", source)).root_node
    if root.has_error:
        raise ValueError("unreadable command: no valid shell text")
    behind: dict[int, list[Node]] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        words: Words = ()
        if node.type == "command":
            words = _words(source, _argument_nodes(node) + behind.get(node.id, []))
        elif node.type in ("declaration_command", "unset_command"):
            words = _words(source, [child for child in node.children if child.type != "comment"])
        elif node.type == "test_command":
            words = _words(source, _leaves(node))
        elif node.type == "redirected_statement":
            words = _words(source, _hand_over(node, behind))
        if words:
            yield words
        todo.extend(reversed(node.children))


def _argument_nodes(command: Node) -> list[Node]:
    """Return the nodes of a command's words: no assignments before it, no redirections."""
    nodes: list[Node] = []
    for child in command.children:
        if child.type == "command_name":
            nodes.extend(child.children)
        elif child.type.endswith("_redirect"):
            nodes.extend(_behind_target(child))
        elif child.type not in ("variable_assignment", "comment"):
            nodes.append(child)
    return nodes


def _behind_target(redirect: Node) -> list[Node]:
    """Return the words that hang on a redirection behind its target."""
    if redirect.type == "heredoc_redirect":
        nested = (_behind_target(child) for child in redirect.children if child.type == "file_redirect")
        return [child for child in redirect.children if child.type in _ARGUMENTS] + [
            each for some in nested for each in some
        ]
    if redirect.type != "file_redirect":
        return []
    return [child for child in redirect.children if child.is_named and child.type != "file_descriptor"][1:]


def _hand_over(statement: Node, behind: dict[int, list[Node]]) -> list[Node]:
    """Give words behind a redirection to the command in front of it; return them if there is none."""
    extra: list[Node] = []
    body: Node | None = None
    for child in statement.children:
        if child.type.endswith("_redirect"):
            extra.extend(_behind_target(child))
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


def _leaves(node: Node) -> list[Node]:
    """Return the words of `[ … ]`, whose grammar is an expression."""
    leaves: list[Node] = []
    todo = [node]
    while todo:
        each = todo.pop()
        if each.type.endswith(("_expression", "test_command")):
            todo.extend(reversed(each.children))
        else:
            leaves.append(each)
    return leaves


def _words(source: bytes, nodes: Iterable[Node]) -> Words:
    """Return words; nodes that touch, as in `$"text"`, are one."""
    words: list[Word] = []
    end = -1
    for node in nodes:
        word = _word(source, node)
        if node.start_byte == end:
            last = words.pop()
            prefix = "" if last.raw == "$" and node.type == "string" else last.text
            word = Word(prefix + word.text, last.literal and word.literal, last.raw + word.raw)
        words.append(word)
        end = node.end_byte
    return tuple(words)


def _word(source: bytes, node: Node) -> Word:
    parts = node.children if node.type == "concatenation" else [node]
    resolved = [_resolved(source, part) for part in parts]
    if any(text is None for text in resolved):
        raw = source[node.start_byte : min(node.end_byte, node.start_byte + _SHOWN)].decode("utf-8", "replace")
        return Word(raw, literal=False, raw=raw)
    raw = _text(source, node)
    bare = "".join(_text(source, part) for part in parts if part.type in ("word", "number"))
    if _BRACES.search(bare):
        return Word(raw, literal=False, raw=raw)  # `{a,b}` is several words
    return Word("".join(text for text in resolved if text is not None), raw=raw)


_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)")
_QUOTED = re.compile(r"\\(.)", re.DOTALL)
_QUOTED_IN_STRING = re.compile(r'\\([\\"$`\n])')


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _resolved(source: bytes, node: Node) -> str | None:
    """Return a part of a word without its quotes; none when the shell computes it."""
    if node.type == "string" and any(child.type not in ("string_content", '"') for child in node.children):
        return None
    if node.is_named and node.type not in _READ:
        return None
    text = _text(source, node)
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "string":
        return _QUOTED_IN_STRING.sub(lambda match: match[1].replace("\n", ""), text[1:-1])
    if node.type == "ansi_c_string":
        return _ansi(text[2:-1])
    if node.type == "variable_assignment":
        return None if "$" in text or "`" in text else text
    return _QUOTED.sub(lambda match: match[1].replace("\n", ""), text) if node.is_named else text


_READ = frozenset(("word", "number", "string", "raw_string", "ansi_c_string", "variable_assignment", "variable_name",
                   "extglob_pattern", "test_operator", "regex"))  # fmt: skip
_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def _ansi(text: str) -> str | None:
    """Return the text of `$'…'`; none where it holds bytes beyond ASCII or control escapes."""
    known = True

    def plain(match: re.Match[str]) -> str:
        nonlocal known
        digits = match[1] or match[2] or match[3]
        if digits or match[4]:
            code = int(digits, 16) if digits else int(match[4], 8)
            known = known and 0 < code < (128 if match[1] or match[4] else 0xD800)
            return chr(code) if known else ""
        known = known and match[5] is None
        return _ANSI_LETTERS.get(match[6], match[6]) if known else ""

    resolved = _ANSI.sub(plain, text)
    return resolved if known else None


def _pattern(text: str) -> list[str]:
    words = text.split()
    if not words:
        raise ValueError("a pattern of `runs` is empty")
    return words


def _matches(pattern: list[str], words: Words) -> bool:
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


_loaded: list[Parser] = []


def _parser() -> Parser:
    if not _loaded:
        import tree_sitter  # 14 ms with its grammar
        import tree_sitter_bash

        _loaded.append(tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())))
    return _loaded[0]
