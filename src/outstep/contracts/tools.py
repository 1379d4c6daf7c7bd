"""The section `tools`: declared tools, and the globs that give them defaults.

docs: docs/language.md, section 3
"""

from __future__ import annotations

from msgspec import Struct

from outstep.contracts import schemas
from outstep.contracts.bindings import ALWAYS, BOUND, Names, elsewhere
from outstep.contracts.fields import Fields, entries, scalars, text_of
from outstep.contracts.located import Mapping, Node, Scalar, plain_value
from outstep.contracts.model import Tool
from outstep.contracts.names import EFFECTS, collisions, entry_fits, is_glob
from outstep.contracts.reading import Reading
from outstep.contracts.report import Span
from outstep.contracts.selectors import Expr

OUTCOME_KEYS = ("denied_when", "unknown_when", "fails_when", "succeeds_when")
TARGETS = ("path", "command", "url", "host")
KEYS = ("names", "effect", "tags", "args", "reads", *OUTCOME_KEYS, "targets")
MOST_TOOLS = 2000


class Entry(Struct, frozen=True):
    """One entry of `tools`, its keys known and its values not yet read."""

    key: Scalar
    values: dict[str, Node]


class Entries:
    """Entries of all files: exact names, and globs in their order."""

    def __init__(self) -> None:
        self.exact: dict[str, Entry] = {}
        self.globs: dict[str, Entry] = {}

    def add(self, node: Node | None, reading: Reading) -> None:
        """Take the section of one file; what a nearer file says of a tool wins, key by key."""
        for key, value in entries(node, reading.report, "`tools`", MOST_TOOLS):
            if isinstance(value, Scalar) and value.kind == "null":
                values: dict[str, Node] = {}
            else:
                fields = Fields(value, reading.report, "a tool", KEYS)
                values = {name: part for name in fields if (part := fields.get(name)) is not None}
            if not key.text or key.text.startswith("@") or any(sign in " |\t\n" for sign in key.text):
                help = "names hold no blanks and no `|`, and do not begin with `@`"
                reading.report.error("value", f"`{key.text}` cannot name a tool", key.span, help)
                continue
            table = self.globs if is_glob(key.text) else self.exact
            earlier = table.pop(key.text, None)
            table[key.text] = Entry(key, values if earlier is None else {**earlier.values, **values})

    def declare(self, reading: Reading) -> None:
        """Tell which tools, effects and tags there are, before any expression is read."""
        for name, entry in self.exact.items():
            schema = self._merged(name, entry).get("args")
            reading.tools[name] = plain_value(schema) if isinstance(schema, Mapping) else None
        for entry in (*self.globs.values(), *self.exact.values()):
            for word in ("effect", "tags"):
                node = entry.values.get(word)
                for item in getattr(node, "items", (node,)):
                    if isinstance(item, Scalar):
                        reading.groups[item.text] = None

    def read(self, reading: Reading) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
        """Return the declared tools and the globs, both with what earlier globs give them."""
        globs: list[Tool] = []
        for name, entry in self.globs.items():
            if "names" in entry.values:
                sentence = f"`{name}` stands for many tools and takes no `names`"
                reading.report.error("key-not-for-kind", sentence, entry.values["names"].span)
            globs.append(_tool(name, entry.key.span, entry.values, reading))
        tools = [_tool(name, entry.key.span, self._merged(name, entry), reading) for name, entry in self.exact.items()]
        for tool, earlier, name in collisions(tools):
            sentence = f"`{name}` stands for the tool `{tool}` and for `{earlier}`"
            help = "`names` tells them apart, as `names: [mcp__shop__refund]`; see docs/language.md, section 3"
            reading.report.error("duplicate-id", sentence, self.exact[tool].key.span, help)
        return tuple(tools), tuple(globs)

    def _merged(self, name: str, entry: Entry) -> dict[str, Node]:
        merged: dict[str, Node] = {}
        for glob, defaults in self.globs.items():
            if entry_fits(glob, name):
                merged.update(defaults.values)
        merged.pop("names", None)
        return {**merged, **entry.values}


def _tool(name: str, span: Span, values: dict[str, Node], reading: Reading) -> Tool:
    report = reading.report
    fields = _Values(values, reading)
    args = values.get("args")
    if args is not None:
        schemas.check_schema(args, report)
    outcomes = {key: reading.expression(values[key], _outcome_names(reading)) for key in OUTCOME_KEYS if key in values}
    return Tool(
        name=name,
        names=fields.texts("names"),
        effect=fields.effect(),  # type: ignore[arg-type]
        tags=fields.tags(),
        args=plain_value(args) if isinstance(args, Mapping) else None,
        reads=_reads(values.get("reads"), reading),
        denied_when=outcomes.get("denied_when"),
        unknown_when=outcomes.get("unknown_when"),
        fails_when=outcomes.get("fails_when"),
        succeeds_when=outcomes.get("succeeds_when"),
        targets=_targets(values.get("targets"), reading),
        spot=span.spot,
    )


class _Values:
    """Short values of one tool."""

    def __init__(self, values: dict[str, Node], reading: Reading) -> None:
        self._values = values
        self._report = reading.report

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a text or a list of texts."""
        node = self._values.get(key)
        if node is None:
            return ()
        return tuple(dict.fromkeys(item.text for item in scalars(node, self._report, f"`{key}`")))

    def effect(self) -> str | None:
        """Return `read`, `write` or none."""
        node = self._values.get("effect")
        if node is None or (isinstance(node, Scalar) and node.text in EFFECTS):
            return node.text if isinstance(node, Scalar) else None
        shown = f", not `{node.text}`" if isinstance(node, Scalar) else ""
        self._report.error("value", f"`effect` is `read` or `write`{shown}", node.span)
        return None

    def tags(self) -> tuple[str, ...]:
        """Return the tags, which are no effects."""
        tags = self.texts("tags")
        for tag in tags:
            if tag in EFFECTS:
                sentence = f"`{tag}` is no tag: it is what `effect` says"
                self._report.error("value", sentence, self._values["tags"].span, f"write `effect: {tag}`")
        return tags


def _reads(node: Node | None, reading: Reading) -> str | None:
    text = "" if node is None else text_of(node, reading.report, "`reads`")
    if not isinstance(node, Scalar) or text in ("text", "json", ""):
        return text or None
    from outstep.expr.patterns import PatternError, compile_pattern

    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        if not reading.report_if_apart(node):
            reading.report.error("regex", error.sentence, node.span)
        return None
    if not pattern.names:
        sentence = f"`{text}` is neither `text` nor `json`, nor a pattern with named groups"
        reading.report.error("value", sentence, node.span, "a named group is written `(?P<refundId>RF-[0-9]+)`")
    return text


def _targets(node: Node | None, reading: Reading) -> dict[str, tuple[Expr, ...]]:
    if node is None:
        return {}
    fields = Fields(node, reading.report, "`targets`", TARGETS)
    names = reading.names_at(("call",))
    return {key: reading.expressions(value, names) for key in fields if (value := fields.get(key)) is not None}


def _outcome_names(reading: Reading) -> Names:
    bound = (*BOUND["result"], *ALWAYS)
    return reading.once(
        "outcome",
        lambda: Names(
            bound,
            {
                **elsewhere(bound, ()),
                **dict.fromkeys(reading.facts, "rules and facts, and an outcome does not depend on them"),
            },
            (*BOUND["result"], "agent", "turn"),
        ),
    )
