"""Records of a session log: the envelope every row shares, and the payloads that carry events of ours.

Only what is read is declared: what a record holds besides is skipped at scan speed. Names are those of the format.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

UNREADABLE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What decoding hostile bytes may raise."""

NOTHING = Raw()


class Head(Struct, rename="camel"):
    """The first line: one session."""

    type: str
    version: int
    id: str
    created_at: float | None = None
    parent_session: str | None = None
    cwd: str | None = None
    origin: str | None = None
    seed_length: int | None = None
    is_seeded: bool | None = None


class Row(Struct, rename="camel", gc=False):
    """Every other line: the envelope. Rows of packed chunks carry `seq0`, `time0` instead of `seq`, `time`."""

    type: str
    seq: int | None = None
    seq0: int | None = None
    time: float | None = None
    data: Raw = NOTHING
    surface_op: Any = None
    source_event_seqs: Raw = NOTHING
    ignorable: bool | None = None
    line: int = field(default=0, name="@line")
    """1-based line in the text; set by the reader."""
    offset: int = field(default=0, name="@offset")
    """0-based byte offset in the text; set by the reader."""
    is_mended: bool = field(default=False, name="@mended")
    """Half a character in its text was replaced; set by the reader."""
    record: bytes = field(default=b"", name="@record")
    """The text of the row, where origins are asked for."""


class Packed(Struct):
    """Packed chunks of format 0: `len(dt) + 1` members, each with a sequence number of its own."""

    dt: list[int]


class Step(Struct):
    """One model call and its tools."""

    turn: int
    step: int


class Block(Struct, rename="camel"):
    """One part of a message."""

    type: str = ""
    text: str | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None
    content: "list[Block] | None" = None
    tool_name: str | None = None


class Source(Struct):
    """Who is behind a message."""

    kind: str = ""
    plugin: str | None = None
    call_id: str | None = field(default=None, name="callId")
    model: str | None = None


class Change(Struct):
    """One file of instructions."""

    path: str = ""
    digest: str = ""


class Entry(Struct):
    """One skill of a catalogue."""

    name: str = ""


class Injected(Struct, rename="camel"):
    """What the source of an injected message tells besides its kind."""

    changes: list[Change] | None = None
    entries: list[Entry] | None = None
    sender_session_id: str | None = None
    compaction_id: str | None = None
    name: str | None = None


class Message(Struct, rename="camel"):
    """A message; in format 4 a tool result is one of role `tool`."""

    role: str = ""
    content: list[Block] = []
    source: Raw = NOTHING
    tool_call_id: str | None = None
    is_error: bool | None = None


class Delivered(Struct):
    """`system/message`, `developer/message`."""

    message: Message


class Answer(Struct, rename="camel"):
    """`assistant/message`; without `message` it is the flat shape from before the first release."""

    turn: int
    step: int
    message: Message | None = None
    usage: Raw = NOTHING
    content: "list[Block] | None" = None
    provenance: Source | None = None


class Usage(Struct, rename="camel"):
    """Token counts of one response."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None


class Asked(Struct, rename="camel"):
    """`tool/call`: `arguments` is the text the model wrote."""

    turn: int
    step: int
    call_id: str = ""
    name: str = ""
    arguments: Raw = NOTHING


class AskedBlock(Struct):
    """A call as `assistant/message` holds it."""

    type: str = ""
    id: str = ""
    name: str = ""
    arguments: Raw = NOTHING


class AskedMessage(Struct):
    """The message of an `assistant/message`, its calls only."""

    content: list[AskedBlock] = []


class AskedAnswer(Struct):
    """The calls of an `assistant/message`."""

    message: AskedMessage


class Failure(Struct):
    """Identity of a harness error."""

    name: str = ""
    code: str = ""


class Answered(Struct, rename="camel"):
    """`tool/result`; without `message` it is the flat shape."""

    turn: int
    step: int
    message: Message | None = None
    error: Failure | None = None
    call_id: str | None = None
    content: "list[Block] | None" = None
    is_error: bool | None = None


class Dispatch(Struct, rename="camel"):
    """A nested call of a program, and (where `content` is there) its result."""

    parent_call_id: str
    sub_call_id: str
    name: str = ""
    arguments: Raw = NOTHING
    is_error: bool | None = None
    content: "list[Block] | None" = None


class ApprovalAsked(Struct, rename="camel"):
    """`approval/asked`."""

    id: str
    tool_name: str = ""
    call_id: str | None = None


class ApprovalDecided(Struct):
    """`approval/decided`."""

    id: str
    outcome: str


class HookResult(Struct, rename="camel"):
    """`hook/result`; it names no call."""

    point: str = ""
    decision: str = ""
    stderr_summary: str | None = None


class JobCall(Struct, rename="camel"):
    """The call that started a job."""

    call_id: str = ""


class Job(Struct, rename="camel"):
    """`job/registered`, `job/settled`."""

    job_id: str
    kind: str = ""
    status: str = ""
    detail: str | None = None
    tool_call: JobCall | None = None


class Compaction(Struct, rename="camel"):
    """`compaction/summary`."""

    compaction_id: str = ""
    summary: list[Block] = []


class Catalog(Struct, rename="camel"):
    """`subagent/catalog`, in the parent."""

    child_id: str


class Moved(Struct):
    """`working-directory/change`."""

    cwd: str


class Descriptor(Struct):
    """`subagent/descriptor`, in the child."""

    label: str | None = None


class EndSeed(Struct):
    """`session/end-seed`; inherited: what stands before it is the parent's."""

    inherited: bool | None = None


class TurnEnd(Struct):
    """`turn/end`."""

    reason: Raw = NOTHING


class Reason(Struct):
    """Why a turn ended."""

    kind: str = ""
    error: Raw = NOTHING
    reason: Raw = NOTHING


class Kind(Struct):
    """Anything that has a kind."""

    kind: str = ""


class ModelError(Struct):
    """Why a model did not answer."""

    message: str = ""
    code: str = ""


class Config(Struct):
    """The configuration of a request."""

    model: str | None = None


class RequestHeader(Struct):
    """What the following requests are made with."""

    config: Raw = NOTHING
    tools: Raw = NOTHING
    system: str | None = None


class Request(Struct):
    """`request/header`."""

    header: RequestHeader


class Tool(Struct):
    """The declaration of a tool."""

    name: str


class Spawn(Struct):
    """Arguments of a call that starts a sub-agent."""

    prompt: str | None = None
    description: str | None = None
    run_in_background: bool | None = None


class Shell(Struct):
    """Arguments of a shell call."""

    run_in_background: bool | None = None


head = msgspec.json.Decoder(Head).decode
row = msgspec.json.Decoder(Row).decode
packed = msgspec.json.Decoder(Packed).decode
step = msgspec.json.Decoder(Step).decode
answer = msgspec.json.Decoder(Answer).decode
asked = msgspec.json.Decoder(Asked).decode
asked_answer = msgspec.json.Decoder(AskedAnswer).decode
answered = msgspec.json.Decoder(Answered).decode
message = msgspec.json.Decoder(Message).decode
delivered = msgspec.json.Decoder(Delivered).decode
dispatch = msgspec.json.Decoder(Dispatch).decode
source = msgspec.json.Decoder(Source).decode
injected = msgspec.json.Decoder(Injected).decode
usage = msgspec.json.Decoder(Usage).decode
approval_asked = msgspec.json.Decoder(ApprovalAsked).decode
approval_decided = msgspec.json.Decoder(ApprovalDecided).decode
hook_result = msgspec.json.Decoder(HookResult).decode
job = msgspec.json.Decoder(Job).decode
compaction = msgspec.json.Decoder(Compaction).decode
catalog = msgspec.json.Decoder(Catalog).decode
moved = msgspec.json.Decoder(Moved).decode
descriptor = msgspec.json.Decoder(Descriptor).decode
end_seed = msgspec.json.Decoder(EndSeed).decode
turn_end = msgspec.json.Decoder(TurnEnd).decode
reason = msgspec.json.Decoder(Reason).decode
kind = msgspec.json.Decoder(Kind).decode
model_error = msgspec.json.Decoder(ModelError).decode
request = msgspec.json.Decoder(Request).decode
config = msgspec.json.Decoder(Config).decode
raw_list = msgspec.json.Decoder(list[Raw]).decode
tool = msgspec.json.Decoder(Tool).decode
spawn = msgspec.json.Decoder(Spawn).decode
shell = msgspec.json.Decoder(Shell).decode
string = msgspec.json.Decoder(str).decode
source_seqs = msgspec.json.Decoder(list[int | list[int]]).decode


_ESCAPES = rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"


def mended_row(text: bytes) -> Row:
    r"""Read a row whose text was cut inside a character; raises what decoding raises.

    dsh 0.1.0-0.2.1: JavaScript cuts long text between the halves of a pair and writes one half as `\ud83d`.
    """
    found = row(_without_halves(text))
    found.is_mended = True
    return found


def _without_halves(text: bytes) -> bytes:
    return re.sub(_ESCAPES, lambda match: rb"\ufffd" if match[1] else match[0], text, flags=re.DOTALL)


def text_of(blocks: list[Block]) -> str:
    """Return the text blocks, one under the other."""
    if len(blocks) == 1:
        block = blocks[0]
        return (block.text or "") if block.type == "text" else ""
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text is not None)


def source_of(text: Raw) -> Source:
    """Return the source of a message; one that cannot be read has no kind."""
    try:
        return source(text)
    except UNREADABLE:
        return Source()
