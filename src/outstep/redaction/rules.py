"""What is redacted: the profile, and rules of one's own. `rules_file.py` reads them from YAML.

docs: docs/redaction.md
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from outstep.expr.patterns import Pattern
from outstep.redaction.detectors.base import Hit

STANDARD, NONE = "standard", "none"
PROFILES = (STANDARD, NONE)
ARGUMENTS = frozenset(("args", "arguments", "input", "parameters", "args_raw", "argsRaw"))
"""Members that hold the arguments of a call, in the formats that are read."""
SHORT = 6
"""Values with fewer characters are replaced where a rule finds them, and sought nowhere else."""


class Rule(Struct, frozen=True, kw_only=True):
    """Personal data, or a secret, of one's own kind."""

    name: str
    pattern: Pattern | None = None
    """Its group `value`, or all that it matches."""
    arguments: tuple[str, ...] = ()
    """Names of arguments of tools, at whatever depth."""
    pointers: tuple[tuple[str, ...], ...] = ()
    """Steps of JSON pointers in a document, or in each line of JSON Lines; `*` is any one step."""

    @property
    def kind(self) -> str:
        """What its placeholders say."""
        return f"rule:{self.name}"


class Rules(Struct, frozen=True, kw_only=True):
    """Everything that says what is redacted."""

    profile: str = STANDARD
    rules: tuple[Rule, ...] = ()
    keep: tuple[Pattern, ...] = ()
    """Values that stay, where one of them matches the whole value."""

    def keeps(self, value: bytes) -> bool:
        """Return whether a value was named as harmless."""
        return any(
            (spans := pattern.spans(value, anchored=True)) is not None and spans[0] == (0, len(value))
            for pattern in self.keep
        )

    def find(self, text: bytes) -> Iterator[Hit]:
        """Yield what the patterns of the rules find."""
        for rule in self.rules:
            if rule.pattern is None:
                continue
            place = 0
            while (spans := rule.pattern.spans(text, place)) is not None:
                start, end = _value_of(rule.pattern, spans)
                if end > start:
                    yield Hit(start, end, rule.kind, sure=True)
                place = max(spans[0][1], place + 1)


def _value_of(pattern: Pattern, spans: object) -> tuple[int, int]:
    places: list[tuple[int, int]] = list(spans)  # type: ignore[call-overload]
    return places[1] if pattern.names == ("value",) and len(places) == 2 and places[1][0] >= 0 else places[0]


def named_values(rules: Rules, document: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Yield what pointers and names of arguments mean: kind, last name on the way, value as text.

    A line, or a document, that is no JSON holds nothing that could be pointed to.
    """
    ways = [(rule.kind, pointer) for rule in rules.rules for pointer in rule.pointers]
    names = {name: rule.kind for rule in rules.rules for name in rule.arguments}
    if not ways and not names:
        return
    try:
        values = [msgspec.json.decode(document)]
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        values = list(_lines(document))
    for value in values:
        for kind, pointer in ways:
            for name, found in _pointed(value, pointer, ""):
                yield from ((kind, last, text) for last, text in _leaves(found, name))
        yield from _arguments(value, names, is_within=False)


def _lines(document: bytes) -> Iterator[object]:
    for line in document.split(b"\n"):
        try:
            yield msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            continue


def _pointed(value: object, pointer: tuple[str, ...], name: str) -> Iterator[tuple[str, object]]:
    value = _opened(value) if pointer else value
    if not pointer:
        yield name, value
    elif isinstance(value, dict):
        for key in value if pointer[0] == "*" else [pointer[0]] if pointer[0] in value else []:
            yield from _pointed(value[key], pointer[1:], key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if pointer[0] in ("*", str(index)):
                yield from _pointed(item, pointer[1:], name)


def _arguments(value: object, names: dict[str, str], *, is_within: bool) -> Iterator[tuple[str, str, bytes]]:
    todo = [(value, is_within)]
    while todo:
        value, is_within = todo.pop()
        value = _opened(value) if is_within else value
        if isinstance(value, dict):
            for key, item in value.items():
                if is_within and key in names:
                    yield from ((names[key], last, text) for last, text in _leaves(item, key))
                else:
                    todo.append((item, is_within or key in ARGUMENTS))
        elif isinstance(value, list):
            todo += ((item, is_within) for item in value)


def _opened(value: object) -> object:
    """Return what stands in a text that is JSON itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return value
    return value


def _leaves(value: object, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield every text and number in a value; what is true, false or nothing tells nobody's name."""
    value = _opened(value)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif isinstance(value, str):
        if value:
            yield name, value.encode("utf-8", "surrogatepass")
    elif value is not None and not isinstance(value, bool):
        yield name, msgspec.json.encode(value)
