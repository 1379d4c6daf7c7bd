"""Patterns of paths: compared segment by segment; `*` stays inside a segment, `**` crosses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from unicodedata import normalize

from msgspec import Struct

from outstep.scope.paths.spelling import collapse

Segment = Callable[[str], bool]

_SPECIAL: Final = re.compile(r"[*?\[\\]")
_WILD: Final = re.compile(r"[*?\[]")
_CLASS: Final = re.compile(r"\[(!?(?:\][^\]/]*|[^\]/]+))\]")
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:[\\/]|$)")


class PathPattern(Struct, frozen=True):
    """A pattern, anchored."""

    text: str
    """As written."""
    segments: tuple[str | Segment | None, ...]
    """A text: exactly this; none: any number of segments; otherwise what a segment has to fulfil."""
    spelled: str
    """Absolute and collapsed."""
    plain_prefix: str
    """The folder before the first wildcard, with its slash, where the rest is `**` alone; empty otherwise."""

    def matches(self, path: str) -> bool:
        """Return whether an absolute, collapsed path lies in the pattern."""
        if self.plain_prefix:
            return path.startswith(self.plain_prefix) and len(path) > len(self.plain_prefix)
        return _match(self.segments, _segments(path)) or path == self.spelled

    def differs(self, path: str) -> tuple[int, str]:
        """Return how many segments match from the left, and the first that does not."""
        parts = _segments(path)
        for place, part in enumerate(parts):
            if place >= len(self.segments):
                return place, part
            wanted = self.segments[place]
            if wanted is None:
                return len(parts), ""
            if not _fits(wanted, part):
                return place, part
        return len(parts), f"(ends after `{parts[-1] if parts else '/'}`)"


def path_pattern(text: str, cwd: str, home: str = "", case_sensitive: bool = True) -> PathPattern:
    """Return the pattern of a text; relative ones lie at `cwd`."""
    return _compiled(text, cwd, home, case_sensitive)


@lru_cache(maxsize=4096)
def _compiled(text: str, cwd: str, home: str, case_sensitive: bool) -> PathPattern:
    written = text
    if written[:5].lower() == "file:":
        written = written[7:] if written[5:8] == "///" else written[5:]
    if written[:2] == "~/" or written == "~":
        written = home + written[1:] if home else written
    if _DRIVE.match(cwd):
        cwd = "/" + cwd[0].upper() + cwd[1:].replace("\\", "/")
        written = written.replace("\\", "/")
        written = "/" + written[0].upper() + written[1:] if _DRIVE.match(written) else written
    spelled = normalize("NFC", collapse(written or ".", cwd))
    if not case_sensitive:
        spelled = spelled.casefold()
    parts = _segments(spelled)
    segments = tuple(None if part == "**" else _segment(part) for part in parts)
    ends = bool(parts) and parts[-1] == "**" and not any(_SPECIAL.search(part) for part in parts[:-1])
    prefix = "/" + "".join(f"{part}/" for part in parts[:-1]) if ends else ""
    return PathPattern(text, segments, spelled, prefix)


def _segments(path: str) -> list[str]:
    return [] if path == "/" else path[1:].split("/")


def segment_matcher(pattern: str) -> Segment:
    """Return whether a text without slashes fulfils a pattern."""
    compiled = _segment(pattern)
    return compiled.__eq__ if isinstance(compiled, str) else compiled


def _segment(part: str) -> str | Segment:
    if _SPECIAL.search(part) is None:
        return part
    if "[" not in part and "?" not in part and "\\" not in part:
        return _Starred(part.split("*"))
    import re2  # 10 ms

    options = re2.Options()
    options.log_errors = False
    try:
        regex = re2.compile(_regex(part), options)
    except re2.error:  # a range that ends before it begins: `[z-a]`
        return lambda _: False
    return lambda text: regex.fullmatch(text) is not None


class _Starred:
    """Parts with `*` for any characters between them."""

    def __init__(self, parts: list[str]) -> None:
        self._first, *self._middle, self._last = parts

    def __call__(self, text: str) -> bool:
        first, last = self._first, self._last
        if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
            return False
        place, end = len(first), len(text) - len(last)
        for part in self._middle:
            found = text.find(part, place, end)
            if found < 0:
                return False
            place = found + len(part)
        return True


def _regex(part: str) -> str:
    r"""Return a segment's pattern for RE2; `\` takes the meaning from the sign behind it."""
    out = ["(?s)"]
    place = 0
    while place < len(part):
        sign = part[place]
        group = _CLASS.match(part, place) if sign == "[" else None
        if sign == "\\" and place + 1 < len(part):
            place += 1
            out.append(_quoted(part[place]))
        elif sign == "*":
            out.append(".*")
        elif sign == "?":
            out.append(".")
        elif group is not None:
            inner = group[1]
            negated = inner[:1] == "!"
            inner = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            out.append(f"[{'^' if negated else ''}{inner.replace(']', chr(92) + ']')}]")
            place = group.end() - 1
        else:
            out.append(_quoted(sign))
        place += 1
    return "".join(out)


def _quoted(sign: str) -> str:
    return sign if sign.isalnum() or sign == "_" or ord(sign) > 127 else "\\" + sign


def _fits(wanted: Any, part: str) -> bool:
    return bool(wanted == part if isinstance(wanted, str) else wanted(part))


def _match(wanted: tuple[Any, ...], parts: list[str]) -> bool:
    """Match from the left; on a mismatch the last `**` takes one segment more. A final `**` takes at least one."""
    at = place = 0
    star = resume = -1
    while place < len(parts):
        if at < len(wanted) and wanted[at] is None:
            if at == len(wanted) - 1:
                return True
            star, resume = at, place
            at += 1
        elif at < len(wanted) and _fits(wanted[at], parts[place]):
            at += 1
            place += 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return at == len(wanted)
