"""`openai-chat`: lists of Chat Completions messages, in the wrappings of evaluation sets and request logs.

docs: docs/adapters/openai-chat.md
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from outstep.adapters.base import Document
from outstep.adapters.chat import Chat, Scribe, counted, flat_text, wrong_format
from outstep.adapters.conversation import Conversation, Message, Step
from outstep.adapters.glimpse import chat_dialect
from outstep.codec import Json, Unreadable, compact, raw
from outstep.events import Lane, Outcome

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter

_USAGE = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "prompt_tokens_details.cached_tokens": "cache_read_tokens",
    "completion_tokens_details.reasoning_tokens": "reasoning_tokens",
}
_TEXTS = ("text", "input_text", "output_text", "refusal")
_CUT = ("length", "content_filter")


class OpenAIChat(Chat):
    """Reads Chat Completions messages."""

    name = "openai-chat"
    version = "1"
    pinned: tuple[str, ...] = ("chat-completions",)
    title = "OpenAI Chat Completions messages, and evaluation sets made of them"
    cannot_carry: tuple[str, ...] = (
        "no error flag: the outcome of a result is `unrecorded` unless the producer added one",
        "no approvals, no sub-agents, no time, and no state of the business",
        "what a harness put under the user's role reads as the user's",
        "no end mark: that a run is whole is inferred from its last message",
    )

    def sniff(self, document: Document, head: bytes) -> bool:
        """Return whether messages with roles stand at the beginning, without blocks of another vendor."""
        return chat_dialect(document, head) == "openai"

    def write(self, conversation: Conversation, scribe: Scribe) -> None:
        """Write the events of a conversation."""
        if conversation.system is not None:
            scribe.at(Step(message=None, place=conversation.place, index=0))
            scribe.context("system", text=flat_text(conversation.system, scribe.skip, *_TEXTS))
        for step in conversation.steps:
            scribe.at(step)
            if step.message is None:
                scribe.hole()
            else:
                _write(step, step.message, scribe)


def _write(step: Step, message: Message, scribe: Scribe) -> None:
    role = message.get("role")
    if role in ("system", "developer"):
        scribe.context("system", text=flat_text(message.get("content"), scribe.skip, *_TEXTS))
    elif role == "user":
        _user(message, scribe)
    elif role == "assistant":
        _assistant(step, message, scribe)
    elif role == "tool":
        _tool(message, scribe)
    elif role == "function":
        _function(message, scribe)
    elif isinstance(role, str) and role:
        scribe.skip(f"role {role[:40]}")
        scribe.context("record.unknown", name=f"role {role[:40]}")
    else:
        scribe.fault(
            "adapter/damaged-record",
            f"message {step.index} is no chat message: it has no role",
            "every message is an object with `role` and `content`",
        )
        scribe.hole()


def _user(message: Message, scribe: Scribe) -> None:
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        scribe.user(_text(message, scribe))
        return
    # tau2-bench: the simulated user has tools of its own.
    if message.get("content"):
        scribe.user(_text(message, scribe))
    scribe.lanes["user"] = Lane(id="user", kind="user")
    for call in calls:
        if isinstance(call, dict):
            name, call_id, args = _call(call)
            scribe.call(name, call_id, args, agent="user", by="user")


def _assistant(step: Step, message: Message, scribe: Scribe) -> None:
    scribe.open(counted(step.usage, _USAGE))
    scribe.end = f"the model stopped for `{step.stop}`" if step.stop in _CUT else ""
    for key in ("reasoning_content", "reasoning", "thinking"):
        if message.get(key):
            scribe.skip("reasoning")
    text = _text(message, scribe)
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str):
        text = refusal
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) else []
    legacy = message.get("function_call")
    if text or not (calls or legacy):
        scribe.say(text)
    for call in calls:
        if isinstance(call, dict):
            scribe.call(*_call(call))
        else:
            scribe.fault(
                "adapter/damaged-record",
                f"a call of message {step.index} is no object",
                "every call is an object with `id` and `function`",
            )
            scribe.hole()
    if isinstance(legacy, dict):
        # Functions have no ids: the place of the message stands for one, and the result joins by position.
        name = _word(legacy.get("name"))
        call_ = scribe.call(name, f"message-{step.index}", _args(legacy.get("arguments")))
        scribe.unanswered.setdefault(name, deque()).append(call_)


def _tool(message: Message, scribe: Scribe) -> None:
    call_id = message.get("tool_call_id", message.get("id"))
    error = message.get("error")
    flag = message.get("is_error", error if isinstance(error, bool) else None)
    outcome: Outcome = "unrecorded"
    told = ""
    if flag is True:
        outcome = "failed"
    elif flag is False:
        outcome = "ok"
    elif error:
        outcome = "failed"
        told = error if isinstance(error, str) else flat_text(error, scribe.skip)
    text = _text(message, scribe)
    scribe.result(_word(call_id), outcome, text=text, error=told or (text if outcome == "failed" else ""))


def _function(message: Message, scribe: Scribe) -> None:
    waiting = scribe.unanswered.get(_word(message.get("name")))
    text = _text(message, scribe)
    if not waiting:
        scribe.result("", "unrecorded", text=text, joined="position")
        return
    call = waiting.popleft()
    scribe.result(call.call_id, "unrecorded", text=text, joined="position", call=call.seq)


def _call(call: Message) -> tuple[str, str, dict[str, Any]]:
    """Return name, id and arguments of a call, in the dialects that were met."""
    call_id = _word(call.get("id"))
    function, custom = call.get("function"), call.get("custom")
    if isinstance(function, dict):
        return _word(function.get("name")), call_id, _args(function.get("arguments"))
    if isinstance(custom, dict):
        return _word(custom.get("name")), call_id, {"args": raw({"input": custom.get("input")})}
    # AgentDojo: `function` is the name and `args` an object; tau2-bench: `name` and `arguments`.
    name = function if isinstance(function, str) else call.get("name")
    return _word(name), call_id, _args(call.get("args", call.get("arguments")))


def _args(arguments: Json) -> dict[str, Any]:
    if arguments is None:
        return {}
    if not isinstance(arguments, str):
        return {"args": raw(arguments)}
    # A call without parameters is sent with an empty text.
    if not arguments.strip():
        return {"args": raw({})}
    try:
        return {"args": compact(arguments)}
    except Unreadable:
        return {"args_raw": arguments}


def _text(message: Message, scribe: Scribe) -> str:
    content = message.get("content")
    # Some producers show each call twice, as a block too; without `tool_calls` a block is all there is.
    parts = content if isinstance(content, list) and not message.get("tool_calls") else []
    for part in parts:
        kind = str(part.get("type", "")) if isinstance(part, dict) else ""
        if "tool" in kind.lower() or "function" in kind.lower():
            wrong_format(scribe, kind)
    return flat_text(content, scribe.skip, *_TEXTS)


def _word(value: Json) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


ADAPTER: Adapter = OpenAIChat()
