"""The kind `scope`: lists of patterns, written out or named in `params`.

docs: docs/language.md, section 6
"""

from __future__ import annotations

from re import compile as linear_pattern
from typing import Any

from outstep.contracts.fields import Fields
from outstep.contracts.kinds import Scope
from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.reading import Reading

KEYS = ("read", "write", "run", "fetch")
_PARAM = linear_pattern(r"params\.(\w+)")


def read_scope(node: Node | None, reading: Reading) -> Scope:
    """Return the patterns of a scope; mistakes go to the report."""
    fields = Fields(node, reading.report, "`scope`", KEYS)
    if node is not None and isinstance(node, Mapping) and not node.entries:
        sentence = "`scope` restricts nothing"
        reading.report.error(
            "useless-rule", sentence, node.span, f"give it one of {', '.join(f'`{key}`' for key in KEYS)}"
        )
    patterns: dict[str, tuple[str, ...]] = {}
    outside: list[str] = []
    for key in fields:
        value = fields.get(key)
        if isinstance(value, Mapping):
            inner = Fields(value, reading.report, f"`{key}`", ("except",))
            value = inner.need("except", f"write `{key}: {{except: [...]}}`, or a list of patterns")
            outside.append(key)
        if value is not None:
            patterns[key] = _patterns(value, key, reading)
    return Scope(**patterns, outside=tuple(outside))


def _patterns(node: Node, key: str, reading: Reading) -> tuple[str, ...]:
    found: list[str] = []
    for item in node.items if isinstance(node, Sequence) else (node,):
        if not isinstance(item, Scalar) or item.kind == "null" or not item.text:
            reading.report.error("value", f"`{key}` is a list of patterns", item.span)
        elif (param := _PARAM.fullmatch(item.text)) and not item.style:
            found.extend(_param(param[1], item, key, reading))
        else:
            found.append(item.text)
    return tuple(found)


def _param(name: str, item: Scalar, key: str, reading: Reading) -> list[str]:
    """Return the patterns that a parameter holds."""
    if name not in reading.params:
        known = list(reading.params)
        help = f"for a file of this name write `./params.{name}`"
        reading.report.unknown("unknown-name", f"`params` has no `{name}`", item.span, name, known, help=help)
        return []
    reading.use("param", name)
    value: Any = reading.params[name]
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) and text for text in texts):
        sentence = f"`params.{name}` holds no list of patterns, as `{key}` needs"
        reading.report.error("value", sentence, item.span)
        return []
    return list(texts)
