"""Shell text as a tree, and the words of its nodes.

Read by tree-sitter's grammar of bash, loaded on first use. Any error in the tree makes a text unreadable. Facts about
tree-sitter-bash 0.25: words behind a redirection (`git push >log -f`) hang on the redirection; NUL is no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from outstep.expr.wrappers import Word, Words

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_LONGEST = 1_000_000
_MOST_PIPES = 4000
"""The grammar needs time with the square of a pipeline that does not end: one second for 4000 parts."""
_SHOWN = 4096
"""Bytes kept of a word that the shell computes; substitutions nest, and each would hold all inside it."""

_ARGUMENTS = frozenset(("word", "string", "raw_string", "concatenation", "number", "ansi_c_string", "simple_expansion",
                        "expansion", "command_substitution"))  # fmt: skip
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


def parse(text: str) -> tuple[bytes, Node]:
    """Return the bytes of a shell text and the root of its tree; raises `ValueError` for an unreadable one."""
    if len(text) > _LONGEST:
        raise ValueError(f"unreadable command: longer than {_LONGEST} characters")
    if "\0" in text:
        raise ValueError("unreadable command: it holds a NUL character")
    if text.count("|") > _MOST_PIPES:
        raise ValueError(f"unreadable command: it holds more than {_MOST_PIPES} signs `|`")
    if "\\\n" in text:
        text = _joined(text)
    source = text.encode("utf-8", "replace")
    # tree-sitter-bash 0.25.1 reads characters beyond ASCII through tables of the C library that end before the last of
    # them, which kills the process. None of them means anything to a shell, so it gets a plain sign in their place.
    # A word `-` before a here-document (`python - <<'EOF'`) it takes for an operator, so that gets one, too.
    root = _parser().parse(_LONE_DASH.sub(b".", _BEYOND_ASCII.sub(b".", source))).root_node
    if root.has_error or (_DOUBTFUL.search(source) is not None and not _is_faithful(source, root)):
        raise ValueError("unreadable command: no valid shell text")
    return source, root


_LONE_DASH = re.compile(rb"(?<=[ \t])-(?=[ \t]*<<)")
_DOUBTFUL = re.compile(rb"[\\<>$]")
_PASSED_OVER = re.compile(rb"(?:\s|\\\n)*")
_DESCRIPTOR = re.compile(rb"\d+|\{\w+\}")


def _is_faithful(source: bytes, root: Node) -> bool:
    r"""Return whether every byte of a text is in the tree, as what it is.

    tree-sitter-bash 0.25 drops a backslash before a blank (`a \ b`), takes the option of `a -n2>&1` for a descriptor,
    and `$<<` for the beginning of a here-document, all without an error in the tree.
    """
    end = 0
    cursor = root.walk()
    deeper = True
    while True:
        if deeper and cursor.goto_first_child():
            continue
        node = cursor.node
        if deeper and node is not None:
            start = node.start_byte
            if start > end and _PASSED_OVER.fullmatch(source, end, start) is None:
                return False
            end = max(end, node.end_byte)
            if node.type == "file_descriptor" and _DESCRIPTOR.fullmatch(source, start, node.end_byte) is None:
                return False
            if node.type == "<<" and source[start : start + 2] != b"<<":
                return False
        if cursor.goto_next_sibling():
            deeper = True
        elif cursor.goto_parent():
            deeper = False
        else:
            return _PASSED_OVER.fullmatch(source, end, len(source)) is not None


_INSIDE_A_WORD = re.compile(r"(?<=[^\s\\])(?:\\\\)*\\\n(?=\S)")
_COMMENT = re.compile(r"(?:^|\s)#")


def _joined(text: str) -> str:
    """Return a text without a backslash and line end inside a word, which the grammar takes for a blank."""
    if _INSIDE_A_WORD.search(text) is None:
        return text
    if "<<" in text or _COMMENT.search(text):
        raise ValueError("unreadable command: a word goes on in the next line")
    kept: list[str] = []
    quote = ""
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == "\\" and quote != "'":
            pair = text[place : place + 2]
            kept.append("" if pair == "\\\n" and quote != "$" else pair)
            place += 2
            continue
        if sign == "'" and quote != '"':
            quote = "" if quote else "$" if text[place - 1 : place] == "$" else "'"
        elif sign == '"' and quote in ("", '"'):
            quote = "" if quote else '"'
        kept.append(sign)
        place += 1
    return "".join(kept)


def argument_nodes(command: Node) -> list[Node]:
    """Return the nodes of a command's words: no assignments before it, no redirections."""
    nodes: list[Node] = []
    for child in command.children:
        if child.type == "command_name":
            nodes.extend(child.children)
        elif child.type.endswith("_redirect"):
            nodes.extend(behind_target(child))
        elif child.type not in ("variable_assignment", "comment"):
            nodes.append(child)
    return nodes


def behind_target(redirect: Node) -> list[Node]:
    """Return the words that hang on a redirection behind its target."""
    if redirect.type == "heredoc_redirect":
        nested = (behind_target(child) for child in redirect.children if child.type == "file_redirect")
        return [child for child in redirect.children if child.type in _ARGUMENTS] + [
            each for some in nested for each in some
        ]
    if redirect.type != "file_redirect":
        return []
    return [child for child in redirect.children if child.is_named and child.type != "file_descriptor"][1:]


def test_words(node: Node) -> list[Node]:
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


def read_words(source: bytes, nodes: Iterable[Node]) -> Words:
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
    # `$"text"` is `text` in another language; the sign stands apart from the string in the tree.
    parts = [part for at, part in enumerate(parts) if not (part.type == "$" and _is_string(parts[at + 1 : at + 2]))]
    resolved = [_resolved(source, part) for part in parts]
    if any(text is None for text in resolved):
        raw = source[node.start_byte : min(node.end_byte, node.start_byte + _SHOWN)].decode("utf-8", "replace")
        return Word(raw, literal=False, raw=raw)
    raw = _text(source, node)
    bare = "".join(_text(source, part) for part in parts if part.type in ("word", "number"))
    if _BRACES.search(bare):
        return Word(raw, literal=False, raw=raw)  # `{a,b}` is several words
    return Word("".join(text for text in resolved if text is not None), raw=raw)


def _is_string(nodes: list[Node]) -> bool:
    return bool(nodes) and nodes[0].type == "string"


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


_loaded: list[Parser] = []


def _parser() -> Parser:
    if not _loaded:
        import tree_sitter  # 14 ms with its grammar
        import tree_sitter_bash

        _loaded.append(tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())))
    return _loaded[0]
