"""Declared faults: what may go wrong with a call, which calls it happens to, and what the agent then reads.

docs: docs/worlds.md#faults
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from outstep import codec
from outstep.world.expressions import Expr, is_true
from outstep.world.tools import Reply
from outstep.world.world import Around

FaultKind = Literal[
    "error",
    "business-failure",
    "timeout",
    "lost-reply",
    "duplicate",
    "stale",
    "wrong",
    "latency",
    "truncated",
    "malformed",
    "injected",
    "honeytoken",
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
TIMEOUT = 30.0
Act = Callable[[Any], tuple[Reply, Any]]


class Fault(Struct, frozen=True, kw_only=True):
    """One fault, and the calls to which it happens: those that fit `tool`, `on`, `when` and `share` together."""

    kind: FaultKind
    tool: str = "*"
    on: tuple[int, ...] = ()
    """The n-th calls of the tool, from 1; empty: every one."""
    when: Expr | None = None
    share: Decimal | int | None = None
    """Part of the calls, from 0 to 1, chosen by the seed of the run."""
    text: str = ""
    """What an error says, or what is put into the reply."""
    at: str = ""
    """`injected` and `honeytoken`: the member of the reply that gets the text; a new one may be named."""
    data: Any = None
    """`business-failure`: the whole reply; `wrong`: members that differ (a JSON merge patch)."""
    seconds: float | None = None
    keep: int | None = None
    """`truncated`: characters that arrive."""
    number: int = 0
    """Its place in the list: two faults of one world are drawn apart."""

    def fits(self, tool: str, args: Any, around: Around, state: Any, seed: int) -> bool:
        """Return whether it happens to this call."""
        if self.tool not in ("*", tool) or (self.on and around.nth not in self.on):
            return False
        if self.share is not None and not _drawn(f"{seed} {self.number} {tool} {around.nth}", self.share):
            return False
        values = {"args": args, "state": state, "call": around.nth, "now": around.moment}
        return self.when is None or is_true(self.when, values)

    def happen(self, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
        """Return the reply and the state after a call that would otherwise be `act(state)`."""
        return _HAPPEN[self.kind](self, act, state, earlier)


def _drawn(name: str, share: Decimal | int) -> bool:
    number = int.from_bytes(sha256(name.encode()).digest()[:8], "big")
    return number < int(share * (1 << 64))


def merged(value: Any, patch: Any) -> Any:
    """Return a JSON value after a merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    kept = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            kept.pop(key, None)
        else:
            kept[key] = merged(kept.get(key), item)
    return kept


def _error(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del act, earlier
    return Reply(outcome="failed", text=fault.text or "error 500: internal server error"), state


def _business_failure(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del act, earlier
    data = fault.data if fault.data is not None else {"status": "FAILED", "reason": fault.text or "declined"}
    return Reply(data=data), state


def _timeout(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del act, earlier
    return _no_reply(fault), state


def _lost_reply(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del earlier
    return _no_reply(fault), act(state)[1]


def _no_reply(fault: Fault) -> Reply:
    seconds = TIMEOUT if fault.seconds is None else fault.seconds
    text = fault.text or f"error: timed out after {seconds:g} seconds without a reply; the outcome is unknown"
    return Reply(outcome="unknown", text=text, seconds=seconds)


def _duplicate(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del fault, earlier
    reply, after = act(state)
    return reply, act(after)[1]


def _stale(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del fault
    after = act(state)[1]  # first: a key that this call uses up must be used up by what really happens
    return act(earlier)[0], after


def _wrong(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del earlier
    reply, after = act(state)
    return replace(reply, data=merged(reply.data, fault.data), text=None), after


def _latency(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del earlier
    reply, after = act(state)
    return replace(reply, seconds=reply.seconds + (fault.seconds or 0.0)), after


def _truncated(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    del earlier
    reply, after = act(state)
    shown = reply.shown()
    return replace(reply, text=shown[: len(shown) // 2 if fault.keep is None else fault.keep], data=None), after


def _malformed(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    """Return a reply whose JSON has its last sign doubled, as a server with two writers sends it."""
    del fault, earlier
    reply, after = act(state)
    shown = codec.encode(reply.data).decode() if reply.text is None else reply.text
    return replace(reply, text=shown + (shown[-1:] if shown[-1:] in "}]" else "}"), data=None), after


def _injected(fault: Fault, act: Act, state: Any, earlier: Any) -> tuple[Reply, Any]:
    """Return a reply that holds a text more: in a member, or at the end."""
    del earlier
    reply, after = act(state)
    if reply.text is not None or not isinstance(reply.data, dict):
        return replace(reply, text=f"{reply.shown()}\n{fault.text}", data=None), after
    member = fault.at or "note"
    old = reply.data.get(member)
    text = f"{old}\n{fault.text}" if isinstance(old, str) and old else fault.text
    return replace(reply, data={**reply.data, member: text}), after


_HAPPEN: dict[str, Callable[[Fault, Act, Any, Any], tuple[Reply, Any]]] = {
    "error": _error,
    "business-failure": _business_failure,
    "timeout": _timeout,
    "lost-reply": _lost_reply,
    "duplicate": _duplicate,
    "stale": _stale,
    "wrong": _wrong,
    "latency": _latency,
    "truncated": _truncated,
    "malformed": _malformed,
    "injected": _injected,
    "honeytoken": _injected,
}
