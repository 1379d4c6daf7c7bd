"""Rules of redaction as people write them, in YAML (`redaction/v1`, docs/redaction.md): every mistake told at once."""

from __future__ import annotations

import re

from outstep.contracts.fields import Fields, scalars
from outstep.contracts.located import Scalar, Sequence, decode, read
from outstep.contracts.report import Report, Span
from outstep.errors import OutstepError
from outstep.expr.patterns import Pattern, PatternError, compile_pattern
from outstep.redaction.rules import PROFILES, STANDARD, Rule, Rules

SCHEMA = "redaction/v1"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FINDS = ("pattern", "arguments", "pointers")


def load_rules(data: bytes, name: str) -> Rules:
    """Return the rules in the bytes of a file that messages call `name`; raises `OutstepError`."""
    report = Report("redact")
    file = decode(data, name, 0, report)
    root = read(file, report) if file is not None else None
    if file is not None and root is None and not report.problems("error"):
        report.error("empty", f"`{name}` holds no rules", Span(file, 0, 1), f"begin with `outstep: {SCHEMA}`")
    fields = Fields(root, report, "a file of redaction", ("outstep", "profile", "keep", "rules"), own="x-")
    if root is not None:
        fields.need("outstep", f"write `outstep: {SCHEMA}`")
        fields.choice("outstep", (SCHEMA,), SCHEMA)
    profile = fields.choice("profile", PROFILES, STANDARD)
    kept = fields.get("keep")
    nodes = scalars(kept, report, "`keep`") if kept is not None else []
    keep = tuple(pattern for node in nodes if (pattern := _pattern(node, report)) is not None)
    rules = tuple(_rules(fields, report))
    if problems := report.problems("error"):
        raise OutstepError(*problems)
    return Rules(profile=profile, rules=rules, keep=keep)


def _rules(fields: Fields, report: Report) -> list[Rule]:
    node = fields.get("rules")
    if node is None:
        return []
    if not isinstance(node, Sequence):
        report.error("value", "`rules` is a list", node.span)
        return []
    found: list[Rule] = []
    for item in node.items:
        own = Fields(item, report, "a rule of redaction", ("name", *_FINDS), own="x-")
        if own.span is None:
            continue
        own.need("name", "a name of letters, digits and `_`: placeholders show it")
        name = own.text("name")
        if name and not _NAME.fullmatch(name):
            report.error("value", f"`name` is a word of small letters, digits and `_`, not `{name}`", own.key("name"))
        if name in (rule.name for rule in found):
            report.error("name-twice", f"two rules are called `{name}`", own.key("name"))
        if not any(find in own for find in _FINDS):
            report.error("missing-key", "a rule of redaction lacks what it finds", own.span, f"give one of {_listed()}")
        node_ = own.get("pattern")
        pattern = _pattern(node_, report) if isinstance(node_, Scalar) else None
        if node_ is not None and not isinstance(node_, Scalar):
            report.error("value", "`pattern` is a text", node_.span)
        pointers = tuple(steps for pointer in own.texts("pointers") if (steps := _steps(pointer, own, report)))
        found.append(Rule(name=name, pattern=pattern, arguments=own.texts("arguments"), pointers=pointers))
    return found


def _listed() -> str:
    return ", ".join(f"`{find}`" for find in _FINDS)


def _pattern(node: Scalar, report: Report) -> Pattern | None:
    try:
        pattern = compile_pattern(node.text)
    except PatternError as error:
        report.error("pattern", f"`{node.text}` cannot be used: {error.sentence}", node.span)
        return None
    if pattern.spans(b"") is not None:
        report.error("pattern", f"`{node.text}` matches the empty text", node.span, "every place would be replaced")
        return None
    return pattern


def _steps(pointer: str, own: Fields, report: Report) -> tuple[str, ...]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    if not pointer.startswith("/"):
        report.error("pointer", f"`{pointer}` is no JSON pointer: it begins with `/`", own.key("pointers"))
        return ()
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
