"""Sentences of a text that people read: normal form, Markdown taken off, split where a sentence ends.

SEMANTICS section 5, *Claims*. Text is NFKC, blanks joined; fenced code, quoted lines (`>`) and open tasks (`- [ ]`)
are left out; characters that nobody sees are taken out, curly apostrophes are straight. Beyond the letter of that
page, `.!?` also end a sentence before a CJK character, where writers put no blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from outstep.expr.patterns import Pattern, compile_pattern, encode
from outstep.expr.spelling import nfkc
from outstep.expr.words import words

APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u2032", "''''")
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")

_CLOSERS = "\"'”’»」』）)\\]*_`~"
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_STRONG_END = re.compile(f"[。！？；｡﹗﹖﹔]+[{_CLOSERS}]*")
_BEHIND_A_QUESTION = " \"'”’»」』)]。.!;"
_CUT = "\ue000"
"""Stands behind a full-width sentence end, which NFKC would turn into a plain one."""

_LIST_MARK = re.compile(r"(?:[-+*•] |[0-9]{1,3}[.)] |#{1,6} )")
_OPEN_TASK = re.compile(r"\s*(?:[-+*] |[0-9]{1,3}[.)] )\s*\[ \]")
_TASK = re.compile(r"\[[xX]\] ")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"()]*\")?\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"[*`]+|~~+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_NO_END = r"://[!-~]*[0-9A-Za-z/_=&#%~+-]"
_WEAK_END = r"([.!?]+[\"'”’»」』）)\]]*)(?: |$|[\p{Han}\p{Hiragana}\p{Katakana}])|;+"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in normal form, in order; equal text gives equal sentences."""
    for line in _shown_lines(text):
        for piece in _plain(line).split(_CUT):
            yield from _split(piece)


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    bare = sentence.rstrip(_BEHIND_A_QUESTION)
    return bare.endswith(("?", *_question_ends()))


def _question_ends() -> tuple[str, ...]:
    return tuple(end for language in words() for end in language.question_ends)


def _shown_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither fenced code, nor quoted, nor open tasks."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif not line.lstrip().startswith(">") and _OPEN_TASK.match(line) is None:
            yield line


def _plain(line: str) -> str:
    """Return a line in normal form without marks; full-width sentence ends are followed by a cut."""
    if not line.isascii():
        line = _STRONG_END.sub(lambda end: end[0] + _CUT, UNSEEN.sub("", line))
        line = nfkc(line).translate(APOSTROPHES)
    line = " ".join(line.split())
    while (mark := _LIST_MARK.match(line)) is not None:
        line = line[mark.end() :]
    if line.startswith("|"):
        line = line.replace("|", " ")
    line = _TASK.sub("", line, count=1) if line.startswith("[") else line
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    if "<" in line:
        line = _TAG.sub("", line)
    if "\\" in line:
        line = _ESCAPE.sub(r"\1", line)
    return " ".join(_EMPHASIS.sub("", line).split())


def _split(piece: str) -> Iterator[str]:
    """Yield the sentences of a piece of one line: ends are `.!?` before a blank or CJK, and `;`."""
    piece = piece.strip()
    if not piece:
        return
    if not any(end in piece for end in ".!?;"):
        yield piece
        return
    data = encode(piece)
    start = 0
    for end in _ends(data):
        if sentence := data[start:end].decode().strip():
            yield sentence
        start = end
    if sentence := data[start:].decode().strip():
        yield sentence


def _ends(data: bytes) -> Iterator[int]:
    """Yield the byte offsets behind each sentence end."""
    ends = _compiled_ends()
    place = 0
    while (spans := ends.spans(data, place)) is not None:
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
    if any(word in language.abbreviations for language in words()):
        return True
    number = data[end : end + 2].lstrip(b" #")[:1].isdigit() or data[end : end + 2] == b" #"
    return number and any(word in language.before_numbers for language in words())


_compiled: list[Pattern] = []


def _compiled_ends() -> Pattern:
    if not _compiled:
        _compiled.append(compile_pattern(f"{_NO_END}|{_WEAK_END}"))
    return _compiled[0]
