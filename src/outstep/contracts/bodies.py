"""One rule: its kind and everything that the kind takes.

docs: docs/language.md, section 6
"""

from __future__ import annotations

from collections.abc import Callable
from re import compile as linear_pattern

from msgspec import structs

from outstep.contracts import keys
from outstep.contracts.bindings import ELEMENT, Names
from outstep.contracts.contents import expressions_of
from outstep.contracts.fields import Fields, text_of
from outstep.contracts.kinds import (
    AtLeast,
    AtMost,
    Exactly,
    Integrity,
    Kind,
    Needs,
    Never,
    Python,
    Require,
    Then,
    Within,
)
from outstep.contracts.lets import Let, settle
from outstep.contracts.located import Node, Scalar, Sequence
from outstep.contracts.messages import read_message
from outstep.contracts.model import Rule
from outstep.contracts.reading import Reading
from outstep.contracts.scopes import read_scope
from outstep.contracts.selecting import Role, read_selectors, settled_tools
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.contracts.useless import report_useless
from outstep.expr.nodes import Literal, names_of

_WITHIN = linear_pattern(r"([0-9]{1,9}) +(turn|event|second)s?")
_FUNCTION = linear_pattern(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


class Body:
    """Reads what one rule asks for; the groups around it are already counted in."""

    def __init__(
        self,
        reading: Reading,
        fields: Fields,
        kind: str,
        *,
        trigger: Node | None,
        is_own_trigger: bool,
        when: tuple[tuple[Node, tuple[str, ...]], ...],
        lets: tuple[Let, ...],
        own_lets: tuple[Let, ...],
    ) -> None:
        self._reading = reading
        self._report = reading.report
        self._fields = fields
        self._kind = kind
        self._when = when
        self._lets = lets
        self._let_names = tuple(let.name for let in lets)
        self._checked_lets = tuple(let.name for let in (own_lets if is_own_trigger or kind == "never" else lets))
        self._triggers = self._read_triggers(trigger)
        self._whats = tuple(dict.fromkeys(selector.what for selector in self._triggers or ()))
        self._tools = settled_tools(self._triggers or (), reading)
        self._element = self._read_element()

    def rule(self, *, id: str, level: str, cls: str, missing: str, judge: str, pack: str, spot: Spot) -> Rule:
        """Return the rule; mistakes go to the report."""
        names = self._names(self._let_names)
        when = tuple(
            expr
            for node, beside in self._when
            for expr in self._reading.expressions(node, self._names(beside))
            if self._kind != "python"
        )
        each = self._expression("each", self._names(self._let_names, with_element=False))
        rule = Rule(
            id=id,
            kind=self._read_kind(names),
            triggers=self._triggers or (),
            level=level,  # type: ignore[arg-type]
            cls=cls,
            when=when,
            each=each,
            about=self._about(),
            after=self._second("after"),
            until=self._second("until"),
            since=self._second("since"),
            per=self._per(names),
            per_turn=self._is_per_turn(),
            in_a_row=self._in_a_row(),
            counting=self._counting(),  # type: ignore[arg-type]
            total=self._expression("sum", names),
            missing=missing,  # type: ignore[arg-type]
            judge=judge,  # type: ignore[arg-type]
            message=read_message(self._fields.get("message"), self._reading, names),
            pack=pack,
            spot=spot,
        )
        used = dict.fromkeys(name for expr in expressions_of(rule) for name in names_of(expr.node))
        lets = settle(self._lets, used, self._checked_lets, self._reading, self._names)
        rule = structs.replace(rule, let=lets)
        report_useless(rule, self._fields, self._report)
        return rule

    def _read_triggers(self, trigger: Node | None) -> tuple[Selector, ...] | None:
        """Return what the rule looks at; none after a mistake, so that no further one is blamed on it."""
        if self._kind == "never":
            node = self._fields.get("never")
            role = Role(key="never", more=self._let_names)
            return None if node is None else read_selectors(self._reading, node, role) or None
        if self._kind in ("python", "integrity"):
            return ()
        if trigger is None and self._kind == "scope" and self._fields.span is not None:
            return (Selector(what="call", text="call *", spot=self._fields.span.spot),)
        if trigger is None:
            help = f"`{self._kind}` is asked of the events that `for` selects"
            self._report.error("missing-key", "a rule lacks `for`", self._fields.key(self._kind), help)
            return None
        found = read_selectors(self._reading, trigger, Role(key="for", more=self._let_names))
        if self._kind == "scope" and any(selector.what != "call" for selector in found):
            self._report.error("key-not-for-kind", "`scope` is asked of calls", trigger.span, "write `for: call …`")
        return found or None

    def _read_element(self) -> tuple[str, ...]:
        if "each" in self._fields and "about" in self._fields and self._kind in keys.TAKES:
            sentence = "`each` and `about` both say what `it` is"
            self._report.error("key-not-for-kind", sentence, self._fields.key("about"), "leave one of them out")
        if "each" in self._fields:
            return ELEMENT
        return ("it",) if "about" in self._fields else ()

    def _names(self, lets: tuple[str, ...], with_element: bool = True) -> Names:
        """Return the names at the event of `for`, with those of some `let`."""
        more = (*lets, *self._element) if with_element else lets
        if self._triggers is None:
            return self._reading.names_anywhere(more)
        if self._kind in ("python", "integrity"):
            return self._reading.names_of_run()
        return self._reading.names_at(self._whats, more=more, tools=self._tools)

    def _expression(self, key: str, names: Names) -> Expr | None:
        node = self._fields.get(key)
        if node is None or key not in keys.TAKES[self._kind]:
            return None
        return self._reading.expression(node, names)

    def _takes(self, key: str) -> Node | None:
        """Return the value of a key that the kind takes."""
        return self._fields.get(key) if key in keys.TAKES[self._kind] else None

    def _second(self, key: str) -> tuple[Selector, ...]:
        """Return selectors of another event than that of `for`."""
        node = self._fields.get(key)
        if node is None or (key != self._kind and key not in keys.TAKES[self._kind]):
            return ()
        match = ("match",) if "claim" in self._whats else ()
        if self._triggers is None:
            # Nothing is known of the event of `for`: its names are let pass.
            return read_selectors(
                self._reading, node, Role(key=key, more=(*self._let_names, *ELEMENT, "match"), this=None)
            )
        role = Role(key=key, more=(*self._let_names, *self._element, *match), this=self._whats, this_tools=self._tools)
        return read_selectors(self._reading, node, role)

    def _read_kind(self, names: Names) -> Kind:
        return _READERS[self._kind](self, names)

    def _require(self, names: Names) -> Kind:
        node = self._fields.get("require")
        return Require(all=() if node is None else self._reading.expressions(node, names))

    def _integrity(self, _: Names) -> Kind:
        return Integrity()

    def _never(self, _: Names) -> Kind:
        return Never()

    def _needs(self, _: Names) -> Kind:
        return Needs(any=self._second("needs"))

    def _then(self, _: Names) -> Kind:
        return Then(any=self._second("then"), within=self._within())

    def _bound(self, names: Names) -> Expr:
        is_of_run = self._kind != "at_most" or self._counting() == "effects"
        node = self._fields.get(self._kind)
        if node is None:
            return _nothing(self._fields)
        return self._reading.expression(node, self._reading.names_of_run() if is_of_run else names) or _nothing(
            self._fields
        )

    def _python(self, _: Names) -> Kind:
        node = self._fields.get("python")
        text = "" if node is None else text_of(node, self._report, "`python`")
        if node is not None and text and not _FUNCTION.fullmatch(text):
            sentence = f"`{text}` names no function"
            self._report.error("value", sentence, node.span, "write `module:function`")
        return Python(function=text)

    def _scope(self, _: Names) -> Kind:
        return read_scope(self._fields.get("scope"), self._reading)

    def _within(self) -> Within | None:
        node = self._takes("within")
        if node is None:
            return None
        text = text_of(node, self._report, "`within`")
        found = _WITHIN.fullmatch(text.strip())
        if text.strip() == "run" or not text:
            return None
        if found is None or int(found[1]) == 0:
            help = "write `3 turns`, `20 events`, `60 seconds` or `run`"
            self._report.error("value", f"`{text}` is no distance", node.span, help)
            return None
        return Within(count=int(found[1]), unit=f"{found[2]}s")  # type: ignore[arg-type]

    def _about(self) -> str | None:
        node = self._takes("about")
        if node is None:
            return None
        name = text_of(node, self._report, "`about`")
        if self._triggers is not None and self._whats != ("claim",):
            sentence = "`about` goes with `for: claim …`: it takes the keys that the sentence mentions"
            self._report.error("key-not-for-kind", sentence, self._fields.key("about"))
        if name not in self._reading.facts:
            known = list(self._reading.facts)
            self._report.unknown("unknown-fact", f"`facts` has no `{name}`", node.span, name, known)
            return None
        self._reading.use("fact", name)
        if not self._reading.facts[name]:
            sentence = f"`{name}` is one value: it has no keys that a sentence could mention"
            self._report.error("unknown-fact", sentence, node.span, "give the fact a `key`")
        return name

    def _per_parts(self) -> tuple[Node, ...]:
        node = self._takes("per")
        if node is None:
            return ()
        if isinstance(node, Sequence) and not node.items:
            self._report.error("value", "`per` is an empty list", node.span)
        return node.items if isinstance(node, Sequence) else (node,)

    def _is_per_turn(self) -> bool:
        return any(isinstance(node, Scalar) and node.text == "turn" for node in self._per_parts())

    def _per(self, names: Names) -> tuple[Expr, ...]:
        parts = [node for node in self._per_parts() if not (isinstance(node, Scalar) and node.text == "turn")]
        found = [self._reading.expression(node, names) for node in parts]
        return tuple(expr for expr in found if expr is not None)

    def _in_a_row(self) -> bool:
        if self._takes("in_a_row") is None or not self._fields.flag("in_a_row"):
            return False
        if not self._per_parts():
            sentence = "`in_a_row` lacks `per`: which value stands in a row?"
            self._report.error("missing-key", sentence, self._fields.key("in_a_row"), "write `per: [tool, args]`")
        elif self._is_per_turn():
            sentence = "`per: turn` begins anew with each response, so nothing stands in a row"
            self._report.error("key-not-for-kind", sentence, self._fields.key("in_a_row"))
        return True

    def _counting(self) -> str:
        if self._takes("counting") is None:
            return "attempts"
        found = self._fields.choice("counting", keys.CHOICES["counting"], "attempts")
        if self._triggers is not None and any(what != "call" for what in self._whats):
            sentence = "`counting` is said of calls, and `for` selects something else"
            help = "leave it out: what `for` selects is counted"
            self._report.error("key-not-for-kind", sentence, self._fields.key("counting"), help)
        if found == "effects" and "sum" in self._fields:
            sentence = "`sum` does not go with `counting: effects`: there is no moment at which to read the bound"
            self._report.error("key-not-for-kind", sentence, self._fields.key("sum"), "write `counting: unless_failed`")
        return found


def _nothing(fields: Fields) -> Expr:
    """Return what stands for a broken expression; the contract is refused anyway."""
    return Expr(text="", node=Literal(0, 0), spot=fields.span.spot if fields.span else Spot(0, 1, 1))


_READERS: dict[str, Callable[[Body, Names], Kind]] = {
    "require": Body._require,
    "never": Body._never,
    "needs": Body._needs,
    "then": Body._then,
    "at_most": lambda body, names: AtMost(bound=body._bound(names)),
    "at_least": lambda body, names: AtLeast(bound=body._bound(names)),
    "exactly": lambda body, names: Exactly(bound=body._bound(names)),
    "scope": Body._scope,
    "python": Body._python,
    "integrity": Body._integrity,
}
