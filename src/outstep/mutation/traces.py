"""A good trace, broken in one of the ways in which agents really fail.

Every mutant is a whole trace again: events are numbered anew, and what a result answers is still found by its id.
docs/mutation.md#what-agents-do-wrong
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outstep import codec
from outstep.codec import NO_RAW, Json, Unreadable
from outstep.events import AssistantMessage, Context, Event, Header, ToolCall, ToolResult


class Concern(Struct, frozen=True, kw_only=True):
    """What a contract has to do with a tool or a kind of event."""

    name: str
    """As the contract calls it."""
    is_read: bool = False
    """It changes nothing: to call it twice, earlier, or for something else is no failure by itself."""
    arguments: frozenset[str] | None = None
    """The arguments that the contract reads; none: any may be."""
    members: frozenset[str] | None = None
    """The members of results that the contract reads; none: any may be."""
    asks_results: bool = True
    """Whether the contract looks at how its calls went."""


Picked = Callable[[str, str, int], bool]
"""Whether a mutant is wanted: its way, what it is done to, and its number among those of the trace."""


def every(way: str, what: str, number: int) -> bool:  # noqa: ARG001 - of the form of `Picked`
    """Want every mutant."""
    return True


Concerns = Callable[[str], Concern | None]
"""What a contract has to do with a tool, by its recorded name; none where it does not look at it."""


class Mutant(Struct, frozen=True, kw_only=True):
    """One broken trace."""

    way: str
    """What was done: a key of `WAYS`."""
    what: str
    """To what: a tool, a message."""
    detail: str
    """A sentence."""
    header: Header
    events: tuple[Event, ...]


def mutants(
    header: Header,
    events: Sequence[Event],
    concerns: Concerns,
    *,
    of_context: bool = True,
    of_messages: bool = True,
    picked: Picked = every,
) -> Iterator[Mutant]:
    """Yield every way to break a trace where a contract looks, in the order of its events.

    `of_context` says whether it looks at what is put before the model, `of_messages` at what the agent says. Only
    mutants that are `picked` are built.
    """
    told = _Told(header, tuple(events), concerns)
    for way, break_ in WAYS.items():
        if (way == "other version" and not of_context) or (way == "said too early" and not of_messages):
            continue
        counts: dict[str, int] = {}
        for what, detail, changed in break_(told):
            counts[what] = counts.get(what, 0) + 1
            if not picked(way, what, counts[what]):
                continue
            yield Mutant(way=way, what=what, detail=detail, header=header, events=_numbered(changed))


Changed = tuple[str, str, Sequence[Event]]


class _Told:
    """A trace with its calls and their results."""

    def __init__(self, header: Header, events: tuple[Event, ...], concerns: Concerns) -> None:
        self.header = header
        self.events = events
        self.result: dict[int, int] = {}
        """Place of the result of the call at a place."""
        self.calls: list[int] = []
        """Places of the calls of tools that the contract looks at."""
        self._concern: dict[str, Concern] = {}
        waiting: dict[tuple[str, str], list[int]] = {}
        for place, event in enumerate(events):
            if isinstance(event, ToolCall):
                waiting.setdefault((event.agent, event.call_id), []).append(place)
                concern = concerns(event.tool)
                if concern is not None:
                    self._concern[event.tool] = concern
                    self.calls.append(place)
            elif isinstance(event, ToolResult):
                calls = waiting.get((event.agent, event.call_id))
                if calls:
                    self.result[calls.pop(0)] = place
        self.turns = max((turn for event in events if (turn := getattr(event, "turn", None)) is not None), default=None)

    def call(self, place: int) -> ToolCall:
        event = self.events[place]
        assert isinstance(event, ToolCall)
        return event

    def name(self, call: ToolCall) -> str:
        return self._concern[call.tool].name

    def asks_results(self, call: ToolCall) -> bool:
        return self._concern[call.tool].asks_results

    def reads(self, call: ToolCall, argument: str) -> bool:
        arguments = self._concern[call.tool].arguments
        return arguments is None or argument in arguments

    def reads_result(self, call: ToolCall, member: str) -> bool:
        concern = self._concern[call.tool]
        return concern.asks_results and (concern.members is None or member in concern.members)

    def is_read(self, call: ToolCall) -> bool:
        return self._concern[call.tool].is_read

    def answered(self) -> Iterator[tuple[int, ToolCall, int, ToolResult]]:
        """Yield each call that has a result, with both places."""
        for place in self.calls:
            at = self.result.get(place)
            if at is not None:
                result = self.events[at]
                assert isinstance(result, ToolResult)
                yield place, self.call(place), at, result

    def without(self, *places: int) -> list[Event]:
        return [event for place, event in enumerate(self.events) if place not in places]


def _numbered(events: Sequence[Event]) -> tuple[Event, ...]:
    changed: list[Event] = []
    for number, event in enumerate(events, 1):
        fields: dict[str, Any] = {"seq": number}
        if isinstance(event, ToolResult):
            fields["call"] = None
        changed.append(replace(event, **fields))
    return tuple(changed)


def _left_out(told: _Told) -> Iterator[Changed]:
    for place in told.calls:
        call = told.call(place)
        gone = [place, *([told.result[place]] if place in told.result else [])]
        yield told.name(call), f"`{told.name(call)}` was not called", told.without(*gone)


def _swapped(told: _Told) -> Iterator[Changed]:
    pairs = list(told.answered())
    for (one, first, one_end, _), (other, second, other_end, _) in pairwise(pairs):
        if told.is_read(second) or first.tool == second.tool or first.agent != second.agent or other < one_end:
            continue
        moved = [told.events[one], told.events[one_end]]
        rest = [
            item
            for place, event in enumerate(told.events)
            if place not in (one, one_end)
            for item in ([event, *moved] if place == other_end else [event])
        ]
        yield told.name(second), f"`{told.name(second)}` was called before `{told.name(first)}`", rest


def _doubled(told: _Told) -> Iterator[Changed]:
    for place, call, at, result in told.answered():
        if told.is_read(call):
            continue
        again = f"{call.call_id or 'call'}-again"
        turn = told.turns + 1 if told.turns is not None and call.turn is not None else call.turn
        twin: list[Event] = [replace(call, call_id=again, turn=turn), replace(result, call_id=again, turn=turn)]
        changed = [item for p, event in enumerate(told.events) for item in ([event, *twin] if p == at else [event])]
        yield (
            told.name(call),
            f"`{told.name(call)}` was called a second time with the same arguments (event {place + 1})",
            changed,
        )


def _with_outcome(outcome: str, error: str) -> Callable[[_Told], Iterator[Changed]]:
    def break_(told: _Told) -> Iterator[Changed]:
        for _, call, at, result in told.answered():
            if result.outcome == outcome or not told.asks_results(call):
                continue
            fields: dict[str, Any] = {"outcome": outcome, "data": NO_RAW, "text": None, "error": error}
            changed = [replace(result, **fields) if p == at else event for p, event in enumerate(told.events)]
            yield told.name(call), f"the result of `{told.name(call)}` was {outcome}: {error}", changed

    return break_


def _answered_no(told: _Told) -> Iterator[Changed]:
    for _, call, at, result in told.answered():
        value = _json(bytes(result.data) or (result.text or "").encode())
        if result.outcome != "ok" or not isinstance(value, dict):
            continue
        for name, said in value.items():
            if said is not True or not told.reads_result(call, name):
                continue
            no = codec.raw({**value, name: False})
            fields: dict[str, Any] = {"data": no} if bytes(result.data) else {"text": bytes(no).decode()}
            changed = [replace(result, **fields) if p == at else event for p, event in enumerate(told.events)]
            yield told.name(call), f"`{told.name(call)}` answered no: `{name}` is false", changed


def _another_id(told: _Told) -> Iterator[Changed]:
    yield from _with_arguments(told, _ids)


def _another_amount(told: _Told) -> Iterator[Changed]:
    yield from _with_arguments(told, _amounts)


def _with_arguments(told: _Told, change: Callable[[str, Json], Json | None]) -> Iterator[Changed]:
    for place in told.calls:
        call = told.call(place)
        args = _value(call)
        if told.is_read(call) or not isinstance(args, dict):
            continue
        for name, value in args.items():
            other = change(name, value) if told.reads(call, name) else None
            if other is None:
                continue
            changed = replace(call, args=codec.raw({**args, name: other}))
            was, now = codec.encode(value).decode(), codec.encode(other).decode()
            detail = f"`{told.name(call)}` was called with `{name}` {now}, not {was}"
            yield told.name(call), detail, [changed if p == place else event for p, event in enumerate(told.events)]


def _ids(name: str, value: Json) -> Json | None:
    """Return another id; words that are no id stay: a text with a digit in it, or what is called one."""
    is_named = name.lower().endswith(("id", "_no", "number", "key"))
    is_id = isinstance(value, str) and 0 < len(value) <= 80 and (any(map(str.isdigit, value)) or is_named)
    return f"{value}X" if is_id and " " not in value else None


def _amounts(name: str, value: Json) -> Json | None:  # noqa: ARG001 - of the same form as the other changes
    if isinstance(value, bool) or (not isinstance(value, int) and type(value).__name__ != "Decimal"):
        return None
    changed: Json = value * 10 + 1
    return changed


def _said_too_early(told: _Told) -> Iterator[Changed]:
    last_call: int | None = None
    for place, event in enumerate(told.events):
        if isinstance(event, ToolCall) and place in told.result:
            last_call = place if place in told.calls else last_call
        elif isinstance(event, AssistantMessage) and event.text and last_call is not None:
            call = told.call(last_call)
            if told.result[last_call] < place:
                rest = [
                    item
                    for p, other in enumerate(told.events)
                    if p != place
                    for item in ([replace(event, turn=call.turn), other] if p == last_call else [other])
                ]
                yield "message", f"what was said after `{told.name(call)}` was said before it", rest
            last_call = None


def _result_lost(told: _Told) -> Iterator[Changed]:
    for _, call, at, _ in told.answered():
        yield told.name(call), f"the result of `{told.name(call)}` is not there", told.without(at)


def _call_lost(told: _Told) -> Iterator[Changed]:
    for place, call, _, _ in told.answered():
        yield told.name(call), f"the call of `{told.name(call)}` is not there, and its result is", told.without(place)


def _same_turn(told: _Told) -> Iterator[Changed]:
    pairs = list(told.answered())
    for (_, first, one_end, _), (other, second, _, _) in pairwise(pairs):
        is_apart = first.turn is not None and first.turn != second.turn and first.agent == second.agent
        if told.is_read(second) or not is_apart or other < one_end:
            continue
        late = told.events[one_end]
        moved = replace(second, turn=first.turn)
        rest = [
            item
            for place, event in enumerate(told.events)
            if place != one_end
            for item in ([moved, late] if place == other else [event])
        ]
        yield told.name(second), f"`{told.name(second)}` was called in the same response as `{told.name(first)}`", rest


def _other_version(told: _Told) -> Iterator[Changed]:
    for place, event in enumerate(told.events):
        if isinstance(event, Context) and (event.version or event.digest):
            changed = replace(
                event,
                version=f"{event.version}-other" if event.version else "",
                digest="0" * 64 if event.digest else "",
            )
            what = f"{event.what} {event.name}".strip()
            yield (
                what,
                f"`{what}` was another version",
                [changed if p == place else e for p, e in enumerate(told.events)],
            )


def _value(call: ToolCall) -> Json:
    return _json(bytes(call.args)) if bytes(call.args) else {}


def _json(text: bytes) -> Json:
    try:
        return codec.loads(text)
    except Unreadable:
        return None


WAYS: dict[str, Callable[[_Told], Iterator[Changed]]] = {
    "left out": _left_out,
    "swapped": _swapped,
    "doubled": _doubled,
    "failed": _with_outcome("failed", "the operation failed"),
    "unknown": _with_outcome("unknown", "timed out"),
    "denied": _with_outcome("denied", "not allowed"),
    "answered no": _answered_no,
    "another id": _another_id,
    "another amount": _another_amount,
    "said too early": _said_too_early,
    "result lost": _result_lost,
    "call lost": _call_lost,
    "same turn": _same_turn,
    "other version": _other_version,
}
"""Ways in which agents fail, by name."""
