"""Rows that carry text: what people said, what the agent answered, what the harness put before the model."""

from __future__ import annotations

from msgspec import Raw

from outstep.adapters.dsh import records
from outstep.adapters.dsh.reader import Reader, Refused
from outstep.adapters.dsh.records import NOTHING, UNREADABLE, Injected, Row, Source, text_of
from outstep.digest import sha256
from outstep.events import AssistantMessage, Context, Decision, UserMessage

WHAT = {
    "agent-instructions": "file",
    "compact-checkpoint": "compaction",
    "runtime-context": "runtime",
    "skill-invocation": "skill",
    "system-prompt": "system",
}
"""Kinds of injected messages that have a name of ours; any other keeps its own."""

PLUGINS = {"@deepseek-ai/dsh-system-prompt": "runtime", "compact": "compaction"}
"""The same for formats 0 to 3, where a plugin is named instead."""


class Messages:
    """Reads messages and requests into events."""

    def __init__(self, reader: Reader, *, is_delegated: bool) -> None:
        self._reader = reader
        self._trace = reader.trace
        self._is_delegated = is_delegated
        self._system = ""
        self._tools = b""
        self._compactions: set[str] = set()
        reader.handlers.update({
            "user/message": self._user,
            "steering/message": self._user,
            "assistant/message": self._assistant,
            "system/message": self._system_message,
            "developer/message": self._developer,
            "request/header": self._request,
            "compaction/summary": self._summary,
            "compact/summary": self._summary,
            "working-directory/change": self._moved,
        })  # fmt: skip

    def _user(self, row: Row) -> None:
        message = records.message(row.data)
        source = records.source_of(message.source)
        text = text_of(message.content)
        if source.kind == "user" and not self._is_replacement(row):
            if self._is_delegated and (row.seq or 0) >= self._reader.session.cut:
                # A child's first message comes from its parent, though format 4 calls it the user's.
                self._is_delegated = False
                self._context(row, "delegation", text, name=self._reader.session.head.parent_session or "")
                return
            self._trace.events.append(
                UserMessage(seq=self._trace.next(), agent=self._reader.lane, time=self._reader.time_of(row), text=text)
            )
            return
        self._injected(row, source, message.source, text)

    def _injected(self, row: Row, source: Source, raw: Raw, text: str) -> None:
        what, name = _what(source)
        more = _more(raw)
        if self._is_replacement(row) and (what != "compaction" or more.compaction_id in self._compactions):
            # A copy that the model sees instead of older messages; the summary itself has been read.
            self._trace.skipped[f"{row.type} (replacement)"] += 1
            return
        digest = ""
        if more.changes:
            name = ", ".join(change.path for change in more.changes)
            digest = more.changes[0].digest if len(more.changes) == 1 else ""
        elif more.entries:
            name = ", ".join(entry.name for entry in more.entries)
            self._trace.skills.update(dict.fromkeys(entry.name for entry in more.entries))
        self._context(row, what, text, name=name or more.name or more.sender_session_id or "", digest=digest)

    def _assistant(self, row: Row) -> None:
        if self._is_replacement(row):
            self._trace.skipped[f"{row.type} (replacement)"] += 1
            return
        data = records.answer(row.data)
        reader, trace = self._reader, self._trace
        if data.message is not None:
            blocks = data.message.content
            model = records.source_of(data.message.source).model or ""
        else:
            if data.content is None:
                raise ValueError("it has no message")
            check_flat(reader)
            blocks = data.content
            model = (data.provenance.model if data.provenance else None) or ""
        reader.message_opens()
        reader.answer = row.data
        turn = reader.decision(data.turn, data.step)
        time = reader.time_of(row)
        trace.model = trace.model or model
        usage = _usage(data.usage)
        trace.events.append(
            Decision(seq=trace.next(), turn=turn, agent=reader.lane, time=time, model=model, usage=usage)
        )
        text = text_of(blocks)
        if text:
            trace.events.append(AssistantMessage(seq=trace.next(), turn=turn, agent=reader.lane, time=time, text=text))

    def _system_message(self, row: Row) -> None:
        self._prompt(row, text_of(records.delivered(row.data).message.content))

    def _developer(self, row: Row) -> None:
        blocks = records.delivered(row.data).message.content
        lines = [
            (block.text or "") if block.type == "text" else f"{block.type}: {block.tool_name or ''}" for block in blocks
        ]
        self._context(row, "developer", "\n".join(lines))

    def _request(self, row: Row) -> None:
        header = records.request(row.data).header
        trace = self._trace
        is_main = self._reader.lane == "main"
        tools = bytes(header.tools)
        if tools and tools != self._tools:
            self._tools = tools
            trace.declare(header.tools, is_main=is_main)
        if is_main and header.config != NOTHING:
            if not trace.config:
                trace.config = _digest(bytes(header.config))
            trace.model = trace.model or records.config(header.config).model or ""
        if header.system is not None:
            self._prompt(row, header.system)
        else:
            trace.skipped[row.type] += 1

    def _summary(self, row: Row) -> None:
        data = records.compaction(row.data)
        self._compactions.add(data.compaction_id)
        self._context(row, "compaction", text_of(data.summary), name=data.compaction_id)

    def _moved(self, row: Row) -> None:
        self._context(row, "cwd", "", name=records.moved(row.data).cwd)

    def _prompt(self, row: Row, text: str) -> None:
        """The system prompt: one event for each change."""
        if text == self._system:
            self._trace.skipped[f"{row.type} (unchanged)"] += 1
            return
        self._system = text
        digest = _digest(text.encode())
        if self._reader.lane == "main":
            self._trace.prompt = self._trace.prompt or digest
        self._context(row, "system", text, digest=digest)

    def _context(self, row: Row, what: str, text: str, *, name: str = "", digest: str = "") -> None:
        self._trace.events.append(
            Context(
                seq=self._trace.next(),
                agent=self._reader.lane,
                time=self._reader.time_of(row),
                what=what,
                name=name,
                digest=digest,
                text=text,
            )
        )

    def _is_replacement(self, row: Row) -> bool:
        return row.surface_op is not None and row.surface_op != "append"


def check_flat(reader: Reader) -> None:
    """Refuse the flat shape of format 0, which no release wrote, unless the caller asked for it."""
    if reader.session.head.version != 0:
        raise ValueError("it has no message")
    reader.session.is_flat = True
    if not reader.reads_flat:
        raise Refused(reader.session)


def _what(source: Source) -> tuple[str, str]:
    """Return what an injected message is, and the plugin behind it."""
    if source.kind == "plugin":
        plugin = source.plugin or ""
        return (PLUGINS[plugin], "") if plugin in PLUGINS else ("plugin", plugin)
    if source.kind.startswith("plugin:"):
        return "plugin", source.kind[7:]
    return WHAT.get(source.kind, source.kind or "unknown"), ""


def _more(raw: Raw) -> Injected:
    try:
        return records.injected(raw)
    except UNREADABLE:
        return Injected()


def _usage(raw: Raw) -> dict[str, int]:
    try:
        usage = records.usage(raw)
    except UNREADABLE:
        return {}
    counts = {name: getattr(usage, name) for name in usage.__struct_fields__}
    return {name: count for name, count in counts.items() if count is not None}


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
