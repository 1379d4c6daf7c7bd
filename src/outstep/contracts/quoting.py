"""Expressions that YAML took apart: where they begin and end, and how they are written so that they stay whole."""

from __future__ import annotations

from re import compile as linear_pattern

from outstep.contracts.report import File, Report, Span

_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_OPENING.values())
_MARKS = "!\"'[{*&%@`|>"
_KEY = linear_pattern(r"[\w.*@/$+-]+[ \t]*:(?=[ \t])[ \t]*")
_DASHES = linear_pattern(r"[ \t]*(?:-[ \t]+)*")
_COMMENT = linear_pattern(r"[ \t]#")
LONGEST_REGION = 4000


def region(text: str, at: int, flow: int | None) -> tuple[int, int] | None:
    """Return start and end of the value in which YAML gave up at `at`, or none where no expression is to blame.

    `flow` is where the outermost open `[` or `{` stands, if one is open.
    """
    found = _entry(text, flow, at) if flow is not None else _line_value(text, at)
    if found is None or found[0] >= found[1] or found[1] - found[0] > LONGEST_REGION:
        return None
    return found


def report_apart(file: File, found: tuple[int, int], report: Report) -> None:
    """Report an expression that YAML took apart, as it stands and as it should stand."""
    start, end = found
    value = file.text[start:end]
    file.apart.append(found)
    sentence = f"YAML takes `{_short(value)}` apart: {_reason(value)}"
    report.error("yaml-quote", sentence, Span(file, start, end), f"write it quoted: {quoted(value)}")


def quoted(value: str) -> str:
    """Return a text as a quoted YAML scalar on one line."""
    value = " ".join(value.split())
    if '"' not in value and "\\" not in value:
        return f'"{value}"'
    return "'" + value.replace("'", "''") + "'"


def whole_entry(text: str, start: int) -> int:
    """Return the end of the list item or map value that begins at `start`, brackets and quotes in it balanced."""
    return _rstrip(text, start, _entry_end(text, start))


def with_comment(text: str, end: int) -> int | None:
    """Return the end of the line where a comment follows a value that ends at `end`, or none."""
    if not _COMMENT.match(text, end):
        return None
    return _rstrip(text, end, _line_end(text, end))


def _reason(value: str) -> str:
    if value[0] in _MARKS:
        return f"it begins with `{value[0]}`"
    if ": " in value:
        return "it holds `: `"
    if " #" in value:
        return "it holds ` #`"
    return "it stands inside `[…]` or `{…}` and holds a bracket or a comma"


def _short(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= 100 else value[:99] + "…"


def _line_end(text: str, at: int) -> int:
    end = len(text)
    for sign in "\r\n":
        found = text.find(sign, at, end)
        end = found if found >= 0 else end
    return end


def _rstrip(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return end


def _line_value(text: str, at: int) -> tuple[int, int] | None:
    """Return the value in the line of `at`: what stands behind dashes and key, without a comment."""
    at = min(at, len(text) - 1)
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = _line_end(text, max(start, at))
    if end <= start:
        return None
    position = _DASHES.match(text, start, end).end()  # type: ignore[union-attr]
    if key := _KEY.match(text, position, end):
        position = key.end()
    end = _rstrip(text, position, _without_comment(text, position, end))
    value = text[position:end]
    if value[:1] in ("[", "{") and at <= _closing(text, position, end):
        return _entry(text, position, at)
    if not value or (value[0] in "|>" and len(value) <= 3):
        return None
    if value[0] not in _MARKS and ": " not in value and not value.endswith(":"):
        return None
    if value[0] in "\"'" and value.count(value[0]) == 1:
        return None  # an open quote is a mistake of another sort
    return position, end


def _without_comment(text: str, start: int, end: int) -> int:
    quote = ""
    for position in range(start, end):
        sign = text[position]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "#" and position > start and text[position - 1] in " \t":
            return position
    return end


def _entry(text: str, opening: int, at: int) -> tuple[int, int] | None:
    """Return the innermost item or value of a flow collection that holds `at`."""
    while True:
        start = _skip_blanks(text, opening + 1)
        end = _entry_end(text, start)
        while end < at and end < len(text) and text[end] == ",":
            start = _skip_blanks(text, end + 1)
            end = _entry_end(text, start)
        if not start <= at <= end:
            return None
        if key := _KEY.match(text, start, end):
            start = key.end()
        if start < end and text[start] in "[{":
            closing = _closing(text, start, end)
            if at <= closing:
                opening = start
                continue
        return start, _rstrip(text, start, end)


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _entry_end(text: str, start: int) -> int:
    """Return where the next `,` or closing bracket outside brackets and quotes stands."""
    return _scan(text, start, len(text))


def _closing(text: str, opening: int, end: int) -> int:
    """Return where the bracket at `opening` is closed."""
    return _scan(text, opening + 1, end, commas=False)


def _scan(text: str, start: int, end: int, *, commas: bool = True) -> int:
    depth, quote = 0, ""
    for position in range(start, min(end, start + 4 * LONGEST_REGION)):
        sign = text[position]
        if quote:
            quote = "" if sign == quote else quote
        elif sign == '"' or (sign == "'" and not text[position - 1].isalnum()):
            quote = sign
        elif sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            if depth == 0:
                return position
            depth -= 1
        elif sign == "," and commas and depth == 0:
            return position
    return end
