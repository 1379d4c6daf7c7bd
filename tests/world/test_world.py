"""A world carries out calls and writes down what it did."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from outstep import codec
from outstep.events import Context, RunEnd, State, ToolCall, ToolResult
from outstep.world.tools import Reply, Tool
from outstep.world.world import Around, World


class Counter:
    """Adds up; what a call says is added to the state."""

    tools = (
        Tool(
            name="add",
            effect="write",
            parameters={"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
        ),
    )

    def act(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> tuple[Reply, Any]:
        del tool, around
        after = {"sum": state["sum"] + args["n"]}
        return Reply(data=after, seconds=0.5), after

    def key(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> str | None:
        del state, tool, around
        return args.get("key")


def world(**more: Any) -> World:
    return World(Counter(), {"sum": 0}, **more)


def test_a_call_changes_the_state_and_both_are_in_the_record() -> None:
    tried = world()
    assert tried.call("add", {"n": 2}, "c1") == Reply(data={"sum": 2}, seconds=0.5)
    assert tried.snapshot() == {"sum": 2}
    _, first, call, after, result, end = tried.record.events(id="run")
    assert isinstance(first, State)
    assert isinstance(call, ToolCall)
    assert isinstance(after, State)
    assert isinstance(result, ToolResult)
    assert (bytes(call.args), bytes(after.state), bytes(result.data)) == (b'{"n":2}', b'{"sum":2}', b'{"sum":2}')
    assert (result.call, result.call_id, result.time) == (call.seq, "c1", 0.5)
    assert end == RunEnd(seq=4, end="completed")


def test_a_call_that_fits_no_tool_or_schema_is_refused_and_recorded() -> None:
    tried = world()
    unknown = tried.call("ad", {"n": 2})
    misfit = tried.call("add", {"n": "two"})
    no_object = tried.call("add", [1])
    assert [reply.outcome for reply in (unknown, misfit, no_object)] == ["failed"] * 3
    assert unknown.data["message"] == "there is no tool called ad; did you mean `add`?"
    assert misfit.data["message"] == "/n: 'two' is not of type 'integer'"
    assert sum(isinstance(event, ToolCall) for event in tried.record.events()) == 3
    assert tried.snapshot() == {"sum": 0}


def test_a_key_makes_a_call_happen_once() -> None:
    tried = world()
    first = tried.call("add", {"n": 2, "key": "k"})
    assert tried.call("add", {"n": 2, "key": "k"}) == first
    assert tried.call("add", {"n": 3, "key": "k"}).data["error"] == "idempotency-conflict"
    assert tried.snapshot() == {"sum": 2}


def test_nothing_sleeps_unless_asked() -> None:
    slept: list[float] = []
    world(sleep=slept.append).call("add", {"n": 1})
    assert slept == [0.5]


def test_a_fault_is_named_in_the_record_and_not_in_the_reply() -> None:
    class Twice:
        kind = "duplicate"

        def fits(self, *_: Any) -> bool:
            return True

        def happen(self, act: Any, state: Any, earlier: Any) -> tuple[Reply, Any]:
            del earlier
            reply, after = act(state)
            return reply, act(after)[1]

    tried = world(faults=[Twice()])
    assert tried.call("add", {"n": 2}).data == {"sum": 2}
    assert tried.snapshot() == {"sum": 4}
    faults = [event for event in tried.record.events() if isinstance(event, Context)]
    assert [fault.name for fault in faults] == ["duplicate"]


def test_what_an_agent_reads_is_the_text_or_the_value() -> None:
    reply = Reply(data={"a": [1, None]})
    assert reply.shown() == '{"a":[1,null]}'
    assert replace(reply, text="cut").shown() == "cut"
    assert codec.loads(reply.shown()) == {"a": [1, None]}
