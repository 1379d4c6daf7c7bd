"""The generated functions of a contract: one for the calls of each tool, one for its results, one for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import AtLeast, AtMost, Needs, Never, Require, Then
from outstep.contracts.kinds.then import mentioned
from outstep.contracts.model import Rule, Tool
from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Expr, Selector
from outstep.engine.bindings import CALL, CLAIM, MESSAGE, RESULT, Bindings
from outstep.engine.facts import default_name
from outstep.engine.outcomes import has_keys
from outstep.engine.plan import Join, Listener
from outstep.expr.compile import Constants

if TYPE_CHECKING:
    from outstep.engine.monitor import Compiled

Lines = list[str]


class Emitter:
    """Writes the handlers of one contract."""

    def __init__(self, compiled: Compiled, pool: Constants) -> None:
        self._compiled = compiled
        self._plan = compiled.plan
        self._rules = compiled.contract.rules
        self._pool = pool

    def call_handler(self, number: int, tool: Tool) -> str:
        """Return the function for the calls of a tool, or an empty text when nobody looks at them."""
        listeners = self._listeners("tool.call", tool)
        if not listeners and tool.args is None:
            return ""
        body = _Handler(self, CALL, "call_view(e, lane, run)", tool, at="lane.start", is_issued=True)
        body.listen(listeners)
        schema: Lines = []
        if tool.args is not None:
            name = self._pool.ref(tool.args)
            body.bindings.used.add("args")
            schema = [f"if not proves_fit({name}, args):", "    run.check_call(e)"]
        return _function(
            f"call_{number}(e, lane, run)",
            f"A call of `{tool.name}`.",
            [*self._arguments(tool, body, "e", "undeclared_call(e, lane, run)"), *schema, *body.lines],
        )

    def result_handler(self, number: int, tool: Tool) -> str:
        """Return the function for the results of a tool, or an empty text when nobody looks at them."""
        listeners = self._listeners("tool.result", tool)
        counted = [
            index
            for index, rule in enumerate(self._rules)
            if rule.counting != "attempts" and self._may_count(rule, tool)
        ]
        if not listeners and not counted:
            return ""
        body = _Handler(self, RESULT, "result_view(e, call, outcome, lane, run)", tool, at="e.seq", is_issued=False)
        outcome = self._outcome(tool, body)
        body.listen(listeners)
        for index in counted:
            body.lines.append(f"run.monitors[{index}].upper.answer(call.event.seq, outcome, lane)")
        slow = "undeclared_result(e, call, lane, run)"
        data: Lines = []
        if "data" in body.bindings.used:
            data = _attempt(["data = decode(e.data) if len(e.data) else run.data(e, call)"], slow)
        return _function(
            f"result_{number}(e, call, lane, run)",
            f"A result of `{tool.name}`.",
            [*self._arguments(tool, body, "call.event", slow), *data, *outcome, *body.lines],
        )

    def message_handler(self) -> str:
        """Return the function for the agent's messages, or an empty text when nobody looks at them."""
        listeners = self._message_listeners()
        claims = [listener for listener in listeners if _is_claim(listener)]
        body = _Handler(self, MESSAGE, "message_view(e, lane, run)", None, at="lane.start", is_issued=True)
        body.listen([listener for listener in listeners if listener not in claims])
        lines = [*self._claims(claims), *body.lines]
        if self._plan.reads_response:
            lines.append('lane.said = f"{lane.said}\\n{e.text}" if lane.said else e.text')
        return _function("message(e, lane, run, claims)", "A message of the agent.", lines) if lines else ""

    def message_guard(self) -> tuple[str, ...] | None:
        """Return when a message matters: it claims something, or one of these rules waits for it; none is always."""
        listeners = self._message_listeners()
        waiting: dict[str, None] = {}
        for listener in listeners:
            if _is_claim(listener):
                waiting["claims"] = None
            elif listener.role == "kind" and isinstance(self._rules[listener.owner].kind, Then):
                waiting[f"wait{listener.owner}.texts or wait{listener.owner}.waiting"] = None
            else:
                return None
        return None if self._plan.reads_response else tuple(waiting)

    def _message_listeners(self) -> list[Listener]:
        return [
            listener
            for listener in self._plan.listeners.get("assistant.message", ())
            if listener.selector.what != "final message" and _may_act(listener.selector)
        ]

    def _claims(self, listeners: Sequence[Listener]) -> Lines:
        if not listeners:
            return []
        lines = ["for claim in claims:"]
        for listener in listeners:
            body = _Handler(self, CLAIM, "message_view(e, lane, run)", None, at="lane.start", is_issued=True)
            body.claim(listener)
            names = listener.selector.names
            if names:
                lines.append(f"    if claim.name in {self._pool.ref(frozenset(self._claim_names(names)))}:")
                lines += [f"        {line}" for line in body.lines]
            else:
                lines += [f"    {line}" for line in body.lines]
        return ["view = None", *lines]

    def _claim_names(self, names: Sequence[str]) -> list[str]:
        return [
            claim.name for claim in self._compiled.contract.claims if any(glob_fits(name, claim.name) for name in names)
        ]

    def _listeners(self, event_type: str, tool: Tool) -> list[Listener]:
        return [
            listener
            for listener in self._plan.listeners.get(event_type, ())
            if _may_act(listener.selector) and self._names(listener.selector, tool)
        ]

    def _names(self, selector: Selector, tool: Tool) -> bool:
        return not selector.names or self._compiled.names.matches(selector.names, tool.name, tool.name)

    def _may_count(self, rule: Rule, tool: Tool) -> bool:
        return any(selector.what == "call" and self._names(selector, tool) for selector in rule.triggers)

    def _arguments(self, tool: Tool, body: _Handler, event: str, slow: str) -> Lines:
        if "args" not in body.bindings.used:
            return []
        read = f"decode({event}.args)"
        if tool.args is not None and _has_defaults(tool.args):
            read = f"with_defaults({self._pool.ref(tool.args)}, {read})"
        return _attempt([f"args = {read}"], slow)

    def _outcome(self, tool: Tool, body: _Handler) -> Lines:
        if not has_keys(tool):
            return ['outcome = e.outcome if e.outcome != "unrecorded" else "unknown"']
        keys = [key for key in (tool.denied_when, tool.unknown_when, tool.fails_when) if key is not None]
        tests = [f"not {body.bindings.truth(key, 'null')}" for key in keys]
        if tool.succeeds_when is not None:
            tests.append(body.bindings.truth(tool.succeeds_when, "null"))
        return [
            "try:",
            f'    outcome = "ok" if e.outcome == "ok" and {" and ".join(tests)} else run.outcome(e, call)',
            "except Exception:",
            "    outcome = run.outcome(e, call)",
        ]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the contract."""
        return self._rules

    @property
    def pool(self) -> Constants:
        """The constants of the generated module."""
        return self._pool

    @property
    def compiled(self) -> Compiled:
        """The contract made ready."""
        return self._compiled


class _Handler:
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
        for index, selectors in by_rule.items():
            body += self._trigger(index, selectors)
        for listener in listeners:
            if listener.role != "for":
                body += self._notice(listener)
        self.lines = (["view = None"] if any("view" in line for line in body) else []) + body

    # -- rules -------------------------------------------------------------------------------------------------------

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
            return [*lines, f"if outcome in ({wanted},):", *_indented(body)]
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
        tests = [self.bindings.truth(expr, "missing") for expr in rule.kind.all]
        conditions = self._conditions(rule, [selector])
        self.lines = [
            f"# {rule.id}",
            "try:",
            f"    about = mentioned_keys(run, {fact}, claim.sentence, lane.tables[{fact}].cells, lane.epoch)",
            f"    ok = all({' and '.join(tests)} for it in about)" + (f" and {conditions}" if conditions else ""),
            "except Exception:",
            "    ok = False",
            "if ok:",
            f"    run.tallies[{3 * index}] += len(about)",
            "else:",
            *_indented(slow),
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
            *_indented(proof),
            "elif applies is None:",
            *_indented(slow),
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
        holds = f"run.tallies[{3 * index}] += 1"
        if isinstance(kind, Require):
            test = " and ".join(self.bindings.truth(expr, "missing") for expr in kind.all)
            return _proven(test, holds, slow)
        if isinstance(kind, Needs) and not rule.since:
            tests = [
                f"known(lane.tables[{self._plan.tables['kind', index, slot]}].cells, "
                f"{self._key(self._join('kind', index, slot).this)}, {self._epoch()})"
                for slot, _ in enumerate(kind.any)
            ]
            return _proven(" or ".join(tests), holds, slow)
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
            *_indented(_indented(over)),
            "    elif held is None:",
            *_indented(_indented(slow)),
        ]

    def _attempt_values(self, rule: Rule, then: str, slow: Lines, bound: Expr | None = None) -> Lines:
        values = [f"    key = {self._key(rule.per)}"]
        if len(rule.per) == 1:
            values = [f"    key = {self.bindings.value(rule.per[0])}"]
            values.append("    key = (key if type(key) is str else key_of(key),)")
        values.append(f"    amount = {self.bindings.value(rule.total) if rule.total is not None else '1'}")
        if bound is not None:
            values.append(f"    bound = {self.bindings.value(bound)}")
        return ["try:", *values, "except Exception:", *_indented(slow), "else:", f"    {then}"]

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
            make = f"lambda: {self._view}"
            if self._is_issued:
                make = f"lambda view={self._view}: view"
            wait = f"run.monitors[{index}].wait_for_text(e.seq, value, {make})"
            values = [f"    value = {self.bindings.value(value)}"]
            return ["try:", *values, "except Exception:", *_indented(slow), "else:", f"    {wait}"]
        values = [f"    key = {self._key(join.this)}"]
        values.append(f"    value = {self.bindings.value(value) if value is not None else 'None'}")
        wait = f"run.monitors[{index}].wait(view, key, value)"
        return [
            "try:",
            *values,
            "except Exception:",
            *_indented(slow),
            "else:",
            f"    {self._make_view()}",
            f"    {wait}",
        ]

    # -- others who listen -------------------------------------------------------------------------------------------

    def _notice(self, listener: Listener) -> Lines:
        slow = [self._make_view(), f"run.notice({self._emitter.pool.ref(listener)}, view)"]
        self.bindings.let = {}
        if listener.role == "fact":
            body = self._fact(listener, slow)
        elif listener.role == "kind" and isinstance(self._emitter.rules[listener.owner].kind, Needs):
            body = self._evidence(listener, slow)
        elif listener.role == "kind":
            body = self._answer(listener, slow)
        else:
            body = slow
        outcome = listener.selector.outcome
        if outcome is not None and not self._is_issued and listener.selector.what != "its result":
            lines = [f"if outcome == {outcome!r}:", *_indented(body)]
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
        write = [f"lane.tables[{listener.owner}].write(lane.epoch, key, value, e.seq)"]
        if fact.keep == "last":
            write = [
                f"cells = lane.tables[{listener.owner}].cells",
                "cell = cells.get(key)",
                "if cell is None:",
                "    cells[key] = (lane.epoch, value, e.seq, ABSENT, -1)",
                "else:",
                "    cells[key] = written(cell, lane.epoch, value, e.seq)",
            ]
        if listener.owner in self._plan.about:
            write.append(f"run.key_index[{listener.owner}].add(from_key(key), key)")
        pair = f"key, value = {key}, {value}"
        if test:
            pair = f"key, value = ({key}, {value}) if match else (None, None)"
        body = [*(["if match:"] if test else []), *(_indented(write) if test else write)]
        return [
            f"# fact {fact.name}",
            "try:",
            *test,
            f"    {pair}",
            *(["    if type(key) is not str:", "        key = key_of(key)"] if source.key is not None else []),
            "except Exception:",
            *_indented(slow),
            "else:",
            *_indented(body),
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
        write = f"note(lane.tables[{table}], lane.epoch, key, {place}, e.seq)"
        key = self._key(join.picked)
        return [
            f"# {rule.id}: evidence",
            "try:",
            f"    key = {key} if {' and '.join(tests)} else None" if tests else f"    key = {key}",
            "except Exception:",
            *_indented(slow),
            "else:",
            *_indented(["if key is not None:", f"    {write}"] if tests else [write]),
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
                f"    run.tallies[{3 * index}] += 1",
                "else:",
                f"    {monitor}.answer_call(call, lambda: {self._view})",
            ]
        if selector.what == "its result":
            return [f"# {rule.id}: answer", f"if call.event.seq in {monitor}.by_call:", *_indented(slow)]
        join = self._join("kind", index, slot)
        guard = [f"# {rule.id}: answer", f"if {monitor}.waiting or {monitor}.texts:"]
        value = mentioned(join.rest)
        is_mention = value is not None and selector.what in {"message", "user message"}
        if selector.what == "claim" or kind.within is not None or (join.rest and not is_mention):
            return [*guard, *_indented(slow)]
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
            *_indented(_indented(slow)),
            "    else:",
            *_indented(_indented(["if key is not None:", f"    {monitor}.answer({slot}, key, {self._at}, {text})"])),
        ]

    # -- parts -------------------------------------------------------------------------------------------------------

    def _key(self, exprs: Sequence[Expr]) -> str:
        if not exprs:
            return "()"
        return "(" + "".join(f"as_key({self.bindings.value(expr)}), " for expr in exprs) + ")"

    def _join(self, role: Any, index: int, slot: int) -> Join:
        return self._plan.joins[role, index, slot]

    def _epoch(self) -> str:
        return "lane.epoch" if self._is_issued else "NEWEST"

    def _make_view(self) -> str:
        return f"view = view or {self._view}"


def _proven(test: str, holds: str, slow: Lines) -> Lines:
    return [
        "try:",
        f"    ok = {test}",
        "except Exception:",
        "    ok = False",
        "if ok:",
        f"    {holds}",
        "else:",
        *_indented(slow),
    ]


def _attempt(lines: Lines, slow: str) -> Lines:
    return ["try:", *_indented(lines), "except Exception:", f"    {slow}", "    return"]


def _indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def _function(head: str, promise: str, lines: Lines) -> str:
    promise = promise.replace("\\", "").replace('"', "")
    return "\n".join([f"def {head}:", f'    """{promise}"""', *_indented(lines or ["return"])])


def _is_simple(rule: Rule) -> bool:
    return not (
        rule.after or rule.until or rule.each is not None or rule.in_a_row or rule.per_turn
        or (rule.since and not isinstance(rule.kind, Needs))
    )  # fmt: skip


def _is_claim(listener: Listener) -> bool:
    return listener.role == "for" and listener.selector.what == "claim"


def _may_act(selector: Selector) -> bool:
    """Return whether a selector can pick what the model itself did in `main`."""
    by = selector.by
    return by in {None, "main", "any"} or (by not in {"user", "harness"} and glob_fits(by or "", "main"))


def _has_defaults(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    members = schema.get("properties")
    return isinstance(members, dict) and any(
        isinstance(member, dict) and ("default" in member or _has_defaults(member)) for member in members.values()
    )
