"""What happened in some runs, as far as a draft looks at it: calls, their results, and what each could know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from re import compile as linear_pattern
from typing import Any

from msgspec import Struct

from outstep.codec import Unreadable, loads
from outstep.contracts.names import normal_form, split_name
from outstep.events import Event, Header, ToolCall, ToolResult

FAILURE = r"(?i)^\s*(error|failed|failure|exception)\b"
"""How a result that failed begins, where the format has no flag for it."""
_FAILS = linear_pattern(FAILURE)
_ODD = linear_pattern(r"[^A-Za-z0-9_.-]+")


class Act(Struct, kw_only=True):
    """One call with its result."""

    tool: str
    args: dict[str, Any]
    run: int
    seq: int
    at: int
    """The moment at which it is judged: what stands before was known."""
    agent: str
    ok: bool | None = None
    """None without a result."""
    data: Any = None
    done: int | None = None
    """Where the result stands."""


class Seen(Struct, kw_only=True):
    """One run."""

    calls: list[Act] = []
    has_end: bool = False


class Observed(Struct, kw_only=True):
    """All runs."""

    runs: list[Seen]
    tools: dict[str, tuple[str, ...]]
    """Names for a contract, in the order of first use, with the recorded names where those do not follow from them."""
    is_flagged: bool
    """Whether the format tells good results from failed ones."""
    skipped: int = 0
    """Calls without a readable name or arguments."""

    def of(self, tool: str) -> list[Act]:
        """Return the calls of a tool, in all runs."""
        return [act for run in self.runs for act in run.calls if act.tool == tool]

    def known_before(self, act: Act) -> Iterable[Act]:
        """Yield the calls whose good results were known when a call was made."""
        for other in self.runs[act.run].calls:
            if other.ok and other.done is not None and other.done < act.at and other.agent == act.agent:
                yield other


def observe(traces: Iterable[tuple[Header, Sequence[Event]]]) -> Observed:
    """Return what happened."""
    recorded: dict[str, None] = {}
    runs: list[Seen] = []
    found = Observed(runs=runs, tools={}, is_flagged=False)
    raw: list[tuple[Act, str]] = []
    for _, events in traces:
        run = Seen()
        starts: dict[tuple[str, int], int] = {}
        open_: dict[tuple[str, str], list[Act]] = {}
        for event in events:
            turn = getattr(event, "turn", None)
            if turn is not None and not isinstance(event, ToolResult):
                starts.setdefault((getattr(event, "agent", "main"), turn), event.seq)
            if isinstance(event, ToolCall):
                args = _object(event)
                if event.by in ("user", "harness"):
                    continue
                if args is None or not _ODD.sub("", event.tool):
                    found.skipped += 1
                    continue
                at = starts.get((event.agent, event.turn), event.seq) if event.turn is not None else event.seq
                act = Act(tool="", args=args, run=len(runs), seq=event.seq, at=at, agent=event.agent)
                recorded.setdefault(event.tool)
                raw.append((act, event.tool))
                run.calls.append(act)
                open_.setdefault((event.agent, event.call_id), []).append(act)
            elif isinstance(event, ToolResult):
                waiting = open_.get((event.agent, event.call_id))
                if waiting:
                    _answer(waiting.pop(0), event, found)
        runs.append(run)
    names = contract_names(recorded)
    for act, name in raw:
        act.tool = names[name]
    for name, given in names.items():
        found.tools.setdefault(given, ())
        if normal_form(name) != given:
            found.tools[given] = (*found.tools[given], name)
    return found


def contract_names(recorded: Iterable[str]) -> dict[str, str]:
    """Return a name for a contract for each recorded one: without server and hash, where that is still one tool."""
    found: dict[str, str] = {}
    servers: dict[str, set[str]] = {}
    listed = list(recorded)
    for name in listed:
        server, base = split_name(name)
        servers.setdefault(_word(base), set()).add(server)
    for name in listed:
        server, base = split_name(name)
        found[name] = _word(base) if len(servers[_word(base)]) == 1 else f"{_word(server) or 'own'}.{_word(base)}"
    return found


def _word(name: str) -> str:
    return _ODD.sub("_", name).strip("_.-") or "tool"


def _object(call: ToolCall) -> dict[str, Any] | None:
    if call.args_raw is not None:
        return None
    text = bytes(call.args)
    if not text:
        return {}
    try:
        value = loads(text)
    except Unreadable:
        return None
    return value if isinstance(value, dict) else None


def _answer(act: Act, result: ToolResult, found: Observed) -> None:
    act.done = result.seq
    text = result.text or ""
    if result.outcome == "unrecorded":
        act.ok = not _FAILS.search(text)
    else:
        found.is_flagged = True
        act.ok = result.outcome == "ok"
    act.data = _data(result)


def _data(result: ToolResult) -> Any:
    text = bytes(result.data) or (result.text or "").strip().encode("utf-8", "replace")
    if text[:1] not in (b"{", b"["):
        return None
    try:
        return loads(text)
    except Unreadable:
        return None
