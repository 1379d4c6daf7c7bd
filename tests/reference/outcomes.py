"""Which call a result answers, which decisions cover it, and which message is the last one (SEMANTICS 1 and 3)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.contracts.model import Contract, Tool
from outstep.contracts.names import ToolNames, entry_fits
from outstep.events import Approval, AssistantMessage, Event, Gap, ToolCall, ToolResult, UserMessage

Place = tuple[str, str, int]
"""Where ids are told apart: a lane, and in it a response, or what stands between two user messages."""


def place_of(event: ToolCall | ToolResult, events: Sequence[Event]) -> Place:
    """Return the response of an event; without responses, the stretch between two user messages."""
    if event.turn is not None:
        return (event.agent, "turn", event.turn)
    told = sum(1 for x in events if isinstance(x, UserMessage) and x.agent == event.agent and x.seq < event.seq)
    return (event.agent, "stretch", told)


class Pairing(Struct):
    """Calls and results of a whole trace, joined."""

    call_of: dict[int, ToolCall]
    """By `seq` of the result: only the one result of a call is evidence."""
    result_of: dict[int, ToolResult]
    """By `seq` of the call."""
    second: dict[int, ToolCall]
    """A further result of a call, by `seq`: no evidence."""
    early: dict[int, ToolCall]
    """A result that arrived before its call, by `seq`: no evidence."""
    orphans: set[int]
    """Results whose call is not there."""


def pair(events: Sequence[Event]) -> Pairing:
    """Join every result with the call that it answers."""
    found = Pairing({}, {}, {}, {}, set())
    for result in events:
        if not isinstance(result, ToolResult):
            continue
        calls = _candidates(result, events)
        before = [call for call in calls if call.seq < result.seq]
        if not before:
            later = [call for call in calls if call.seq > result.seq]
            if later and not has_lost_call(result, events):
                found.early[result.seq] = later[0]
            else:
                found.orphans.add(result.seq)
            continue
        place = place_of(before[-1], events)
        same = [call for call in before if place_of(call, events) == place]
        waiting = [call for call in same if call.seq not in found.result_of]
        if waiting:
            found.call_of[result.seq] = waiting[0]
            found.result_of[waiting[0].seq] = result
        else:
            found.second[result.seq] = same[-1]
    return found


def has_lost_call(result: Event, events: Sequence[Event]) -> bool:
    """Return whether a gap before a result may hide the call that it answers."""
    lane = getattr(result, "agent", "main")
    return any(
        isinstance(gap, Gap)
        and gap.seq < result.seq
        and gap.can_hide("tool.call")
        and (gap.agent is None or gap.agent == lane)
        for gap in events
    )


def _candidates(result: ToolResult, events: Sequence[Event]) -> list[ToolCall]:
    """Return the calls that a result may mean, in order: of its id and lane, and if there are several, of its turn."""
    calls = [x for x in events if isinstance(x, ToolCall)]
    if result.call is not None:
        return [call for call in calls if call.seq == result.call]
    if not result.call_id:
        return []  # nothing is joined by an empty id
    own = [call for call in calls if call.call_id == result.call_id and call.agent == result.agent]
    if result.turn is None or len([call for call in own if call.seq < result.seq]) < 2:
        return own
    return [call for call in own if call.turn == result.turn]


def tool_of(contract: Contract, names: ToolNames, recorded: str) -> Tool | None:
    """Return what the contract says about a recorded tool: its entry, or the globs that it fits, key by key."""
    canonical = names.canonical(recorded)
    for tool in contract.tools:
        if tool.name == canonical:
            return tool
    entries = [entry for entry in contract.defaults if entry_fits(entry.name, canonical)]
    if not entries:
        return None
    said: dict[str, object] = {}
    for entry in entries:
        for key in ("effect", "tags", "args", "reads", "denied_when", "unknown_when", "fails_when", "succeeds_when"):
            if getattr(entry, key):
                said[key] = getattr(entry, key)
    return Tool(name=canonical, spot=entries[0].spot, **said)  # type: ignore[arg-type]


Truth = bool | None
"""Of an outcome key: true, false, or none where it is missing or hidden."""


def settled_outcome(
    recorded: str,
    denied_when: Truth = False,
    unknown_when: Truth = False,
    fails_when: Truth = False,
    succeeds_when: Truth = False,
    *,
    has_fails: bool = False,
    has_succeeds: bool = False,
) -> str:
    """Return the outcome by the table of SEMANTICS section 3; a key that the tool does not have is false."""
    if recorded == "denied":
        return "denied"
    for said, outcome in ((denied_when, "denied"), (unknown_when, "unknown"), (fails_when, "failed")):
        if said is True:
            return outcome
    undecided = None in (denied_when, unknown_when, fails_when, succeeds_when)
    if recorded == "failed":
        return "unknown" if unknown_when is None else "failed"
    if undecided:
        return "unknown"
    if recorded == "ok":
        return "unknown" if has_succeeds and succeeds_when is not True else "ok"
    if has_succeeds:
        return "ok" if succeeds_when is True else "unknown"
    if recorded == "unrecorded" and has_fails:
        return "ok"
    return "unknown"


def approval_at(result: ToolResult, call: ToolCall, events: Sequence[Event], names: ToolNames) -> Approval | None:
    """Return the last decision on the call, or covering it, that stands before the result."""
    found = [x for x in events if isinstance(x, Approval) and x.seq < result.seq and _covers(x, call, events, names)]
    return found[-1] if found else None


def _covers(approval: Approval, call: ToolCall, events: Sequence[Event], names: ToolNames) -> bool:
    if not approval.call_id:
        return approval.seq < call.seq and names.canonical(approval.tool) == names.canonical(call.tool)
    return subject_of(approval, events) is call


def subject_of(approval: Approval, events: Sequence[Event]) -> ToolCall | None:
    """Return the call that an approval with an id speaks of: the newest of that id before it, else the next one."""
    calls = [
        x for x in events if isinstance(x, ToolCall) and x.call_id == approval.call_id and x.agent == approval.agent
    ]
    before = [call for call in calls if call.seq < approval.seq]
    if before:
        return before[-1]
    return calls[0] if calls else None


def final_message(events: Sequence[Event]) -> AssistantMessage | None:
    """Return the last message of `main`, if no call of `main` stands in its turn or later."""
    messages = [x for x in events if isinstance(x, AssistantMessage) and x.agent == "main"]
    if not messages:
        return None
    last = messages[-1]
    for call in main_calls(events):
        if call.seq > last.seq or (last.turn is not None and call.turn == last.turn):
            return None
    return last


def main_calls(events: Sequence[Event]) -> list[ToolCall]:
    """Return the calls that the main agent made itself."""
    return [x for x in events if isinstance(x, ToolCall) and x.agent == "main" and x.by in ("model", "program")]
