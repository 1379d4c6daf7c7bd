"""Events: what an agent did, in normal form (docs/events.md)."""

from __future__ import annotations

from outstep.events.ends import Gap, RunEnd
from outstep.events.messages import AssistantMessage, Decision, UserMessage
from outstep.events.surroundings import Approval, Context, State
from outstep.events.tools import Caller, Joined, Outcome, ToolCall, ToolResult
from outstep.events.trace import EVENT_TYPES, SCHEMA, Header, Lane, Metric, Source

Event = UserMessage | AssistantMessage | Decision | ToolCall | ToolResult | Approval | Context | State | Gap | RunEnd

Issued = (Decision, ToolCall, AssistantMessage)
"""What a model response (or a program) produced (SEMANTICS section 1)."""

Delivered = (ToolResult, UserMessage, Context, Approval)
"""What came to a lane."""

__all__ = [
    "EVENT_TYPES",
    "SCHEMA",
    "Approval",
    "AssistantMessage",
    "Caller",
    "Context",
    "Decision",
    "Delivered",
    "Event",
    "Gap",
    "Header",
    "Issued",
    "Joined",
    "Lane",
    "Metric",
    "Outcome",
    "RunEnd",
    "Source",
    "State",
    "ToolCall",
    "ToolResult",
    "UserMessage",
]
