"""Values of a battery that every reader of YAML must read alike.

YAML 1.1 and 1.2 take plain scalars such as `no`, `012`, `1_000`, `1:30`, `0o7` and `2024-01-01` for different things.
A battery decides what an agent may touch, and other programs read the same file: such a scalar is a mistake.
"""

from __future__ import annotations

from typing import Any

from outstep.contracts.located import LONGEST_NUMBER, Node, Scalar, Sequence
from outstep.contracts.quoting import quoted
from outstep.contracts.report import Report, Span

Reading = tuple[str, Any]
"""What a version of YAML makes of a scalar: a kind of `_KINDS` or `text`, and its value."""


def read_text(node: Node, report: Report, what: str, *, may_be_number: bool = True) -> str | None:
    """Return a value as text; none, and a mistake, where it is no text, an empty one, or not the same everywhere.

    A number stands for itself where it is written as any program would write it: `42`, not `042`.
    """
    if not isinstance(node, Scalar):
        shape = "a list" if isinstance(node, Sequence) else "a map"
        report.error("value", f"{what} is a text, not {shape}", node.span)
        return None
    told = "" if node.style else _not_text(node, may_be_number=may_be_number)
    if told:
        help = f"write it quoted: {quoted(node.text)}" if node.kind != "null" else f"give {what} a text"
        report.error("value", f"{what} is a text; {told}", visible(node), help)
        return None
    if not node.text.strip():
        report.error("empty", f"{what} is empty", visible(node))
        return None
    if not node.style and node.text in ("y", "Y", "n", "N"):
        sentence = f"{what} is `{node.text}`, which some readers of YAML 1.1 take for a truth value"
        report.warning("yaml-reading", sentence, node.span, f"write it quoted: {quoted(node.text)}")
    return node.text


def read_version(node: Node, report: Report) -> str | int | float | None:
    """Return the version of a battery as the file has it: text, or a number above zero."""
    if isinstance(node, Scalar) and not node.style and node.kind in ("int", "number"):
        old, new = _readings(node)
        if old == new:
            return _number_above_zero(node, new[1], report)
    return read_text(node, report, "`version`", may_be_number=False)


def read_count(node: Node, report: Report, what: str, most: int) -> int | None:
    """Return a whole number from 1 on."""
    if isinstance(node, Scalar) and node.kind == "int" and not node.style:
        old, new = _readings(node)
        if old == new and 1 <= new[1] <= most:
            return int(new[1])
    shown = f", not `{node.text}`" if isinstance(node, Scalar) and node.text else ""
    report.error("value", f"{what} is a whole number from 1 to {most}{shown}", visible(node))
    return None


def visible(node: Node) -> Span:
    """Return where a value stands, at least one character of it."""
    return Span(node.file, node.start, max(node.end, node.start + 1))


def _number_above_zero(node: Scalar, value: Any, report: Report) -> int | float | None:
    if value <= 0:
        sentence = f"`version` is a text, or a number above zero; `{node.text}` is neither"
        report.error("value", sentence, node.span, f"count from 1, or write it quoted: {quoted(node.text)}")
        return None
    number: int | float = value
    if str(number) != node.text:
        sentence = f"`version` is the number {number}, however it is written: another version could be the same one"
        report.warning("yaml-reading", sentence, node.span, f"write it quoted: {quoted(node.text)}")
    return number


def _not_text(node: Scalar, *, may_be_number: bool) -> str:
    """Return why a plain scalar cannot stand for its own text, or nothing."""
    old, new = _readings(node)
    if old != new:
        return f"YAML 1.1 reads `{node.text}` as {_shown(old)}, YAML 1.2 as {_shown(new)}"
    kind, value = old
    if kind == "text":
        return ""
    if kind in ("int", "number") and may_be_number and str(value) == node.text:
        return ""
    return f"`{node.text}` is {_shown(old)}" if node.text else "there is none"


def _readings(node: Scalar) -> tuple[Reading, Reading]:
    """Return what YAML 1.1 and YAML 1.2 make of a plain scalar; equal values are equal."""
    old = _old(node.text)
    if node.kind == "int":
        return old, ("int", node.value)
    if node.kind == "number":
        return old, ("number", float(str(node.value)))
    if old[0] == "number" and node.text.lstrip("+-").lower() in (".inf", ".nan"):
        return old, old  # both versions have them
    return old, (node.kind, node.value)


def _old(text: str) -> Reading:
    """Return what PyYAML, a reader of YAML 1.1, makes of a plain scalar."""
    import yaml

    if len(text) > LONGEST_NUMBER:
        return "text", text
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    found = [*resolvers.get(text[:1], ()), *resolvers.get(None, ())]
    tag = next((tag for tag, pattern in found if pattern.match(text)), "tag:yaml.org,2002:str")
    kind = _KINDS.get(tag.rpartition(":")[2], "text")
    if kind not in ("int", "number", "bool"):
        return kind, None if kind == "null" else text
    constructor = yaml.constructor.SafeConstructor()
    make = {"int": constructor.construct_yaml_int, "number": constructor.construct_yaml_float}
    make["bool"] = constructor.construct_yaml_bool
    return kind, make[kind](yaml.ScalarNode(tag, text))


_KINDS = {
    "bool": "bool",
    "int": "int",
    "float": "number",
    "null": "null",
    "timestamp": "date",
    "merge": "mark",
    "value": "mark",
}


def _shown(reading: Reading) -> str:
    kind, value = reading
    if kind == "bool":
        return f"the truth value {str(value).lower()}"
    if kind in ("int", "number"):
        return f"the number {value}"
    return {"text": "text", "null": "nothing", "date": "a date", "mark": "a mark of its own"}[kind]
