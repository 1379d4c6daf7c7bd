"""The section `rules`: rules, and groups of rules that share keys.

docs: docs/language.md, section 6
"""

from __future__ import annotations

from msgspec import Struct, structs

from outstep.contracts import keys
from outstep.contracts.bindings import RESERVED
from outstep.contracts.bodies import Body
from outstep.contracts.fields import Fields, entries
from outstep.contracts.lets import Let
from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.model import Rule
from outstep.contracts.reading import Reading
from outstep.contracts.report import Span

LEVELS = keys.CHOICES["level"]
CLASSES = keys.CHOICES["class"]
MOST_RULES = 5000
MOST_LETS = 200


class Shared(Struct, frozen=True, kw_only=True):
    """What the groups around a rule say for it."""

    trigger: Node | None = None
    """The value of `for`."""
    when: tuple[tuple[Node, tuple[str, ...]], ...] = ()
    """Conditions, each with the names of `let` that its group knows."""
    lets: tuple[Let, ...] = ()
    level: str = "block"
    cls: str = ""
    missing: str = "violated"


class RuleReader:
    """Reads the rules of one file."""

    def __init__(self, reading: Reading, pack: str = "", is_integrity: bool = False) -> None:
        self._reading = reading
        self._report = reading.report
        self._pack = pack
        self._kinds = (*keys.KINDS, "integrity") if is_integrity else keys.KINDS
        self.rules: list[tuple[Rule, Span]] = []
        """Each rule with the place of its id."""

    def read(self, node: Node | None) -> None:
        """Read the section; mistakes go to the report."""
        if node is not None:
            self._entries(node, Shared())

    def _entries(self, node: Node, shared: Shared) -> None:
        if not isinstance(node, Sequence):
            self._report.error(
                "value", "`rules` is a list of rules and groups", Span(node.file, node.start, node.start + 1)
            )
            return
        if not node.items:
            self._report.error("value", "`rules` holds no rule", node.span, "a check of nothing is never green")
        for item in node.items:
            if len(self.rules) >= MOST_RULES:
                self._report.error("value", f"a contract has at most {MOST_RULES} rules", item.span)
                return
            if not isinstance(item, Mapping):
                self._report.error("value", "a rule is a map of keys", item.span)
            elif item.get("rules") is not None:
                self._group(item, shared)
            else:
                self._rule(item, shared)

    def _group(self, node: Mapping, shared: Shared) -> None:
        for key, _ in node.entries:
            if key.text in self._kinds:
                sentence = f"an entry has `rules` or a kind, not both: `{key.text}` stands beside `rules`"
                self._report.error("two-kinds", sentence, key.span, "put it into a rule of its own in the group")
            elif key.text in keys.KNOWN and key.text not in keys.GROUP:
                help = f"rules share {', '.join(f'`{name}`' for name in keys.GROUP[:-1])}; write it in each rule"
                self._report.error("key-not-for-kind", f"a group takes no `{key.text}`", key.span, help)
        fields = Fields(node, self._report, "a group of rules", keys.KNOWN)
        lets = (*shared.lets, *self._lets(fields.get("let"), shared.lets))
        rules = fields.get("rules")
        if rules is not None:
            self._entries(
                rules,
                Shared(
                    trigger=fields.get("for") or shared.trigger,
                    when=(*shared.when, *_conditions(fields.get("when"), lets)),
                    lets=lets,
                    level=fields.choice("level", LEVELS, shared.level),
                    cls=fields.choice("class", CLASSES, shared.cls),
                    missing=fields.choice("missing", keys.CHOICES["missing"], shared.missing),
                ),
            )

    def _lets(self, node: Node | None, outer: tuple[Let, ...]) -> tuple[Let, ...]:
        found: list[Let] = []
        taken = {let.name for let in outer}
        for key, value in entries(node, self._report, "`let`", MOST_LETS):
            name = key.text
            if not name.isidentifier() or not name.isascii() or name in RESERVED or name in self._reading.facts:
                what = "a fact" if name in self._reading.facts else "something else in expressions"
                is_word = name.isidentifier() and name.isascii()
                sentence = f"`{name}` is the name of {what}" if is_word else f"`{name}` cannot be read in an expression"
                self._report.error("reserved-name", sentence, key.span, "give it another name")
            elif name in taken:
                self._report.error("duplicate-id", f"a group around already has `{name}` in its `let`", key.span)
            else:
                piece = self._reading.piece(value)
                expr = None if piece is None else self._reading.parsed(piece)
                found.append(Let(name=name, key=key.span, piece=piece, expr=expr))
                self._reading.lets.append(key.span)
        level = (*(let.name for let in outer), *(let.name for let in found))
        return tuple(structs.replace(let, beside=level) for let in found)

    def _rule(self, node: Mapping, shared: Shared) -> None:
        mistakes = self._report.mistakes
        kind = self._kind(node)
        if kind is None:
            return
        fields = Fields(node, self._report, "a rule", (*keys.KNOWN, "metric", "integrity"))
        for key in fields:
            if key != kind and key not in keys.TAKES[kind] and key not in (*self._kinds, "metric"):
                self._report_foreign_key(kind, key, fields)
        self._refuse_what_a_group_cannot_give(kind, fields, shared)
        own = self._lets(fields.get("let"), shared.lets)
        lets = (*shared.lets, *own)
        body = Body(
            self._reading,
            fields,
            kind,
            trigger=fields.get("for") or shared.trigger,
            is_own_trigger="for" in fields,
            when=(*shared.when, *_conditions(fields.get("when"), lets)),
            lets=lets,
            own_lets=own,
        )
        rule = body.rule(
            id=self._id(fields),
            level=fields.choice("level", LEVELS, shared.level),
            cls=fields.choice("class", CLASSES, shared.cls),
            missing=fields.choice("missing", keys.CHOICES["missing"], shared.missing),
            judge="record" if kind == "integrity" else fields.choice("judge", keys.CHOICES["judge"], "run"),
            pack=self._pack,
            spot=node.span.spot,
        )
        # A condition of a group that cannot be read is told once, at the first of its rules.
        if self._report.mistakes > mistakes or len(rule.when) < len(shared.when):
            self._reading.broken.add(rule.spot)
        identity = fields.get("id")
        self.rules.append((rule, node.span if identity is None else identity.span))

    def _kind(self, node: Mapping) -> str | None:
        """Return the kind of a rule, the first one where there are several; none (and a mistake) without."""
        found = [key for key, _ in node.entries if key.text in self._kinds]
        if metric := node.get("metric"):
            help = "a score is a trend and never gates: `for: end`, `require: trace.metrics.NAME >= 0.8`, `level: warn`"
            self._report.error("block-needs-deterministic", "a rule cannot rest on a `metric`", metric.span, help)
        if found:
            for key in found[1:]:
                sentence = f"a rule has one kind: `{key.text}` stands beside `{found[0].text}`"
                self._report.error("two-kinds", sentence, key.span, "make two rules of it; a group shares their keys")
            return found[0].text
        listed = ", ".join(f"`{name}`" for name in keys.KINDS)
        strange = [key for key, _ in node.entries if key.text not in keys.KNOWN and key.text != "metric"]
        for key in strange:
            self._report.unknown("unknown-key", f"a rule has no key `{key.text}`", key.span, key.text, list(keys.KNOWN))
        if metric is None and not any(self._report.similar(key.text, keys.KINDS) for key in strange):
            start = node.get("id") or node
            self._report.error("no-kind", "a rule lacks its kind", start.span, f"give it one of {listed}")
        return None

    def _report_foreign_key(self, kind: str, key: str, fields: Fields) -> None:
        if key == "integrity":
            self._report.error("unknown-key", "a rule has no key `integrity`", fields.key(key))
            return
        why = keys.WHY.get((kind, key), "")
        takers = ", ".join(f"`{name}`" for name in keys.takers(key))
        sentence = f"`{kind}` takes no `{key}`" + (f": {why}" if why else "")
        self._report.error("key-not-for-kind", sentence, fields.key(key), f"`{key}` goes with {takers}")

    def _refuse_what_a_group_cannot_give(self, kind: str, fields: Fields, shared: Shared) -> None:
        if kind in ("never", "python") and shared.trigger is not None:
            sentence = f"`{kind}` stands in a group with `for`, which does not reach it"
            help = "move the rule out of the group" + (
                ", or write `require` with the condition" if kind == "never" else ""
            )
            self._report.error("key-not-for-kind", sentence, fields.key(kind), help)
        elif kind == "python" and shared.when:
            sentence = "`python` stands in a group with `when`, which does not reach it"
            self._report.error("key-not-for-kind", sentence, fields.key(kind), "move the rule out of the group")

    def _id(self, fields: Fields) -> str:
        node = fields.need("id", "findings, levels and waivers name a rule by its id")
        if node is None:
            return ""
        name = node.text if isinstance(node, Scalar) and node.kind != "null" else ""
        if not name or any(sign.isspace() or sign in "`|" for sign in name) or len(name) > 200:
            self._report.error("value", "an id is one word", Span(node.file, node.start, max(node.end, node.start + 1)))
        return name


def _conditions(node: Node | None, lets: tuple[Let, ...]) -> tuple[tuple[Node, tuple[str, ...]], ...]:
    if node is None:
        return ()
    names = tuple(let.name for let in lets)
    return tuple((item, names) for item in (node.items if isinstance(node, Sequence) else (node,)))
