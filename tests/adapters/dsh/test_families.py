"""Sessions that belong together."""

from __future__ import annotations

from typing import Any

from outstep.adapters.base import Batch
from outstep.events import Context, Gap, Lane, RunEnd, ToolCall, ToolResult, UserMessage
from tests.adapters.dsh.support import Script, header, read


def child(id: str = "child", *, task: str = "Look it up.", turns: int = 1, **head: Any) -> Script:
    script = Script(id=id, parentSession="s", origin="subagent", **head)
    script.user(task)
    for turn in range(1, turns + 1):
        script.turn(turn)
        script.call("look_up", id=f"l{turn}", turn=turn)
        script.end(turn=turn)
    return script


def parent(text: str, *, task: str = "Look it up.", **args: Any) -> Script:
    script = Script()
    script.turn()
    call = script.call("subagent", args={"prompt": task, "description": "look", **args})
    script.result(text, call)
    return script


def told(batch: Batch) -> list[str]:
    """Each event as `lane type`."""
    return [f"{getattr(event, 'agent', None) or '-'} {type(event).__name__}" for event in batch[1:]]


def family(*scripts: Script) -> Batch:
    given = [script.document(f"{script.head['id']}/session.v4.jsonl") for script in scripts]
    traces, log = read(given)
    assert log.faults == []
    assert len(traces) == 1
    assert traces == read(given[::-1])[0]
    return traces[0]


def test_a_childs_first_message_comes_from_its_parent() -> None:
    root = parent("done")
    root.end()
    batch = family(root, child())
    assert not [event for event in batch if isinstance(event, UserMessage)]
    assert [(event.what, event.name) for event in batch if isinstance(event, Context)] == [("delegation", "s")]


def test_an_awaited_child_is_found_by_its_task() -> None:
    root = Script()
    calls = [root.call("subagent", id=task, args={"prompt": task}) for task in ("one", "two")]
    for call, task in zip(calls, ("one", "two"), strict=True):
        root.result("done", call, id=task)
    root.end()
    batch = family(root, child("b", task="one", createdAt=3), child("a", task="two", createdAt=2))
    assert header(batch).lanes == (Lane(id="b", parent="main", call="one"), Lane(id="a", parent="main", call="two"))


def test_a_background_child_is_told_turn_by_turn() -> None:
    root = parent("started subagent child")
    for _ in range(2):
        root.user("It has settled.", kind="subagent-settled", senderSessionId="child")
    root.end()
    assert told(family(root, child(turns=3)))[2:] == [
        "child Context",
        "child ToolCall",
        "main Context",
        "child ToolCall",
        "main Context",
        "child ToolCall",
        "- RunEnd",
    ]


def test_a_background_child_of_an_early_release_stands_at_the_end() -> None:
    root = parent("job-1", run_in_background=True)
    root.say("I go on.", step=2)
    root.end()
    batch = family(root, child())
    assert told(batch)[-3:] == ["child Context", "child ToolCall", "- RunEnd"]
    assert header(batch).lanes == (Lane(id="child", parent="main", call="c"),)


def test_a_child_without_a_log_may_have_done_anything() -> None:
    for text in ("started subagent child", "done"):
        root = parent(text)
        root.end()
        batch = family(root)
        lane = header(batch).lanes[0]
        assert (lane.parent, lane.call) == ("main", "c")
        gap = next(event for event in batch if isinstance(event, Gap))
        assert (gap.agent, gap.turn, gap.may_hide) == (lane.id, None, ())
        assert "is not among the documents" in gap.reason


def test_a_child_that_could_not_be_started_hides_nothing() -> None:
    root = Script()
    call = root.call("subagent", args={"prompt": "x"})
    root.result("Error: too deep", call, failed=True)
    root.end()
    assert not [event for event in family(root) if isinstance(event, Gap)]


def test_a_child_whose_version_is_refused_is_a_fault_and_a_gap() -> None:
    root = parent("started subagent child")
    root.end()
    newer = child()
    newer.head["version"] = 9
    traces, log = read([root.document("a.jsonl"), newer.document("b.jsonl")])
    assert [fault.code for fault in log.faults] == ["adapter/unpinned-version"]
    gap = next(event for event in traces[0] if isinstance(event, Gap))
    assert (gap.agent, gap.reason) == ("child", "the log of sub-agent `child` was refused")


def test_a_child_that_stops_in_a_turn_hides_only_its_own_rest() -> None:
    root = parent("started subagent child")
    root.end()
    cut = child()
    cut.rows.pop()
    batch = family(root, cut)
    assert [(gap.agent, gap.turn) for gap in batch if isinstance(gap, Gap)] == [("child", 1), ("child", None)]
    end = batch[-1]
    assert isinstance(end, RunEnd)
    assert end.end == "completed"


def test_an_unlinked_child_is_a_lane_without_parent() -> None:
    root = Script()
    root.say("Hello.")
    root.end()
    batch = family(root, child())
    assert header(batch).lanes == (Lane(id="child"),)


def test_a_child_without_its_parent_is_a_trace_of_its_own() -> None:
    batch = family(child())
    assert header(batch).id == "child"
    assert header(batch).lanes == ()


def test_inherited_history_is_read_once() -> None:
    root = Script()
    first = root.call("order_get", id="o")
    root.result("found", first, id="o")
    root.end()
    seeded = Script(id="child", parentSession="s", origin="subagent", isSeeded=True)
    seeded.rows = [dict(row) for row in root.rows]
    seeded.row("session/end-seed", {"inherited": True})
    seeded.user("Look it up.")
    seeded.call("look_up", step=2)
    seeded.end()
    call = root.call("subagent_fork", args={"prompt": "Look it up."}, step=2)
    root.result("done", call, step=2)
    root.end()
    batch = family(root, seeded)
    assert [event.tool for event in batch if isinstance(event, ToolCall)] == ["order_get", "subagent_fork", "look_up"]
    assert [event.tool for event in family(seeded) if isinstance(event, ToolCall)] == ["order_get", "look_up"]


def test_a_session_forked_by_a_person_is_a_branch() -> None:
    root = Script(0)
    call = root.call("order_get")
    root.result("found", call)
    root.end()
    fork = Script(0, id="fork", parentSession="s", seedLength=3)
    fork.rows = [dict(row) for row in root.rows]
    fork.user("Try something else.")
    fork.turn(2)
    fork.end(turn=2)
    root.call("refund", id="r", step=2)
    root.end()
    batch = family(root, fork)
    result = next(event for event in batch if isinstance(event, ToolResult))
    assert header(batch).lanes == (Lane(id="fork", kind="branch", parent="main", forked_at=result.seq),)
    assert [event.text for event in batch if isinstance(event, UserMessage)] == ["Try something else."]


def test_a_sub_agent_of_a_program_belongs_to_the_program() -> None:
    root = Script()
    call = root.call("run_code", id="p")
    nested = {"rootCallId": "p", "parentCallId": "p", "subCallId": "p:ptc:1", "name": "subagent"}
    asked = {**nested, "arguments": {"prompt": "Look it up."}}
    root.row("tool/ptc-dispatch-start", asked)
    root.row("tool/ptc-dispatch", {**asked, "isError": False, "content": [{"type": "text", "text": "done"}]})
    root.result("done", call, id="p")
    root.end()
    assert header(family(root, child())).lanes == (
        Lane(id="program:p", kind="program", parent="main", call="p"),
        Lane(id="child", parent="program:p", call="p:ptc:1"),
    )


def test_sessions_of_different_runs_that_share_an_id_are_told_apart() -> None:
    one, other = Script(createdAt=1), Script(createdAt=2)
    for script in (one, other):
        script.say("Hello.")
        script.end()
    traces, log = read([other.document("b/session.jsonl"), one.document("a/session.jsonl")])
    assert log.faults == []
    assert [header(batch).id for batch in traces] == ["s", "s#2"]
    assert [header(batch).sources[0].uri for batch in traces] == ["a/session.jsonl", "b/session.jsonl"]


def test_two_logs_of_one_session_that_differ_are_both_read() -> None:
    one, other = Script(), Script()
    one.say("Hello.")
    other.say("Bye.")
    traces, _ = read([one.document("a/session.jsonl"), other.document("b/session.jsonl")])
    assert len(traces) == 2


def test_sessions_that_are_each_others_parents_are_roots() -> None:
    one, other = Script(id="a", parentSession="b"), Script(id="b", parentSession="a")
    own = Script(id="c", parentSession="c")
    traces, _ = read([script.document(f"{script.head['id']}.jsonl") for script in (one, other, own)])
    assert [header(batch).id for batch in traces] == ["a", "b", "c"]


def test_a_long_chain_of_children_is_read_without_end_of_stack() -> None:
    scripts = []
    for number in range(300):
        script = Script(id=str(number), parentSession=str(number - 1), origin="subagent", createdAt=number)
        script.call("subagent", args={"prompt": "x"})
        script.result(f"started subagent {number + 1}", 0)
        script.end()
        scripts.append(script)
    traces, log = read([script.document(f"{script.head['id']}/session.jsonl") for script in scripts])
    assert log.faults == []
    read_calls = [event for batch in traces for event in batch if isinstance(event, ToolCall)]
    assert len(read_calls) == 300
