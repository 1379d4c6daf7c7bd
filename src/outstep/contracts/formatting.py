"""A contract laid out evenly: what it says, its comments and the order inside of its sections stay as they are.

Indentation of two, list entries below their key, sections in the order of the language, no trailing blanks, at most one
empty line. The result is read again and compared before anyone gets it.
docs: docs/formatting.md
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.contracts.including import KEYS
from outstep.contracts.layout import Layout, laid_out
from outstep.contracts.located import decode, plain_value, read
from outstep.contracts.report import Report
from outstep.errors import OutstepError

STEP = 2


def formatted(data: bytes, name: str) -> str:
    """Return the text of a contract, laid out; raises `OutstepError` where it is no YAML of a contract."""
    layout = _read(data, name)
    text = "\n".join(_without_spare_lines(_in_order(_indented(layout), layout))).rstrip("\n") + "\n"
    if _same(text, layout, name):
        return text
    # Something in the file is laid out in a way that this module does not follow: its lines stay where they are.
    text = "\n".join(_without_spare_lines(_stripped(layout))).rstrip("\n") + "\n"
    return text if _same(text, layout, name) else layout.text


class Line(Struct, frozen=True):
    """One line of the result."""

    text: str
    section: int
    """Number of the section that it belongs to; comments belong to what follows them."""
    is_fixed: bool
    """Whether it is a part of a text that goes over several lines: nothing in it may change."""


def _read(data: bytes, name: str) -> Layout:
    report = Report()
    file = decode(data, name, 0, report)
    node = None if file is None else read(file, report)
    if file is None or node is None or report.failed:
        raise OutstepError(*report.problems("error"))
    return laid_out(file.text.replace("\r\n", "\n").replace("\r", "\n"))


def _same(text: str, layout: Layout, name: str) -> bool:
    """Return whether two texts say the same, comments and all."""
    values = []
    for one in (text, layout.text):
        report = Report()
        file = decode(one.encode(), name, 0, report)
        node = None if file is None else read(file, report)
        if node is None or report.failed:
            return False
        values.append(plain_value(node))
    if values[0] != values[1] or repr(_sorted(values[0])) != repr(_sorted(values[1])):
        return False
    return sorted(laid_out(text).comments) == sorted(layout.comments)


def _sorted(value: Any) -> Any:
    """Return a document with its sections in one order: a number and its text are different values."""
    return sorted(value.items()) if isinstance(value, dict) else value


def _indented(layout: Layout) -> list[Line]:
    lines: list[Line] = []
    for number, text in enumerate(layout.lines):
        place = layout.places[number]
        if place.is_inside:
            shifted = _shifted(text, place.shift)
            lines.append(Line(shifted if place.is_literal else shifted.rstrip() or "", place.section, place.is_literal))
        else:
            body = text.strip(" ")
            if place.dashes:
                body = place.dashes + text[place.starts :].rstrip()
            lines.append(Line((" " * place.column + body).rstrip() if body else "", place.section, False))
    return lines


def _shifted(text: str, shift: int) -> str:
    if shift >= 0:
        return " " * shift + text if text.strip() else text
    blanks = len(text) - len(text.lstrip(" "))
    return text[min(blanks, -shift) :]


def _stripped(layout: Layout) -> list[Line]:
    return [
        Line(text if layout.places[number].is_inside else text.rstrip(), 0, layout.places[number].is_inside)
        for number, text in enumerate(layout.lines)
    ]


def _in_order(lines: list[Line], layout: Layout) -> list[Line]:
    """Return the lines with the sections in the order of the language; an anchor keeps everything in its place."""
    if layout.has_anchors or not layout.sections:
        return lines
    while lines and not lines[-1].text:
        lines = lines[:-1]
    rank = {name: place for place, name in enumerate(KEYS)}
    head = [line for line in lines if line.section < 0]
    order = sorted(
        range(len(layout.sections)), key=lambda number: (rank.get(layout.sections[number], len(KEYS)), number)
    )
    return [*head, *(line for number in (*order, len(order)) for line in lines if line.section == number)]


def _without_spare_lines(lines: list[Line]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if not line.text and not line.is_fixed and (not kept or not kept[-1]):
            continue
        kept.append(line.text)
    return kept
