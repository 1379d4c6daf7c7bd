"""What generated code calls: reads and writes on the way where nothing is hidden, and the doors to the exact run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from outstep import codec
from outstep.contracts.selectors import Selector
from outstep.engine.lanes import ABSENT, LaneState, Table, written
from outstep.engine.pairing import OpenCall
from outstep.engine.run import Run
from outstep.engine.views import View
from outstep.events import AssistantMessage, Event, Header, ToolCall, ToolResult
from outstep.expr.claim import Claim
from outstep.expr.values import Hidden, Missing, Undecided, from_key, key_of


def same(view: View) -> View:
    """Return a view that is made already."""
    return view


def undeclared_call(event: ToolCall, lane: LaneState, run: Run) -> None:
    """Take a call whose tool the generated code does not know."""
    run.look_at_call(event, lane)


def undeclared_result(event: ToolResult, call: OpenCall, lane: LaneState, run: Run) -> None:
    """Take a result whose tool the generated code does not know."""
    run.look_at_result(event, call, lane)


def step_on(run: Run, events: Iterator[Event | Header]) -> Header | None:
    """Step events exactly up to the next header; return it, or none when there are no more."""
    for event in events:
        if isinstance(event, Header):
            return event
        run.step(event)
    return None


def call_view(event: ToolCall, lane: LaneState, run: Run) -> View:
    """Return a call as the exact run reads it."""
    return View(run, event, lane, issued=True)


def message_view(event: AssistantMessage, lane: LaneState, run: Run) -> View:
    """Return a message as the exact run reads it."""
    return View(run, event, lane, issued=True)


def result_view(event: ToolResult, call: OpenCall, outcome: str, lane: LaneState, run: Run) -> View:
    """Return a result as the exact run reads it."""
    view = View(run, event, lane, issued=False)
    view.call = call
    view.outcome = outcome
    return view


def issued(cells: Any, key: Any, epoch: int) -> Any:
    """Return an entry of a fact as an issued event knows it; null for none."""
    cell = cells.get(key if type(key) is str else key_of(key))
    if cell is None:
        return None
    value = cell[1] if cell[0] < epoch else cell[3]
    return value if type(value) in _SURE else _settled(value)


def delivered(cells: Any, key: Any, _: int) -> Any:
    """Return an entry of a fact as a delivered event knows it; null for none."""
    cell = cells.get(key if type(key) is str else key_of(key))
    if cell is None:
        return None
    return cell[1] if type(cell[1]) in _SURE else _settled(cell[1])


_SURE = frozenset({dict, str, int, bool, list})


def _settled(value: Any) -> Any:
    if value is ABSENT:
        return None
    if isinstance(value, Missing | Hidden):
        raise Undecided(value.reason)
    return value


def has_issued(cells: Any, key: Any, epoch: int) -> bool:
    """Return whether an issued event knows an entry."""
    cell = cells.get(key if type(key) is str else key_of(key))
    return cell is not None and (cell[1] if cell[0] < epoch else cell[3]) is not ABSENT


def has_delivered(cells: Any, key: Any, _: int) -> bool:
    """Return whether a delivered event knows an entry."""
    cell = cells.get(key if type(key) is str else key_of(key))
    return cell is not None and cell[1] is not ABSENT


def known(cells: Any, key: Any, epoch: Any) -> bool:
    """Return whether evidence with this join key is known."""
    cell = cells.get(key)
    return cell is not None and (cell[1] if cell[0] < epoch else cell[3]) is not ABSENT


def note(table: Table, epoch: int, key: Any, place: int, seq: int) -> None:
    """Note where evidence counts from."""
    table.write(epoch, key, place, seq)


NEWEST = 1 << 62
"""Number of a decision that knows whatever was delivered."""


def needed(value: Any) -> Any:
    """Return a recorded value; what was not recorded is missing."""
    if value is None:
        raise Undecided("not recorded")
    return value


def as_key(value: Any) -> Any:
    """Return what a value is under as a key."""
    return value if type(value) is str else key_of(value)


def mentioned_keys(run: Run, fact: int, sentence: str, cells: Any, epoch: int) -> list[Any]:
    """Return the known keys of a fact that a sentence mentions; gives up when it mentions none."""
    found = [
        key
        for key in run.key_index[fact].found(sentence)
        if (cell := cells.get(key)) is not None and (cell[1] if cell[0] < epoch else cell[3]) is not ABSENT
    ]
    if not found:
        raise Undecided("no key is mentioned")
    return found


def trigger(run: Run, rule: int, selectors: tuple[Selector, ...], view: View) -> None:
    """Let the exact run judge an event for one rule."""
    run.trigger(rule, selectors, view)


def trigger_claim(run: Run, rule: int, selector: Selector, view: View, claim: Claim) -> None:
    """Let the exact run judge one claim for one rule."""
    run.trigger_claim(rule, selector, view, claim)


NAMESPACE: dict[str, Any] = {
    "ABSENT": ABSENT,
    "as_key": as_key,
    "call_view": call_view,
    "chain": chain,
    "decode": codec.decode_value,
    "delivered": delivered,
    "from_key": from_key,
    "has_delivered": has_delivered,
    "has_issued": has_issued,
    "issued": issued,
    "key_of": key_of,
    "known": known,
    "NEWEST": NEWEST,
    "note": note,
    "mentioned_keys": mentioned_keys,
    "message_view": message_view,
    "needed": needed,
    "result_view": result_view,
    "same": same,
    "step_on": step_on,
    "trigger": trigger,
    "trigger_claim": trigger_claim,
    "undeclared_call": undeclared_call,
    "undeclared_result": undeclared_result,
    "written": written,
}
