"""Sentences of a text that people read: normal form, Markdown taken off, split where a sentence ends.

SEMANTICS section 5, *Claims*. Text is NFKC, blanks joined; fenced code, quoted lines (`>`) and open tasks (`- [ ]`)
are left out; characters that nobody sees are taken out, curly apostrophes are straight. Beyond the letter of that
page, `.!?` also end a sentence before a CJK character, where writers put no blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern, encode
from outstep.expr.spelling import nfkc
from outstep.expr.words import words

APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u2032", "''''")
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")

_MARKED = bytes([*range(32), 127, *b"#*<>[\\]_`|~"])
"""Text without these is one line without Markdown marks, but for list marks at its start."""

_CLOSERS = "\"'”’»」』）)\\]*_`~"
_BEHIND_A_QUESTION = " \"'”’»」』)]。.!;"
_CUT = "\ue000"
"""Stands behind a full-width sentence end, which NFKC would turn into a plain one."""

_LIST_MARK = re.compile(r"(?:[-+*•] |[0-9]{1,3}[.)] |#{1,6} )")
_NO_END = r"://[!-~]*[0-9A-Za-z/_=&#%~+-]"
_WEAK_END = r"([.!?]+[\"'”’»」』）)\]]*)(?: |$|[\p{Han}\p{Hiragana}\p{Katakana}])|;+"
_PLAIN_END = re.compile(r"[.!?;][.!?]*+[\"')\]]*+( |\Z)?")
"""The same for ASCII without URLs: the standard library is faster, and never looks twice at a character here."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in normal form, in order; equal text gives equal sentences."""
    for piece in pieces(text):
        yield from split(piece)


def pieces(text: str) -> list[str]:
    """Return the lines of a text in normal form, cut behind full-width sentence ends: no sentence leaves its piece."""
    if text.isascii() and len(text.encode().translate(None, _MARKED)) == len(text):
        line = _unlisted(_joined(text))
        return [line] if line else []
    found: list[str] = []
    for line in _shown_lines(text):
        plain = _plain(line)
        if _CUT in plain:
            found.extend(piece.strip() for piece in plain.split(_CUT))
        else:
            found.append(plain)
    return list(filter(None, found))


def split(piece: str) -> Iterator[str]:
    """Yield the sentences of a piece: ends are `.!?` before a blank or CJK, and `;`."""
    if not any(end in piece for end in ".!?;"):
        yield piece
        return
    data = encode(piece)
    start = 0
    for end in ends(data):
        if sentence := data[start:end].decode().strip():
            yield sentence
        start = end
    if sentence := data[start:].decode().strip():
        yield sentence


def ends(data: bytes) -> Iterator[int]:
    """Yield the byte offsets behind each sentence end of a piece."""
    return _plain_ends(data.decode(), data) if data.isascii() and b"://" not in data else _any_ends(data)


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    return sentence.rstrip(_BEHIND_A_QUESTION).endswith(_question_ends())


@cache
def _question_ends() -> tuple[str, ...]:
    return ("?", *(end for language in words() for end in language.question_ends))


class _Markup:
    """Regular expressions that only marked text needs."""

    def __init__(self) -> None:
        self.fence = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
        self.strong_end = re.compile(f"[。！？；｡﹗﹖﹔]+[{_CLOSERS}]*")
        self.open_task = re.compile(r"\s*(?:[-+*] |[0-9]{1,3}[.)] )\s*\[ \]")
        self.task = re.compile(r"\[[xX]\] ")
        self.link = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"()]*\")?\)")
        self.tag = re.compile(r"</?[A-Za-z][^<>]*>")
        self.escape = re.compile(r"\\([!-/:-@\[-`{-~])")
        self.emphasis = re.compile(r"[*`]+|~~+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")


@cache
def _markup() -> _Markup:
    return _Markup()


def _shown_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither fenced code, nor quoted, nor open tasks."""
    markup = _markup()
    has_fences = "```" in text or "~~~" in text
    fence = ""
    for line in text.splitlines():
        mark = markup.fence.match(line) if has_fences else None
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif ">" in line and line.lstrip().startswith(">"):
            continue
        elif "[ ]" not in line or markup.open_task.match(line) is None:
            yield line


def _plain(line: str) -> str:
    """Return a line in normal form without marks; full-width sentence ends are followed by a cut."""
    markup = _markup()
    if not line.isascii():
        line = markup.strong_end.sub(lambda end: end[0] + _CUT, UNSEEN.sub("", line))
        line = nfkc(line).translate(APOSTROPHES)
    line = _unlisted(_joined(line))
    if line.startswith("|"):
        line = line.replace("|", " ")
    if line.startswith("["):
        line = markup.task.sub("", line, count=1)
    if "](" in line:
        line = markup.link.sub(r"\1", line)
    if "<" in line:
        line = markup.tag.sub("", line)
    if "\\" in line:
        line = markup.escape.sub(r"\1", line)
    if "*" in line or "`" in line or "_" in line or "~~" in line:
        line = markup.emphasis.sub("", line)
    return _joined(line)


def _joined(line: str) -> str:
    """Return the text with single blanks for its white space, and none around it."""
    return " ".join(line.split())


def _unlisted(line: str) -> str:
    """Return a line with joined blanks without the list marks and heading marks at its start."""
    while (mark := _LIST_MARK.match(line)) is not None:
        line = line[mark.end() :]
    return line


def _plain_ends(piece: str, data: bytes) -> Iterator[int]:
    place = 0
    while (found := _PLAIN_END.search(piece, place)) is not None:
        start = found.start()
        if piece[start] == ";":
            place = start + 1
            while piece.startswith(";", place):
                place += 1
            yield place
            continue
        end = found.start(1)
        place = found.end() if end < 0 else end
        if end >= 0 and not (end == start + 1 and piece[start] == "." and _is_abbreviation(data, start, end)):
            yield end


def _any_ends(data: bytes) -> Iterator[int]:
    pattern = _compiled_ends()
    place = 0
    while (spans := pattern.spans(data, place)) is not None:
        start, end = spans[0]
        place = max(end, place + 1)
        if spans[1][0] >= 0:
            end = spans[1][1]
            place = max(end, start + 1)
            if data[start:end] == b"." and _is_abbreviation(data, start, end):
                continue
        elif data[start : start + 3] == b"://":
            continue
        yield end


def _is_abbreviation(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - 12) : start].decode("utf-8", "ignore").lower()
    word = re.split(r"[ (\"']", before)[-1]
    abbreviations, before_numbers = _abbreviations()
    if word in abbreviations:
        return True
    number = data[end : end + 2].lstrip(b" #")[:1].isdigit() or data[end : end + 2] == b" #"
    return number and word in before_numbers


@cache
def _abbreviations() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words whose full stop ends no sentence: always, and before a number."""
    return (
        frozenset(word for language in words() for word in language.abbreviations),
        frozenset(word for language in words() for word in language.before_numbers),
    )


@cache
def _compiled_ends() -> Pattern:
    return compile_pattern(f"{_NO_END}|{_WEAK_END}")
