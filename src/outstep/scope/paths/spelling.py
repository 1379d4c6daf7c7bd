"""The readings of a written path: what file it can mean, for a tool that reads it one way or another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from unicodedata import normalize
from urllib.parse import unquote

from msgspec import Struct

if TYPE_CHECKING:
    from outstep.scope.model import Surroundings


class Spelling(Struct, frozen=True):
    """What a written path can mean."""

    path: str
    """The plain reading: absolute, collapsed, NFC."""
    others: tuple[tuple[str, str], ...] = ()
    """Further readings, each with what makes it one. A tool may follow either, so all have to be inside."""
    unknown: tuple[str, str] | None = None
    """Code and sentence of why it cannot be said where it lies, in at least one reading."""
    notes: tuple[str, ...] = ()


class Refused(ValueError):
    """A text that is no path; carries a code."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


_PLAIN: Final = re.compile(r"[A-Za-z0-9_./ +,=@-]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_VARIABLE: Final = re.compile(r"\$\{|^\$\w|\$[A-Z_][A-Z0-9_]*|%[A-Za-z_][A-Za-z0-9_]{2,}%")
_PADDED: Final = re.compile(r"(?<![^/\\])\.\. [ .]*(?![^/\\])")
_HOME: Final = re.compile(r"\$HOME(?![A-Za-z0-9_])|\$\{HOME\}|%USERPROFILE%")
_LONGEST: Final = 100_000
_MOST_LINKS: Final = 40


def collapse(path: str, cwd: str) -> str:
    """Return a path anchored at `cwd`, without `.`, `..` and doubled slashes; `..` stops at the root."""
    if path[:1] != "/":
        path = f"{cwd}/{path}"
    if "/." not in path and "//" not in path and path[-1] != "/":
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)


def operand_readings(text: str, cwd: str, links: tuple[tuple[str, str], ...]) -> tuple[str, ...] | None:
    """Return where an operand of a command lies, of which nothing is decoded; none in a circle of links."""
    plain = collapse(text, cwd)
    if not plain.isascii():
        plain = normalize("NFC", plain)
    if not links:
        return (plain,)
    physical = _resolved(text, cwd, links)
    return None if physical is None else (plain,) if physical == plain else (plain, physical)


def spell(text: str, around: Surroundings, cwd: str | None = None) -> Spelling:
    """Return the readings of a written path; raises `Refused` for what is no path."""
    cwd = around.cwd if cwd is None else cwd
    if _PLAIN.fullmatch(text) and ". " not in text and not around.links and cwd[:1] == "/" and len(text) <= _LONGEST:
        return Spelling(collapse(text, cwd))
    return _spell(text, around, cwd)


def _spell(text: str, around: Surroundings, cwd: str) -> Spelling:
    _refuse(text)
    others: list[tuple[str, str]] = []
    unknown: tuple[str, str] | None = None
    if text[:5].lower() == "file:":
        text, uri = _from_uri(text)
        others += [(collapse(each, cwd), "read as a file URI") for each in uri]
    if text[:1] == "~":
        text, unknown = _below_home(text, around.home)
    windows = bool(_DRIVE.match(cwd))
    if windows:
        text, cwd = _from_windows(text), _from_windows(cwd)
    plain = normalize("NFC", collapse(text, cwd))
    notes: tuple[str, ...] = ("compared in Unicode form NFC",) if plain != collapse(text, cwd) else ()
    if _INVISIBLE.search(text):
        notes += ("the path holds invisible characters",)
    if around.links:
        physical = _resolved(text, cwd, around.links)
        if physical is None:
            unknown = ("path-links", "links made earlier lead in a circle")
        elif physical != plain:
            others.append((physical, "through a link made earlier"))
    if unknown is None and _VARIABLE.search(text):
        expanded = _HOME.sub(lambda _: around.home, text) if around.home else text
        others.append((collapse(expanded, cwd), "with its variable expanded"))
        if _VARIABLE.search(expanded):
            others.pop()
            unknown = ("path-variable", "the path holds a variable, which some tools expand")
    others += _odd_readings(text, cwd, windows)
    return Spelling(plain, tuple(others), unknown, notes)


def _refuse(text: str) -> None:
    if not text:
        raise Refused("path-empty", "the path is empty")
    if len(text) > _LONGEST:
        raise Refused("path-too-long", f"the path is longer than {_LONGEST} characters")
    if (control := _CONTROL.search(text)) is not None:
        raise Refused("path-control", f"the path holds the control character U+{ord(control[0]):04X}")


def _from_uri(text: str) -> tuple[str, list[str]]:
    """Return the path of a `file:` URI, and other paths that a laxer reading of it names."""
    rest = text[5:].replace("\\", "/")
    if rest[:2] == "//":
        host, slash, path = rest[2:].partition("/")
        if host.lower() not in ("", "localhost", "127.0.0.1"):
            raise Refused("path-remote", f"the file URI names another host, `{host}`")
        rest = slash + path
    whole = unquote(rest)
    bare = unquote(re.split(r"[?#]", rest, maxsplit=1)[0])
    if not bare:
        raise Refused("path-empty", "the file URI holds no path")
    if _CONTROL.search(whole):
        raise Refused("path-control", "the file URI holds an encoded control character")
    if bare[0] != "/":
        return bare, ["/" + bare, whole]
    if _DRIVE.match(bare[1:]):
        bare = bare[1:]
    return bare, [whole] if whole != bare else []


def _below_home(text: str, home: str) -> tuple[str, tuple[str, str] | None]:
    head, slash, rest = text.partition("/")
    if head == "~" and home:
        return f"{home}/{rest}" if slash else home, None
    whose = "the home directory" if head == "~" else f"the home directory of `{head[1:]}`"
    return text, ("path-home", f"{whose} was not recorded")


def _from_windows(text: str) -> str:
    text = text.replace("\\", "/")
    return "/" + text[0].upper() + text[1:] if _DRIVE.match(text) else text


def _odd_readings(text: str, cwd: str, windows: bool) -> list[tuple[str, str]]:
    r"""Return the readings of tools that treat `\` as a separator, decode percent signs or fold look-alikes."""
    readings: list[tuple[str, str]] = []
    for each in _variants(text):
        if each != text:
            readings.append((collapse(each, cwd), "decoded, as some tools do"))
        if " " in each and _PADDED.search(each):
            readings.append((collapse(_PADDED.sub("..", each), cwd), "without blanks at the end of a name"))
        if "\\" in each or (_DRIVE.match(each) and not windows):
            slashed = each.replace("\\", "/")
            slashed = slashed.upper() if _DRIVE.match(slashed) and len(slashed) == 2 else slashed
            anchored = "/" + slashed if _DRIVE.match(slashed) else slashed
            readings.append((collapse(anchored, cwd), "with `\\` as a separator"))
    return readings


def _variants(text: str) -> list[str]:
    """Return a text with percent signs decoded until none is left, and each with look-alikes folded."""
    found = [text]
    for _ in range(4):
        if "%" not in found[-1]:
            break
        decoded = unquote(found[-1])
        if decoded == found[-1]:
            break
        found.append(_CONTROL.sub("/../", decoded))
    for each in tuple(found):
        folded = each if each.isascii() else normalize("NFKC", each)
        # Only what makes a separator or a dot out of something else moves a path; `ﬁ` for `fi` does not.
        if folded != each and (folded.count(".") != each.count(".") or re.search(r"[/\\]", folded) is not None):
            found.append(_folded(each))
    return list(dict.fromkeys(found))


def _folded(text: str) -> str:
    return (
        "".join(
            small if (small := normalize("NFKC", letter)) in (".", "..", "...", "/", "\\", ":") else letter
            for letter in text
        )
        .replace("\u2215", "/")
        .replace("\u2044", "/")
    )


def _resolved(text: str, cwd: str, links: tuple[tuple[str, str], ...]) -> str | None:
    """Return where a path leads when links are followed segment by segment; none in a circle."""
    leads = dict(links)
    left = [part for part in (text if text[:1] == "/" else f"{cwd}/{text}").split("/") if part and part != "."]
    left.reverse()
    parts: list[str] = []
    followed = 0
    while left:
        part = left.pop()
        if part == "..":
            if parts:
                parts.pop()
            continue
        parts.append(part)
        target = leads.get(normalize("NFC", "/" + "/".join(parts)))
        if target is not None:
            followed += 1
            if followed > _MOST_LINKS:
                return None
            parts.clear()
            left += [each for each in reversed(target.split("/")) if each]
    return normalize("NFC", "/" + "/".join(parts))
