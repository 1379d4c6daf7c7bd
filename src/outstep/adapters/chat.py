"""What the readers of message lists share: events written down step by step, and traces made of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog, Tally
from outstep.adapters.conversation import Conversation, Step, conversations, in_fixed_order
from outstep.adapters.records import RECORD_SHOWN, digest
from outstep.adapters.traces import Ids, finished
from outstep.codec import Json, encode
from outstep.digest import sha256
from outstep.errors import Place
from outstep.events import (
    SCHEMA,
    AssistantMessage,
    Caller,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    Joined,
    Lane,
    Outcome,
    RunEnd,
    Source,
    ToolCall,
    ToolResult,
    UserMessage,
)

RECORDS = (
    "user.message",
    "assistant.message",
    "decision",
    "tool.call",
    "tool.result",
    "context",
    "gap",
    "run.end",
)
"""What a message list can hold."""


class Scribe:
    """Writes the events of one conversation, numbered as they come."""

    def __init__(self, document: Document, log: ReadLog, tally: Tally) -> None:
        self.events: list[Event] = []
        self.steps: list[Step] = []
        """For each event the message that it comes from."""
        self.lanes: dict[str, Lane] = {}
        self.turn = 0
        self.end = ""
        """Why the record stops before the run does, where the last response tells."""
        self.unanswered: dict[str, deque[ToolCall]] = {}
        """Calls without id by name, oldest first: their results tell only the name."""
        self._turns: dict[str, int | None] = {}
        self._agents: dict[str, str] = {}
        self._document = document
        self._log = log
        self._tally = tally
        self._step: Step | None = None

    def at(self, step: Step) -> None:
        """Begin with a message."""
        self._step = step
        self._tally.records += 1

    def skip(self, kind: str) -> None:
        """Count something that is no event of ours."""
        self._tally.skipped[kind] = self._tally.skipped.get(kind, 0) + 1

    def fault(self, code: str, sentence: str, help: str) -> None:
        """Report something at this message that cannot be read."""
        self._log.fault(code, sentence, place=self._step.place if self._step else None, help=help)

    def context(self, what: str, *, text: str = "", name: str = "") -> None:
        """Write something that nobody said."""
        mark = sha256(text.encode("utf-8", "replace")).hexdigest() if what == "system" else ""
        self._put(Context(seq=self._seq, what=what, name=name, text=text, digest=mark))

    def user(self, text: str) -> None:
        """Write what a person said."""
        self._put(UserMessage(seq=self._seq, text=text))

    def open(self, usage: Mapping[str, int] | None = None) -> None:
        """Open a model response."""
        self.turn += 1
        model = self._step.model if self._step else ""
        self._put(Decision(seq=self._seq, turn=self.turn, model=model, usage=dict(usage or {})))

    def say(self, text: str) -> None:
        """Write what the model said."""
        self._put(AssistantMessage(seq=self._seq, turn=self.turn, text=text))

    def call(
        self,
        tool: str,
        call_id: str,
        args: Mapping[str, Any],
        *,
        agent: str = "main",
        by: Caller = "model",
        parent: str | None = None,
    ) -> ToolCall:
        """Write a call; `args` is `args`, `args_raw` or nothing."""
        turn = self.turn if agent == "main" else None
        call = ToolCall(tool=tool, seq=self._seq, turn=turn, agent=agent, call_id=call_id, by=by, parent=parent, **args)
        self._turns[call_id] = turn
        self._agents[call_id] = agent
        self._put(call)
        return call

    def result(
        self,
        call_id: str,
        outcome: Outcome,
        *,
        joined: Joined = "id",
        call: int | None = None,
        **content: Any,
    ) -> None:
        """Write what came back; `content` is `text`, `data`, `error`, `exit`."""
        self._put(
            ToolResult(
                seq=self._seq,
                turn=self._turns.get(call_id),
                agent=self._agents.get(call_id, "main"),
                call_id=call_id,
                call=call,
                outcome=outcome,
                joined=joined,
                **content,
            )
        )

    def has_call(self, call_id: str) -> bool:
        """Return whether a call with this id has been written."""
        return call_id in self._turns

    def hole(self) -> None:
        """Write gaps for a message that is lost: part of the open turn, or a response of its own."""
        reason = f"line {self._step.place.line} is damaged" if self._step else ""
        if self.turn:
            self._put(Gap(seq=self._seq, agent="main", turn=self.turn, reason=reason))
        self._put(Gap(seq=self._seq, reason=reason))

    def cut_off(self, reason: str, *, torn: bool) -> None:
        """Write that the record stops before the run does."""
        if torn and self.turn:
            self._put(Gap(seq=self._seq, agent="main", turn=self.turn, reason=reason))
        elif torn:
            self._put(Gap(seq=self._seq, reason=reason))
        self._put(RunEnd(seq=self._seq, end="cut_off", reason=reason))

    @property
    def _seq(self) -> int:
        return len(self.events) + 1

    def _put(self, event: Event) -> None:
        self.events.append(event)
        self.steps.append(self._step or Step(message=None, place=Place(source=self._document.uri), index=0))


class ChatTrace(Struct, frozen=True, kw_only=True):
    """One trace, and for each event the message that it comes from."""

    header: Header
    events: list[Event]
    steps: list[Step]


class Chat:
    """Base of the adapters that read message lists."""

    name: str = ""
    version: str = "1"
    pinned: tuple[str, ...] = ()

    def write(self, conversation: Conversation, scribe: Scribe) -> None:
        """Write the events of a conversation."""
        raise NotImplementedError

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield one trace for each conversation."""
        for trace in self._traces(documents, options, log):
            yield [trace.header, *trace.events]

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Find the messages of events again; `raw_seq` is the index of the message."""
        found = {}
        for trace in self._traces(documents, options, ReadLog()):
            for seq in wanted.get(trace.header.id, ()):
                if 0 < seq <= len(trace.steps):
                    step = trace.steps[seq - 1]
                    text = encode(step.message)[:RECORD_SHOWN].decode("utf-8", "replace") if step.message else ""
                    found[trace.header.id, seq] = Origin(place=step.place, raw_seq=step.index, record=text)
        return found

    def _traces(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[ChatTrace]:
        ids = Ids()
        for document in documents:
            source = Source(
                uri=document.uri,
                sha256=digest(document),
                format=self.name,
                version=self.pinned[0],
                adapter=f"{self.name}@{self.version}",
            )
            before = len(log.faults)
            is_bare = True
            for conversation in conversations(document, log):
                is_bare = False
                yield self._trace(conversation, document, source, options, log, ids)
            if is_bare and len(log.faults) == before:
                log.fault(
                    "input/no-traces",
                    f"`{document.uri}` holds no conversation",
                    place=Place(source=document.uri),
                    help=f"docs/adapters/{self.name}.md shows the shapes that are read",
                )

    def _trace(
        self,
        conversation: Conversation,
        document: Document,
        source: Source,
        options: Options,
        log: ReadLog,
        ids: Ids,
    ) -> ChatTrace:
        name = ids.give(conversation.name, document)
        tally = log.tally(Tally(trace=name, skipped=dict(conversation.skipped)))
        scribe = Scribe(document, log, tally)
        self.write(conversation, scribe)
        if conversation.torn:
            scribe.cut_off(conversation.torn, torn=True)
        elif scribe.end:
            scribe.cut_off(scribe.end, torn=False)
        header, tally.end = finished(_header(conversation, name, source, scribe), scribe.events, options.complete)
        return ChatTrace(header=header, events=scribe.events, steps=scribe.steps)


def _header(conversation: Conversation, name: str, source: Source, scribe: Scribe) -> Header:
    prompt = next((event for event in scribe.events if isinstance(event, Context) and event.what == "system"), None)
    models = [step.model for step in conversation.steps if step.model]
    return Header(
        schema=SCHEMA,
        id=name,
        sources=(source,),
        model=models[-1] if models else conversation.model,
        prompt=prompt.digest if prompt else "",
        tools=_tools(conversation.tools),
        config=_mark(conversation.config) if conversation.config else "",
        lanes=tuple(scribe.lanes.values()),
        records=RECORDS,
    )


def _tools(tools: list[Json]) -> dict[str, str]:
    """Return a digest of each declaration by name."""
    marks = {}
    for tool in tools:
        if isinstance(tool, dict):
            inner = tool.get("function")
            name = (inner if isinstance(inner, dict) else tool).get("name")
            if isinstance(name, str):
                marks[name] = _mark(tool)
    return marks


def _mark(value: Json) -> str:
    return sha256(in_fixed_order(value)).hexdigest()


def flat_text(value: Json, skip: Any, *kinds: str) -> str:
    """Return the text of a `content`: a text, or parts of which those of `kinds` are joined; `skip` counts others."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return encode(value).decode()
    texts = []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type", "text") in kinds:
            text = next((part[key] for key in ("text", "content", "refusal") if isinstance(part.get(key), str)), "")
            texts.append(text)
        else:
            skip(str(part.get("type", "part"))[:40] if isinstance(part, dict) else "part")
    return "\n".join(text for text in texts if text)


def wrong_format(scribe: Scribe, kind: str) -> None:
    """Report a block that holds a call or a result in a way that this format does not know."""
    scribe.fault(
        "adapter/wrong-format",
        f"a message holds a block `{kind[:40]}`, which these messages do not have",
        "what the agent did may stand in it: read the file as what it is, with `--format`",
    )


def counted(usage: Json, names: Mapping[str, str]) -> dict[str, int]:
    """Return token counts by our names; `a.b` reads a member of a member."""
    counts = {}
    for theirs, ours in names.items():
        value = usage
        for step in theirs.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, int) and not isinstance(value, bool):
            counts[ours] = value
    return counts


def unmarked(header: Header) -> Header:
    """Return a header without the names of files, for comparing what was read."""
    return replace(header, sources=tuple(replace(source, uri="", sha256="") for source in header.sources))
