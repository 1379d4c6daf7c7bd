"""The generated functions of a contract: one for the calls of each tool, one for its results, one for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import Then
from outstep.contracts.model import Rule, Tool
from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Selector
from outstep.engine.bindings import CALL, CLAIM, MESSAGE, RESULT
from outstep.engine.handler import Handler
from outstep.engine.outcomes import has_keys
from outstep.engine.plan import Listener
from outstep.engine.writing import Lines, attempted, function
from outstep.expr.compile import Constants

if TYPE_CHECKING:
    from outstep.engine.monitor import Compiled


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
        body = Handler(self, CALL, "call_view(e, lane, run)", tool, at="lane.start", is_issued=True)
        body.listen(listeners)
        schema: Lines = []
        if tool.args is not None:
            name = self._pool.ref(tool.args)
            body.bindings.used.add("args")
            schema = [f"if not proves_fit({name}, args):", "    run.check_call(e)"]
        return function(
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
        body = Handler(self, RESULT, "result_view(e, call, outcome, lane, run)", tool, at="e.seq", is_issued=False)
        outcome = self._outcome(tool, body)
        body.listen(listeners)
        for index in counted:
            body.lines.append(f"run.monitors[{index}].upper.answer(call.event.seq, outcome, lane)")
        slow = "undeclared_result(e, call, lane, run)"
        data: Lines = []
        if "data" in body.bindings.used:
            data = attempted(["data = decode(e.data) if len(e.data) else run.data(e, call)"], slow)
        return function(
            f"result_{number}(e, call, lane, run)",
            f"A result of `{tool.name}`.",
            [*self._arguments(tool, body, "call.event", slow), *data, *outcome, *body.lines],
        )

    def message_handler(self) -> str:
        """Return the function for the agent's messages, or an empty text when nobody looks at them."""
        listeners = self._message_listeners()
        claims = [listener for listener in listeners if _is_claim(listener)]
        body = Handler(self, MESSAGE, "message_view(e, lane, run)", None, at="lane.start", is_issued=True)
        body.listen([listener for listener in listeners if listener not in claims])
        lines = [*self._claims(claims), *body.lines]
        if self._plan.reads_response:
            lines.append('lane.said = f"{lane.said}\\n{e.text}" if lane.said else e.text')
        return function("message(e, lane, run, claims)", "A message of the agent.", lines) if lines else ""

    def message_guard(self) -> tuple[str, ...] | None:
        """Return when a message matters: it claims something, or one of these rules waits for it; none is always."""
        listeners = self._message_listeners()
        waiting: dict[str, None] = {}
        for listener in listeners:
            if _is_claim(listener):
                waiting["claims"] = None
            elif listener.role == "kind" and isinstance(self._rules[listener.owner].kind, Then):
                waiting[f"texts{listener.owner} or waiting{listener.owner}"] = None
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
            body = Handler(self, CLAIM, "message_view(e, lane, run)", None, at="lane.start", is_issued=True)
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

    def _arguments(self, tool: Tool, body: Handler, event: str, slow: str) -> Lines:
        if "args" not in body.bindings.used:
            return []
        read = f"decode({event}.args)"
        if tool.args is not None and _has_defaults(tool.args):
            read = f"with_defaults({self._pool.ref(tool.args)}, {read})"
        return attempted([f"args = {read}"], slow)

    def _outcome(self, tool: Tool, body: Handler) -> Lines:
        if not has_keys(tool):
            return [
                'outcome = e.outcome if e.outcome != "unrecorded" else run.without_outcome(call.event.tool)',
            ]
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
