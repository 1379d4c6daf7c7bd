"""Generated code for those who listen to an event: facts that remember it, and rules that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import Needs, Then
from outstep.contracts.kinds.then import mentioned
from outstep.contracts.selectors import Expr
from outstep.engine.bindings import Bindings
from outstep.engine.facts import default_name
from outstep.engine.plan import Join, Listener, Plan
from outstep.engine.writing import Lines, indented

if TYPE_CHECKING:
    from outstep.engine.emit import Emitter


class Noticing:
    """The part of a function's body that notes an event."""

    _emitter: Emitter
    _plan: Plan
    _view: str
    """Code that makes the view of the event."""
    _at: str
    _is_issued: bool
    bindings: Bindings

    def _notice(self, listener: Listener) -> Lines:
        slow = [self._make_view(), f"run.notice({self._emitter.pool.ref(listener)}, view)"]
        self.bindings.let = {}
        if listener.role == "fact":
            body = self._fact(listener, slow)
        elif listener.role == "kind" and isinstance(self._emitter.rules[listener.owner].kind, Needs):
            body = self._evidence(listener, slow)
        elif listener.role == "kind" and isinstance(self._emitter.rules[listener.owner].kind, Then):
            body = self._answer(listener, slow)
        else:
            body = slow
        outcome = listener.selector.outcome
        if outcome is not None and not self._is_issued and listener.selector.what != "its result":
            lines = [f"if outcome == {outcome!r}:", *indented(body)]
            if listener.role == "kind" and isinstance(self._emitter.rules[listener.owner].kind, Needs):
                lines += ["else:", f"    run.monitors[{listener.owner}].near = e.seq"]
            return lines
        return body

    def _fact(self, listener: Listener, slow: Lines) -> Lines:
        fact = self._emitter.compiled.contract.facts[listener.owner]
        source = self._plan.source(listener)
        if source.each is not None or fact.keep == "all" or fact.forget or self._plan.world[listener.owner]:
            return slow
        where = listener.selector.where
        key = self.bindings.value(source.key) if source.key is not None else "()"
        name = default_name(listener.selector.what)
        value = self.bindings.value(source.value) if source.value is not None else self._default(name)
        test = [f"    match = {self.bindings.truth(where, 'missing')}"] if where is not None else []
        write = [f"tables[{listener.owner}].write(epoch, key, value, e.seq)"]
        if fact.keep == "last":
            write = [
                f"cells = tables[{listener.owner}].cells",
                "cell = cells.get(key)",
                "if cell is None:",
                "    cells[key] = (epoch, value, e.seq, ABSENT, -1)",
                "else:",
                "    cells[key] = written(cell, epoch, value, e.seq)",
            ]
        if listener.owner in self._plan.about:
            write.append(f"run.key_index[{listener.owner}].add(from_key(key), key)")
        pair = f"key, value = {key}, {value}"
        if test:
            pair = f"key, value = ({key}, {value}) if match else (None, None)"
        body = [*(["if match:"] if test else []), *(indented(write) if test else write)]
        return [
            f"# fact {fact.name}",
            "try:",
            *test,
            f"    {pair}",
            *(["    if type(key) is not str:", "        key = key_of(key)"] if source.key is not None else []),
            "except Exception:",
            *indented(slow),
            "else:",
            *indented(body),
        ]

    def _default(self, name: str) -> str:
        self.bindings.used.add(name)
        return {"data": "data", "args": "args", "text": "e.text"}[name]

    def _evidence(self, listener: Listener, slow: Lines) -> Lines:
        rule = self._emitter.rules[listener.owner]
        if listener.selector.what == "claim":
            return slow
        table = self._plan.tables["kind", listener.owner, listener.slot]
        join = self._join("kind", listener.owner, listener.slot)
        tests = [self.bindings.truth(expr, "missing") for expr in join.filter]
        place = "e.seq" if self._is_issued or "call" not in self._view.split("(")[1] else "call.start"
        write = f"note(tables[{table}], epoch, key, {place}, e.seq)"
        key = self._key(join.picked)
        return [
            f"# {rule.id}: evidence",
            "try:",
            f"    key = {key} if {' and '.join(tests)} else None" if tests else f"    key = {key}",
            "except Exception:",
            *indented(slow),
            "else:",
            *indented(["if key is not None:", f"    {write}"] if tests else [write]),
        ]

    def _answer(self, listener: Listener, slow: Lines) -> Lines:
        index, slot = listener.owner, listener.slot
        rule = self._emitter.rules[index]
        kind = rule.kind
        assert isinstance(kind, Then)
        monitor = f"run.monitors[{index}]"
        selector = kind.any[slot]
        if selector.what == "its result" and selector.where is None and len(kind.any) == 1 and kind.within is None:
            wanted = f'outcome == "{selector.outcome}"' if selector.outcome is not None else "True"
            return [
                f"# {rule.id}: answer",
                f"asked = {monitor}.asked",
                f"if call.event.seq in asked and {wanted}:",
                "    asked.discard(call.event.seq)",
                f"    tallies[{3 * index}] += 1",
                "else:",
                f"    {monitor}.answer_call(call, {self._recipe})",
            ]
        if selector.what == "its result":
            return [f"# {rule.id}: answer", f"if call.event.seq in {monitor}.by_call:", *indented(slow)]
        join = self._join("kind", index, slot)
        guard = [f"# {rule.id}: answer", f"if {monitor}.waiting or {monitor}.texts:"]
        value = mentioned(join.rest)
        is_mention = value is not None and selector.what in {"message", "user message"}
        if selector.what == "claim" or kind.within is not None or (join.rest and not is_mention):
            return [*guard, *indented(slow)]
        tests = [self.bindings.truth(expr, "missing") for expr in join.filter]
        key = self._key(join.picked)
        if is_mention and not join.picked and not tests and len(kind.any) == 1:
            return [*guard, f"    {monitor}.answer_text(e.text, {self._at})"]
        text = "e.text" if is_mention else "None"
        return [
            *guard,
            "    try:",
            f"        key = {key} if {' and '.join(tests)} else None" if tests else f"        key = {key}",
            "    except Exception:",
            *indented(indented(slow)),
            "    else:",
            *indented(indented(["if key is not None:", f"    {monitor}.answer({slot}, key, {self._at}, {text})"])),
        ]

    # -- parts -------------------------------------------------------------------------------------------------------

    def _key(self, exprs: Sequence[Expr]) -> str:
        if not exprs:
            return "()"
        return "(" + "".join(f"as_key({self.bindings.value(expr)}), " for expr in exprs) + ")"

    def _join(self, role: Any, index: int, slot: int) -> Join:
        return self._plan.joins[role, index, slot]

    def _epoch(self) -> str:
        return "epoch" if self._is_issued else "NEWEST"

    def _make_view(self) -> str:
        return f"view = view or {self._view}"

    @property
    def _recipe(self) -> str:
        """Code of what makes the view later, and of what it is made from."""
        return self._view.replace("(", ", ", 1)[:-1]
