"""The body of one generated function: what an event does for each rule that looks at it, then for those who listen.

Rules that only read are proven together, so that what they read is looked up once. Only if not all of them hold is each
one proven by itself, and what still cannot be proven goes to the exact run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from outstep.contracts.kinds import AtLeast, AtMost, Needs, Never, Require, Then
from outstep.contracts.kinds.then import mentioned
from outstep.contracts.model import Rule, Tool
from outstep.contracts.selectors import Expr, Selector
from outstep.engine.bindings import Bindings
from outstep.engine.noticing import Noticing
from outstep.engine.plan import Listener
from outstep.engine.writing import Lines, conjoined, indented, proven

if TYPE_CHECKING:
    from outstep.engine.emit import Emitter

Looking = tuple[int, list[Selector]]
"""A rule, and its selectors that may pick the event."""


class Handler(Noticing):
    """The body of one function."""

    def __init__(
        self, emitter: Emitter, names: dict[str, str], view: str, tool: Tool | None, *, at: str, is_issued: bool
    ) -> None:
        names = {**names, "tool": repr(tool.name)} if tool is not None else names
        self._emitter = emitter
        self._view = view
        self._at = at
        self._is_issued = is_issued
        self._plan = emitter.compiled.plan
        self.bindings = Bindings(emitter.compiled, emitter.pool, names, is_issued=is_issued)
        self.lines: Lines = []

    def listen(self, listeners: Sequence[Listener]) -> None:
        """Write what the listeners do, in their order: rules first."""
        by_rule: dict[int, list[Selector]] = {}
        for listener in listeners:
            if listener.role == "for":
                by_rule.setdefault(listener.owner, []).append(listener.selector)
        body: Lines = []
        for group in self._groups(by_rule):
            body += self._together(group) if len(group) > 1 else self._trigger(*group[0])
        for listener in listeners:
            if listener.role != "for":
                body += self._notice(listener)
        self.lines = (["view = None"] if any("view" in line for line in body) else []) + body

    # -- rules -------------------------------------------------------------------------------------------------------

    def _groups(self, by_rule: dict[int, list[Selector]]) -> Iterator[list[Looking]]:
        """Yield the rules in their order, those together that can be proven together."""
        group: list[Looking] = []
        for index, selectors in by_rule.items():
            only_reads = self._only_reads(self._emitter.rules[index], selectors)
            if group and not only_reads:
                yield group
                group = []
            if only_reads:
                group.append((index, selectors))
            else:
                yield [(index, selectors)]
        if group:
            yield group

    def _only_reads(self, rule: Rule, selectors: list[Selector]) -> bool:
        """Return whether a rule judges the event whatever it is, and nothing but its count changes if it holds."""
        return (
            self._is_issued
            and _is_simple(rule)
            and rule.about is None
            and not rule.when
            and all(selector.where is None for selector in selectors)
            and (isinstance(rule.kind, Require) or (isinstance(rule.kind, Needs) and not rule.since))
        )

    def _together(self, group: list[Looking]) -> Lines:
        rules = [self._emitter.rules[index] for index, _ in group]
        tests: list[str] = []
        with self.bindings.sharing() as shared:
            for (index, _), rule in zip(group, rules, strict=True):
                self.bindings.let = dict(rule.let)
                tests += self._tests(index, rule)
        apart = [line for index, selectors in group for line in self._trigger(index, selectors)]
        return [
            f"# {', '.join(rule.id for rule in rules)}",
            "try:",
            *indented([f"{name} = {code}" for code, name in shared.items()]),
            *indented(conjoined("ok = ", tests)),
            "except Exception:",
            "    ok = False",
            "if ok:",
            *indented([f"tallies[{3 * index}] += 1" for index, _ in group]),
            "else:",
            *indented(apart),
        ]

    def _tests(self, index: int, rule: Rule) -> list[str]:
        """Return code for what must all be true; false or raising says nothing."""
        if isinstance(rule.kind, Require):
            return [self.bindings.proof(expr) for expr in rule.kind.all]
        assert isinstance(rule.kind, Needs)
        found = [
            f"known(tables[{self._plan.tables['kind', index, slot]}].cells, "
            f"{self._key(self._join('kind', index, slot).this)}, {self._epoch()})"
            for slot, _ in enumerate(rule.kind.any)
        ]
        return [" or ".join(found) if len(found) == 1 else f"({' or '.join(found)})"]

    def _trigger(self, index: int, selectors: list[Selector]) -> Lines:
        rule = self._emitter.rules[index]
        slow = [self._make_view(), f"trigger(run, {index}, {self._emitter.pool.ref(tuple(selectors))}, view)"]
        outcomes = [selector.outcome for selector in selectors]
        lines = [f"# {rule.id}"]
        body = slow
        if _is_simple(rule) and rule.about is None:
            body = self._judge(index, rule, selectors, slow)
        if None not in outcomes and not self._is_issued:
            wanted = ", ".join(repr(outcome) for outcome in dict.fromkeys(outcomes))
            return [*lines, f"if outcome in ({wanted},):", *indented(body)]
        return lines + body

    def claim(self, listener: Listener) -> None:
        """Write what one claim of a message does for a rule."""
        index = listener.owner
        rule = self._emitter.rules[index]
        selector = listener.selector
        slow = [
            self._make_view(),
            f"trigger_claim(run, {index}, {self._emitter.pool.ref(selector)}, view, claim)",
        ]
        if not _is_simple(rule) or not isinstance(rule.kind, Require):
            self.lines = [f"# {rule.id}", *slow]
            return
        if rule.about is None:
            self.lines = [f"# {rule.id}", *self._judge(index, rule, [selector], slow)]
            return
        self.bindings.let = dict(rule.let)
        fact = self._plan.facts[rule.about]
        tests = [self.bindings.proof(expr) for expr in rule.kind.all]
        conditions = self._conditions(rule, [selector])
        self.lines = [
            f"# {rule.id}",
            "try:",
            f"    about = mentioned_keys(run, {fact}, claim.sentence, tables[{fact}].cells, epoch)",
            f"    ok = all({' and '.join(tests)} for it in about)" + (f" and {conditions}" if conditions else ""),
            "except Exception:",
            "    ok = False",
            "if ok:",
            f"    tallies[{3 * index}] += len(about)",
            "else:",
            *indented(slow),
        ]

    def _judge(self, index: int, rule: Rule, selectors: list[Selector], slow: Lines) -> Lines:
        self.bindings.let = dict(rule.let)
        proof = self._proof(index, rule, slow)
        if proof is None:
            return slow
        conditions = self._conditions(rule, selectors)
        if not conditions:
            return proof
        return [
            "try:",
            f"    applies = {conditions}",
            "except Exception:",
            "    applies = None",
            "if applies:",
            *indented(proof),
            "elif applies is None:",
            *indented(slow),
        ]

    def _conditions(self, rule: Rule, selectors: list[Selector]) -> str:
        wheres = [selector.where for selector in selectors]
        outcomes = {selector.outcome for selector in selectors}
        tests: list[str] = []
        if len(selectors) == 1 or (None not in wheres and len(outcomes) == 1):
            parts = [self.bindings.truth(where, "null") for where in wheres if where is not None]
            if parts:
                tests.append(f"({' or '.join(parts)})")
        elif any(where is not None for where in wheres):
            tests.append("give_up()")
        tests += [self.bindings.truth(expr, "null") for expr in rule.when]
        return " and ".join(tests)

    def _proof(self, index: int, rule: Rule, slow: Lines) -> Lines | None:
        kind = rule.kind
        if isinstance(kind, Require) or (isinstance(kind, Needs) and not rule.since):
            return proven(" and ".join(self._tests(index, rule)), [f"tallies[{3 * index}] += 1"], slow)
        if isinstance(kind, AtMost) and rule.counting != "effects":
            return self._at_most(index, rule, kind, slow)
        if isinstance(kind, AtLeast):
            return self._attempt_values(rule, f"run.monitors[{index}].lower.count(key, amount)", slow)
        if isinstance(kind, Then) and len(kind.any) == 1:
            return self._then(index, kind, slow)
        return slow if isinstance(kind, Never) else None

    def _at_most(self, index: int, rule: Rule, kind: AtMost, slow: Lines) -> Lines:
        lines = self._attempt_values(
            rule, f"held = run.monitors[{index}].upper.count(e.seq, key, amount, bound, lane)", slow, kind.bound
        )
        over = [self._make_view(), f"run.monitors[{index}].upper.over(view, key, bound)"]
        return [
            *lines[:-1],
            lines[-1],
            "    if held is False:",
            *indented(indented(over)),
            "    elif held is None:",
            *indented(indented(slow)),
        ]

    def _attempt_values(self, rule: Rule, then: str, slow: Lines, bound: Expr | None = None) -> Lines:
        values = [f"    key = {self._key(rule.per)}"]
        if len(rule.per) == 1:
            values = [f"    key = {self.bindings.value(rule.per[0])}"]
            values.append("    key = (key if type(key) is str else key_of(key),)")
        values.append(f"    amount = {self.bindings.value(rule.total) if rule.total is not None else '1'}")
        if bound is not None:
            values.append(f"    bound = {self.bindings.value(bound)}")
        return ["try:", *values, "except Exception:", *indented(slow), "else:", f"    {then}"]

    def _then(self, index: int, kind: Then, slow: Lines) -> Lines:
        join = self._join("kind", index, 0)
        value = mentioned(join.rest)
        if kind.any[0].what == "its result" and kind.within is None and self._view.startswith("call"):
            return [f"run.monitors[{index}].asked.add(e.seq)"] if kind.any[0].where is None else slow
        if kind.within is not None or kind.any[0].what in {"its result", "final message"} or (join.rest and not value):
            return slow
        if value is not None and kind.any[0].what not in {"message", "user message"}:
            return slow
        if value is not None and not join.this:
            values = [f"    value = {self.bindings.value(value)}"]
            wait = [f"run.monitors[{index}].wait_for_text(e.seq, value, {self._recipe})"]
            if self._is_issued:
                # What its decision held must be kept as it is now.
                wait = [self._make_view(), f"run.monitors[{index}].wait_for_text(e.seq, value, same, view)"]
            return ["try:", *values, "except Exception:", *indented(slow), "else:", *indented(wait)]
        values = [f"    key = {self._key(join.this)}"]
        values.append(f"    value = {self.bindings.value(value) if value is not None else 'None'}")
        return [
            "try:",
            *values,
            "except Exception:",
            *indented(slow),
            "else:",
            f"    {self._make_view()}",
            f"    run.monitors[{index}].wait(view, key, value)",
        ]


def _is_simple(rule: Rule) -> bool:
    return not (
        rule.after or rule.until or rule.each is not None or rule.in_a_row or rule.per_turn
        or (rule.since and not isinstance(rule.kind, Needs))
    )  # fmt: skip
