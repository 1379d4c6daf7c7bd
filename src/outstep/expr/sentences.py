"""Sentences of a text that people read: normal form, Markdown taken off, split where a sentence ends.

SEMANTICS section 5, *Claims*. Text is NFKC, blanks joined; fenced code, quoted lines (`>`) and open tasks (`- [ ]`)
are left out; characters that nobody sees are taken out, curly apostrophes are straight. Beyond the letter of that
page, `.!?` also end a sentence before a CJK character, where writers put no blank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
_BEFORE_A_WORD = " (\"'"
_CUT = "\ue000"
"""Stands behind a full-width sentence end, which NFKC would turn into a plain one."""

_NO_END = r"://[!-~]*[0-9A-Za-z/_=&#%~+-]"
_WEAK_END = r"([.!?]+[\"'”’»」』）)\]]*)(?: |$|[\p{Han}\p{Hiragana}\p{Katakana}])|;+"
_PLAIN_END = re.compile(rb"[.!?;][.!?]*+[\"')\]]*+( |\Z)?")
"""The same for ASCII without URLs: the standard library is faster, and never looks twice at a character here."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in normal form, in order; equal text gives equal sentences."""
    for piece in pieces(text):
        yield from split(piece)


def pieces(text: str) -> list[str]:
    """Return the lines of a text in normal form, cut behind full-width sentence ends: no sentence leaves its piece."""
    if text.isascii() and len(text.encode().translate(None, _MARKED)) == len(text):
        line = (text if "  " not in text else _joined(text)).strip()
        if not line[:1].isalpha():
            line = _unlisted(line)
        return [line] if line else []
    found: list[str] = []
    for line in _shown_lines(text):
        plain = _plain(line)
        if _CUT in plain:
            found.extend(piece.strip() for piece in plain.split(_CUT))
        else:
            found.append(plain)
    return list(filter(None, found))


def is_one_line(text: str, data: bytes) -> bool:
    """Return whether an ASCII text, and not an empty one, is its only piece as it stands; `data` are its bytes."""
    return (
        text[0].isalpha() and text[-1] != " " and "  " not in text and len(data.translate(None, _MARKED)) == len(data)
    )


def split(piece: str) -> Iterator[str]:
    """Yield the sentences of a piece: ends are `.!?` before a blank or CJK, and `;`."""
    if not any(end in piece for end in ".!?;"):
        yield piece
        return
    data = encode(piece)
    next_end = end_finder(data)
    start = 0
    while start < len(data):
        end = next_end(data, start)
        if sentence := data[start:end].decode().strip():
            yield sentence
        start = end


def end_finder(data: bytes) -> Callable[[bytes, int], int]:
    """Return what tells the byte offset behind the first sentence end of a piece from an offset on, or its length."""
    return _plain_end if data.isascii() and (b":" not in data or b"://" not in data) else _any_end


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    if "?" not in sentence and sentence.isascii():
        return False  # in ASCII nothing else ends a question
    return sentence.rstrip(_BEHIND_A_QUESTION).endswith(_question_ends())


@cache
def _question_ends() -> tuple[str, ...]:
    return ("?", *(end for language in words() for end in language.question_ends))


class _Markup:
    """Regular expressions that only marked text needs."""

    def __init__(self) -> None:
        self.fence = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
        self.strong_end = re.compile(f"[。！？；｡﹗﹖﹔]+[{_CLOSERS}]*")
        self.list_mark = re.compile(r"(?:[-+*•] |[0-9]{1,3}[.)] |#{1,6} )")
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
    list_mark = _markup().list_mark
    while (mark := list_mark.match(line)) is not None:
        line = line[mark.end() :]
    return line


def _plain_end(data: bytes, place: int) -> int:
    while (found := _PLAIN_END.search(data, place)) is not None:
        start, end = found.start(), found.start(1)
        if data[start] == 59:  # ;
            end = start + 1
            while data.startswith(b";", end):
                end += 1
            return end
        if end >= 0 and not (end == start + 1 and data[start] == 46 and _is_abbreviation(data, start, end)):
            return end
        place = found.end() if end < 0 else end
    return len(data)


def _any_end(data: bytes, place: int) -> int:
    pattern = _compiled_ends()
    while (spans := pattern.spans(data, place)) is not None:
        start, end = spans[0]
        place = max(end, place + 1)
        if spans[1][0] >= 0:
            end = spans[1][1]
            place = end
            if data[start:end] == b"." and _is_abbreviation(data, start, end):
                continue
        elif data[start : start + 3] == b"://":
            continue
        return end
    return len(data)


def _is_abbreviation(data: bytes, start: int, end: int) -> bool:
    """Return whether the full stop at `start` ends a word that is cut short, or stands before a number."""
    always, before_numbers, endings = _abbreviations()
    if data[max(0, start - 2) : start].lower() not in endings:
        return False
    before = data[max(0, start - 12) : start].decode("utf-8", "ignore").lower()
    word = re.split(f"[{_BEFORE_A_WORD}]", before)[-1]
    if word in always:
        return True
    number = data[end : end + 2].lstrip(b" #")[:1].isdigit() or data[end : end + 2] == b" #"
    return number and word in before_numbers


@cache
def _abbreviations() -> tuple[frozenset[str], frozenset[str], frozenset[bytes]]:
    """Return the words whose full stop ends no sentence, always and before a number, and the two bytes they end in."""
    always = frozenset(word for language in words() for word in language.abbreviations)
    before_numbers = frozenset(word for language in words() for word in language.before_numbers)
    spellings = [spelling for word in always | before_numbers for spelling in (word, word.upper())]
    around = [sign + spelling for sign in ("", *_BEFORE_A_WORD) for spelling in spellings]
    return always, before_numbers, frozenset(text.encode()[-2:].lower() for text in around)


@cache
def _compiled_ends() -> Pattern:
    return compile_pattern(f"{_NO_END}|{_WEAK_END}")
