"""What a run keeps does not grow with the trace, only with what is live (SEMANTICS section 8, *State bound*)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct

from outstep.codec import raw
from outstep.contracts.loader import load_contract
from outstep.engine import Compiled, Monitor
from outstep.engine.run import Run
from outstep.events import AssistantMessage, Decision, Event, Header, ToolCall, ToolResult, UserMessage

KEYS = 5
"""Orders that the trace speaks of, over and over."""

HEAD = """outstep: contract/v1
tools: {look: {effect: read}, pay: {effect: write}}
facts:
  order: {from: ok result look, key: data.id}
  first: {from: ok result look, key: data.id, value: data.sum, keep: first}
  gone: {from: ok result look, key: data.id, value: "true", forget: user message}
claims: {paid: [paid]}
rules:
"""

RULES = {
    "require": "{for: call pay, require: 'args.id in order && first[args.id] == 1'}",
    "about": "{for: claim paid, about: order, require: it in order}",
    "never": "{never: call pay where args.id > 100}",
    "never-window": "{never: call pay where args.id > 100, after: user message, until: message}",
    "needs": "{for: call pay, needs: ok result look where data.id == this.args.id}",
    "needs-since": "{for: call pay, needs: ok result look where data.id == this.args.id, since: user message}",
    "then": "{for: ok result pay, then: message}",
    "then-joined": "{for: ok result look, then: ok result pay where args.id == this.data.id}",
    "then-mentions": "{for: ok result pay, then: 'message where mentions(text, this.args.id)'}",
    "then-its-result": "{for: call pay, then: ok its result}",
    "then-within": "{for: ok result pay, then: message, within: 3 turns}",
    "at-most": "{for: call pay, at_most: 1000000}",
    "at-most-per": "{for: call pay, at_most: 1000000, per: args.id}",
    "at-most-sum": "{for: call pay, sum: args.id, at_most: 100000000, per: args.id}",
    "at-most-row": "{for: call *, at_most: 3, per: [tool, args], in_a_row: true}",
    "at-most-unless-failed": "{for: call pay, at_most: 1000000, per: args.id, counting: unless_failed}",
    "at-most-effects": "{for: call pay, at_most: 1000000, per: args.id, counting: effects}",
    "at-most-turn": "{for: call *, at_most: 3, per: turn}",
    "at-most-since": "{for: call pay, at_most: 10, since: user message}",
    "at-most-window": "{for: call pay, at_most: 10, after: user message, until: message}",
    "at-least": "{for: call pay, at_least: 2}",
    "at-least-per": "{for: call pay, at_least: 2, per: args.id}",
    "at-least-since": "{for: call pay, at_least: 1, since: user message}",
    "at-least-window": "{for: call pay, at_least: 0 + 1, after: user message, until: message}",
    "exactly": "{for: call pay, exactly: 1000000}",
    "exactly-since": "{for: call pay, exactly: 1, since: user message}",
    "final": "{for: final message, require: 'text.contains(\"paid\")'}",
    "end": "{for: end, require: size(order) == 5}",
    "budget": "{for: decision, sum: usage.output_tokens, at_most: 100000000}",
}


def events(count: int, *, has_turns: bool) -> Iterator[Event]:
    """Yield a long trace: again and again a question, a look, a payment (every seventh one fails) and an answer."""
    seq = turn = 0
    while seq < count:
        key = (turn // 3) % KEYS
        number = turn // 3
        yield UserMessage(seq=seq, text=f"order {key}, please")
        yield from _call(seq + 1, turn if has_turns else None, "look", key, f"l{number}")
        yield from _call(seq + 3, turn + 1 if has_turns else None, "pay", key, f"p{number}")
        yield Decision(seq=seq + 5, turn=turn + 2 if has_turns else None, usage={"output_tokens": 10})
        yield AssistantMessage(seq=seq + 6, turn=turn + 2 if has_turns else None, text=f"Order {key} is paid.")
        seq += 7
        turn += 3


def _call(seq: int, turn: int | None, tool: str, key: int, call_id: str) -> Iterator[Event]:
    yield ToolCall(seq=seq, turn=turn, tool=tool, call_id=call_id, args=raw({"id": key}))
    outcome = "failed" if tool == "pay" and seq % 7 == 0 else "ok"
    yield ToolResult(seq=seq + 1, call_id=call_id, outcome=outcome, data=raw({"id": key, "sum": 1}))  # type: ignore[arg-type]


def kept(run: Run) -> int:
    """Return how many things a run holds, in containers at any depth.

    Ids of calls stay, so that one used again is noticed; they are all that may grow with the trace.
    """
    ids = sum(len(seen) for seen in run.pairing.seen.values())
    return _held(run, {id(run.plan), id(run.parts), id(run.names), id(run.contract)}) - ids


def _held(root: Any, seen: set[int]) -> int:
    count = 0
    todo = [root]
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, str | int | float | type | Struct):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            count += len(value)
            todo += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset | deque):
            count += 0 if isinstance(value, tuple) else len(value)
            todo += value
        elif type(value).__module__.startswith("outstep"):
            slots = [slot for kind in type(value).__mro__ for slot in getattr(kind, "__slots__", ())]
            todo += [getattr(value, slot, None) for slot in slots]
            todo += list(getattr(value, "__dict__", {}).values())
    return count


def sizes(text: str, count: int, *, has_turns: bool, exact: bool) -> tuple[int, int]:
    """Return what is kept after a tenth of a trace, and after all of it."""
    monitor = Monitor(Compiled(load_contract(text.encode())), Header(schema="trace/v1"), exact=exact)
    early = 0
    for number, event in enumerate(events(count, has_turns=has_turns)):
        monitor.feed(event)
        if number == count // 10:
            early = kept(monitor._run)
    return early, kept(monitor._run)


@pytest.mark.parametrize("exact", [False, True], ids=["generated", "exact"])
@pytest.mark.parametrize("has_turns", [False, True], ids=["log", "turns"])
@pytest.mark.parametrize("name", RULES)
def test_a_kind_keeps_no_more_of_a_longer_trace(name: str, has_turns: bool, exact: bool) -> None:
    text = f"{HEAD}  - {RULES[name].replace('{', '{id: R, ', 1)}\n"
    early, late = sizes(text, 4_000, has_turns=has_turns, exact=exact)
    assert late <= early + 60, f"{early} after a tenth, {late} after all of it"


def test_two_hundred_thousand_events_keep_what_twenty_thousand_keep() -> None:
    chosen = ("require", "about", "needs", "then", "then-its-result", "at-most-unless-failed", "at-least-per")
    rules = "".join(f"  - {RULES[name].replace('{', '{id: R' + str(at) + ', ', 1)}\n" for at, name in enumerate(chosen))
    early, late = sizes(HEAD + rules, 200_000, has_turns=True, exact=False)
    assert late <= early + 60
