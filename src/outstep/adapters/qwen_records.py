"""Records of a Qwen Code session, one by one: what each tells of the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct

from outstep.adapters.base import Tally
from outstep.adapters.ordering import Hole
from outstep.codec import Json, Unreadable, loads, raw
from outstep.errors import Place
from outstep.events import (
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Outcome,
    ToolCall,
    ToolResult,
    UserMessage,
)

SHELL = "run_shell_command"
AGENT = "agent"
"""The tool that lets a sub-agent work."""
LAUNCHED = "Background agent launched"
COMPACTION = "chat_compression"
QUIET = frozenset({"ui_telemetry", "attribution_snapshot"})
"""Kinds of `system` records that repeat what others tell, or tell nothing of the run."""
_EXIT = re.compile(r"^Exit Code: (-?[0-9]{1,10})$", re.MULTILINE)
_OF_SERVER = re.compile(
    r"^MCP tool '[^']*' reported tool error for function call: .* with response: (\[.*\])$", re.DOTALL
)
_USAGE = {
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "cachedContentTokenCount": "cache_read_tokens",
    "thoughtsTokenCount": "reasoning_tokens",
}


class Row(Struct, frozen=True, kw_only=True):
    """One record, or a line that cannot be read."""

    place: Place
    reason: str = ""
    """Why the line cannot be read; empty for a record."""
    text: bytes = b""
    kind: str = ""
    subtype: str = ""
    session: str = ""
    agent: str = ""
    time: str = ""
    version: str = ""
    cwd: str = ""
    value: dict[str, Json] = {}

    @property
    def moment(self) -> float | None:
        """Seconds since the epoch; none where it tells no time."""
        try:
            return datetime.fromisoformat(self.time).timestamp()
        except (ValueError, OverflowError):
            return None

    @property
    def parts(self) -> list[dict[str, Json]]:
        """The parts of its message."""
        message = self.value.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def read_row(value: Json, place: Place, text: bytes) -> Row | None:
    """Return a record, or none where a value is no record."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not _word(value.get("sessionId")):
        return None
    return Row(
        place=place,
        text=text,
        kind=value["type"],
        subtype=_word(value.get("subtype")),
        session=_word(value.get("sessionId")),
        agent=_word(value.get("agentId")) if value.get("isSidechain") is True else "",
        time=_word(value.get("timestamp")),
        version=_word(value.get("version")),
        cwd=_word(value.get("cwd")),
        value=value,
    )


def calls_of(row: Row, tool: str) -> Iterator[str]:
    """Yield the ids of the calls of a tool that stand in a record."""
    if row.kind == "assistant":
        for part in row.parts:
            call = part.get("functionCall")
            if isinstance(call, dict) and call.get("name") == tool:
                yield _word(call.get("id"))


class Teller:
    """Tells records as events, numbered as they come."""

    def __init__(self, tally: Tally, recorded: Collection[str]) -> None:
        """`recorded` are the ids of calls whose sub-agents have records of their own."""
        self.model = ""
        self._tally = tally
        self._recorded = recorded
        self._unseen: dict[str, None] = {}
        """Ids of calls whose sub-agents left no record."""
        self._in_background = False
        """Whether one of these went on after its result."""
        self._seq = 0
        self._turns: dict[str, int] = {}
        self._of_call: dict[tuple[str, str], int] = {}
        """Lane and id of a call to the turn that it was made in."""

    def told(self, row: Row) -> Iterator[tuple[Event | Hole, Row]]:
        """Yield what a record tells."""
        self._tally.records += 1
        if row.reason:
            yield Hole(reason=row.reason), row
            return
        for event in self._events(row):
            yield event, row
            if self._is_of_unseen(event):
                self._in_background |= isinstance(event, ToolResult) and (event.text or "").startswith(LAUNCHED)
                yield self._unseen_acts(), row

    def rest(self, row: Row) -> Iterator[tuple[Event | Hole, Row]]:
        """Yield what stands behind the last record: sub-agents in the background may have gone on until here."""
        if self._in_background:
            yield self._unseen_acts(), row

    def _is_of_unseen(self, event: Event) -> bool:
        return isinstance(event, ToolCall | ToolResult) and event.agent == "main" and event.call_id in self._unseen

    def _unseen_acts(self) -> Event:
        self._seq += 1
        reason = "a sub-agent worked here, and there is no record of what it did"
        return Gap(seq=self._seq, may_hide=("tool.call", "tool.result"), reason=reason, agent=None)

    def _events(self, row: Row) -> Iterator[Event]:
        if row.kind == "assistant":
            yield from self._assistant(row)
        elif row.kind == "tool_result":
            yield from self._results(row)
        elif row.kind == "user":
            yield from self._user(row)
        elif row.kind == "system" and row.subtype == COMPACTION:
            yield self._context(row, "compaction", _text(row.value.get("systemPayload")))
        elif row.kind == "system":
            self._skip(f"system {row.subtype[:40]}")
        else:
            self._skip(row.kind[:40])
            yield self._context(row, "record.unknown", name=row.kind[:80])

    def _user(self, row: Row) -> Iterator[Event]:
        text = "\n".join(_text(part.get("text")) for part in row.parts if "text" in part)
        if row.agent != "main":
            # What a sub-agent is told comes from an agent, and is nobody's consent.
            yield self._context(row, "delegation", text)
        elif row.subtype or row.value.get("provenance") not in (None, "real_user"):
            yield self._context(row, row.subtype or "injected", text)
        else:
            yield UserMessage(**self._head(row), text=text)

    def _assistant(self, row: Row) -> Iterator[Event]:
        model = _word(row.value.get("model"))
        self.model = model or self.model
        # Sub-agents write the words and the calls of one response apart; the first of these records counts the round.
        if row.agent == "main" or "agentRound" in row.value or row.agent not in self._turns:
            self._turns[row.agent] = self._turns.get(row.agent, 0) + 1
            yield Decision(**self._head(row), turn=self._turns[row.agent], model=model, usage=_usage(row.value))
        turn = self._turns[row.agent]
        texts: list[str] = []
        for part in row.parts:
            call = part.get("functionCall")
            if isinstance(call, dict):
                yield from self._said(row, turn, texts)
                yield self._call(row, turn, call)
            elif isinstance(part.get("text"), str) and part.get("thought") is not True:
                texts.append(part["text"])
            else:
                self._skip("thought" if part.get("thought") is True else "part")
        yield from self._said(row, turn, texts)

    def _said(self, row: Row, turn: int, texts: list[str]) -> Iterator[Event]:
        text = "".join(texts)
        texts.clear()
        if text:
            yield AssistantMessage(**self._head(row), turn=turn, text=text)

    def _call(self, row: Row, turn: int, call: dict[str, Json]) -> Event:
        id = _word(call.get("id"))
        self._of_call[row.agent, id] = turn
        if call.get("name") == AGENT and id not in self._recorded:
            self._unseen[id] = None
        args = call.get("args")
        given: dict[str, Any] = {} if args is None else {"args": raw(args)}
        return ToolCall(**self._head(row), turn=turn, tool=_word(call.get("name")), call_id=id, **given)

    def _results(self, row: Row) -> Iterator[Event]:
        about = row.value.get("toolCallResult")
        told = about if isinstance(about, dict) else {}
        found = [part["functionResponse"] for part in row.parts if isinstance(part.get("functionResponse"), dict)]
        for response in found:
            yield self._result(row, response, told)
        if not found:
            self._skip("result without response")

    def _result(self, row: Row, response: dict[str, Json], told: dict[str, Json]) -> Event:
        id = _word(response.get("id")) or _word(told.get("callId"))
        content = response.get("response")
        held = content if isinstance(content, dict) else {}
        failed = "error" in held
        text = _from_server(_text(held.get("error"))) if failed else _text(held.get("output"))
        outcome = _outcome(told, held)
        exit = None
        if response.get("name") == SHELL and outcome in ("ok", "failed") and (code := _EXIT.search(text)):
            exit = int(code[1])
            outcome = "failed" if exit else outcome
        return ToolResult(
            **self._head(row),
            turn=self._of_call.get((row.agent, id)),
            call_id=id,
            outcome=outcome,
            text=text,
            error=text if failed else "",
            exit=exit,
        )

    def _context(self, row: Row, what: str, text: str = "", *, name: str = "") -> Event:
        return Context(**self._head(row), what=what, name=name, text=text)

    def _head(self, row: Row) -> dict[str, Any]:
        self._seq += 1
        return {"seq": self._seq, "agent": row.agent, "time": row.moment}

    def _skip(self, kind: str) -> None:
        self._tally.skipped[kind] = self._tally.skipped.get(kind, 0) + 1


def _outcome(told: dict[str, Json], held: dict[str, Json]) -> Outcome:
    """Return what became of a call; sub-agents record no status, so there the answer itself tells."""
    status, started = told.get("status"), told.get("executionStatus")
    if told.get("errorType") == "execution_denied" or (status == "cancelled" and started == "not_started"):
        return "denied"
    if status == "cancelled":
        return "unknown"
    if status == "success":
        return "ok"
    if status == "error" or "error" in held:
        return "failed"
    return "ok" if "output" in held else "unrecorded"


def _from_server(text: str) -> str:
    """Return what an MCP server said of an error, without the words around it."""
    found = _OF_SERVER.match(text)
    if found is None:
        return text
    try:
        (response,) = loads(found[1])
        content = response["functionResponse"]["response"]["error"]["content"]
        return "\n".join(part["text"] for part in content)
    except (Unreadable, ValueError, KeyError, TypeError):
        return text


def _usage(value: dict[str, Json]) -> dict[str, int]:
    usage = value.get("usageMetadata")
    counted = usage if isinstance(usage, dict) else {}
    return {
        ours: count
        for theirs, ours in _USAGE.items()
        if isinstance(count := counted.get(theirs), int) and not isinstance(count, bool) and count
    }


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else bytes(raw(value)).decode("utf-8", "replace")


def _word(value: Json) -> str:
    return value if isinstance(value, str) else ""
