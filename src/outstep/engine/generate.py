"""A contract as one generated generator that is sent batches of events.

The generated code takes the events of a plain trace (one lane, no gap, nothing hidden), keeps the same state as
`engine.run` and proves that rules hold; what it cannot prove it hands to the same monitors. Everything else is stepped
exactly. The law between the two: whatever the generated code decides, the exact run decides the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts import fitting
from outstep.engine import quick
from outstep.engine.emit import Emitter
from outstep.engine.pairing import OpenCall
from outstep.engine.views import View
from outstep.events import AssistantMessage, Header, ToolCall, ToolResult, UserMessage
from outstep.expr.compile import Constants

if TYPE_CHECKING:
    from outstep.engine.monitor import Compiled


def source(compiled: Compiled) -> str:
    """Return the generated Python source of a contract, for reading."""
    return _generate(compiled)[0]


def build(compiled: Compiled) -> Any:
    """Return the generated generator function of a contract: `monitor(begin, done)`."""
    text, namespace = _generate(compiled)
    code = compile(text, f"<contract {compiled.contract.id}>", "exec")
    exec(code, namespace)  # noqa: S102 - generated here from a checked contract; constants travel in the namespace
    namespace["CALLS"] = _Handlers(compiled, "call", namespace)
    namespace["find_claims"] = compiled.parts.claim_finder()
    namespace["RESULTS"] = _Handlers(compiled, "result", namespace)
    return namespace["monitor"]


class _Handlers(dict[str, Any]):
    """Recorded tool name to generated function; none where nobody looks at the tool."""

    def __init__(self, compiled: Compiled, kind: str, namespace: dict[str, Any]) -> None:
        super().__init__()
        self._compiled = compiled
        self._kind = kind
        self._namespace = namespace

    def __missing__(self, recorded: str) -> Any:
        found = self[recorded] = self._find(recorded)
        return found

    def _find(self, recorded: str) -> Any:
        canonical = self._compiled.names.canonical(recorded)
        if self._compiled.parts.tools.get(canonical) is None:
            return quick.undeclared_call if self._kind == "call" else quick.undeclared_result
        if not self._compiled.is_usual(recorded, canonical):
            return quick.undeclared_call if self._kind == "call" else quick.undeclared_result
        return self._namespace.get(f"{self._kind}_{self._compiled.tool_number(canonical)}")


def _generate(compiled: Compiled) -> tuple[str, dict[str, Any]]:
    pool = Constants()
    emitter = Emitter(compiled, pool)
    parts: list[str] = []
    for number, tool in enumerate(compiled.contract.tools):
        parts += [emitter.call_handler(number, tool), emitter.result_handler(number, tool)]
    message = emitter.message_handler()
    loop = "\n".join(_loop(compiled, emitter.message_guard() if message else ()))
    text = "\n\n\n".join(part for part in (*parts, message, loop) if part) + "\n"
    return text, {**_NAMESPACE, **pool.namespace}


def _loop(compiled: Compiled, message_guard: tuple[str, ...] | None) -> Iterator[str]:
    """Yield the lines of the generator: what every event of a plain trace needs, and whom to call.

    `message_guard` says when a message matters: none is always, an empty one never.
    """
    plan = compiled.plan
    forgetting = ("lane.calls = 0", 'lane.said = ""') if plan.reads_response else ()
    opening = [
        "turn_now = e.turn",
        "if turn_now is None:",
        "    epoch += 1",
        "    start = e.seq",
        "    turn = None",
        *(f"    {line}" for line in forgetting),
        "elif turn_now != turn:",
        "    epoch += 1",
        "    start = since = e.seq",
        "    turn = turn_now",
        "    has_turns = True",
        *(f"    {line}" for line in forgetting),
    ]
    syncing = ["lane.epoch = epoch", "lane.start = start", "lane.turn = turn", "run.last_seq = e.seq"]
    yield from (
        "def monitor(begin, done):",
        f'    """Judge traces of `{_plain(compiled.contract.id)}`: sent batches of events, and None at the end."""',
        "    run = last = None",
        "    is_plain = True",
        "    batch = yield",
        "    while batch is not None:",
        "        here = 0",
        "        rest = iter(batch)",
        "        first = None if is_plain else step_on(run, rest)",
        "        for e in rest if first is None else chain((first,), rest):",
        "            kind = type(e)",
        "            if kind is ToolCall:",
        "                call_id = e.call_id",
        "                if (",
        '                    e.agent == "main" and call_id and call_id not in seen and e.tool and e.by == "model"',
        "                    and e.args_raw is None and not e.hidden",
        "                ):",
    )
    yield from _deep(20, opening)
    yield from _deep(20, ["seen[call_id] = since", "opened[call_id] = OpenCall(e, start, epoch)"])
    if plan.uses_final:
        yield from _deep(20, ["run.drop_final(e.seq)"])
    yield from _deep(20, ["handle = CALLS[e.tool]", "if handle is not None:"])
    yield from _deep(24, [*syncing, "handle(e, lane, run)"])
    if plan.reads_response:
        yield from _deep(20, ["lane.calls += 1"])
    yield from (
        "                    continue",
        "            elif kind is ToolResult:",
        "                call = opened.get(e.call_id)",
        "                if (",
        '                    type(call) is OpenCall and e.agent == "main" and not e.hidden',
        "                    and (e.call is None or e.call == call.event.seq)",
        "                ):",
        "                    del opened[e.call_id]",
        "                    handle = RESULTS[call.event.tool]",
        "                    if handle is not None:",
        "                        lane.epoch = epoch",
        "                        run.last_seq = e.seq",
        "                        handle(e, call, lane, run)",
        "                    continue",
    )
    if not plan.uses_final:
        yield "            elif kind is AssistantMessage:"
        yield '                if e.agent == "main" and not e.hidden:'
        yield from _deep(20, opening)
        yield from _deep(20, _on_message(compiled, message_guard, syncing))
        yield "                    continue"
    if not plan.listeners.get("user.message"):
        yield from (
            "            elif kind is UserMessage:",
            '                if e.agent == "main" and not e.hidden:',
            "                    if not has_turns:",
            "                        since = e.seq",
            "                    continue",
        )
    yield "            if kind is not Header:"
    yield from _deep(
        16,
        [
            *syncing[:3],
            "lane.ids_since = since",
            "run.turns_seen = has_turns",
            "run.step(e)",
            "is_plain = run.is_plain",
        ],
    )
    yield "                if is_plain:"
    yield from _deep(20, [*_RESUMING, "continue"])
    yield from _deep(16, ["e = step_on(run, rest)"])
    yield "            while e is not None:"
    yield from _deep(
        16,
        [
            "place = len(batch) - rest.__length_hint__() - 1",
            "if run is not None:",
            "    if is_plain:",
            "        last = batch[place - 1] if place else last",
            *(f"        {line}" for line in _LEAVING),
            "    run.events += place - here",
            "    done(run)",
            "here = place + 1",
            "run = begin(e)",
            'lane = run.lane("main")',
            "opened = lane.open",
            'seen = run.pairing.seen.setdefault("main", {})',
            *_RESUMING,
            *_waiting(message_guard),
            "is_plain = run.is_plain",
            "if is_plain:",
            "    break",
            "e = step_on(run, rest)",
        ],
    )
    yield from (
        "            if e is None:",
        "                break",
        "        if run is not None:",
        "            run.events += len(batch) - here",
        "            last = batch[-1] if batch else last",
        "            if is_plain:",
        *_deep(16, _LEAVING),
        "        batch = yield",
        "    if run is not None:",
        "        done(run)",
    )


_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_LEAVING = (
    "lane.epoch = epoch",
    "lane.start = start",
    "lane.turn = turn",
    "lane.ids_since = since",
    "if has_turns:",
    "    run.turns_seen = True",
    "if last is not None and type(last) is not Header:",
    "    run.last_seq = last.seq",
)
"""What brings the run up to date, when a batch or a trace ends."""

_RESUMING = (
    "epoch = lane.epoch",
    "start = lane.start",
    "turn = lane.turn",
    "since = lane.ids_since",
    "has_turns = run.turns_seen",
)


def _on_message(compiled: Compiled, guard: tuple[str, ...] | None, syncing: Sequence[str]) -> list[str]:
    if guard == ():
        return []
    finds = guard is None or "claims" in guard
    lines = ["claims = find_claims(e.text)" if finds and compiled.contract.claims else "claims = ()"]
    call = [*syncing, "message(e, lane, run, claims)"]
    if guard is None:
        return [*lines, *call]
    return [*lines, f"if {' or '.join(guard)}:", *(f"    {line}" for line in call)]


def _waiting(guard: tuple[str, ...] | None) -> list[str]:
    """Return the lines that keep the monitors at hand which a guard asks."""
    names = dict.fromkeys(name for text in guard or () if text != "claims" for name in text.split(" or "))
    return [f"{name} = run.monitors[{name.lstrip(_LETTERS)}].{name.rstrip('0123456789')}" for name in names]


def _deep(indent: int, lines: Sequence[str]) -> Iterator[str]:
    yield from (" " * indent + line for line in lines)


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in "-_. ")


_NAMESPACE: dict[str, Any] = {
    "AssistantMessage": AssistantMessage,
    "Header": Header,
    "OpenCall": OpenCall,
    "ToolCall": ToolCall,
    "ToolResult": ToolResult,
    "UserMessage": UserMessage,
    "View": View,
    "proves_fit": fitting.proves_fit,
    "with_defaults": fitting.with_defaults,
    **quick.NAMESPACE,
}

__all__ = ["build", "source"]
