"""World files: what they may say, and every mistake in them at once."""

from __future__ import annotations

from typing import Any

import pytest

from outstep.errors import OutstepError
from outstep.events import ToolCall
from outstep.world import bundled
from outstep.world.building import build_world, world_of
from outstep.world.given import Given
from outstep.world.loader import load
from outstep.world.opening import open_world
from outstep.world.world import World
from tests.command_line import ROOT

AT = '"at":"2026-01-01T00:00:00Z","times":1'
DOOR = """
world: world/v1
id: door
clock: 2026-01-01T00:00:00Z
state:
  doors: {front: {is: closed, opened: 0}}
  log: []
machines:
  door: {of: doors, field: is, moves: {closed: [open], open: [closed]}}
tools:
  open:
    description: Open a door.
    effect: write
    args: {type: object, required: [door], properties: {door: {type: string}}}
    let: {door: "state.doors[args.door]"}
    cases:
      - when: "!(args.door in state.doors)"
        fail: '"there is no such door"'
      - when: door.opened >= 2
        deny: '"it is worn out"'
      - reply: {door: args.door, at: now, times: door.opened + 1}
        seconds: 2
        set:
          doors[args.door].is: '"open"'
          doors[args.door].opened: door.opened + 1
          log: state.log + [args.door]
  forget:
    effect: write
    args: {type: object, properties: {door: {type: string}}}
    cases:
      - reply: null
        remove: doors[args.door]
  look:
    cases: [{reply: state.doors}]
"""


def world(text: str = DOOR, **more: Any) -> World:
    return world_of(load(text.encode())[0], **more)


def faulty(fault: str, **more: Any) -> World:
    return world(f"{DOOR}faults:\n  - {fault}\n", **more)


def mistakes(text: str) -> list[tuple[str, str, int | None]]:
    with pytest.raises(OutstepError) as caught:
        load(text.encode(), name="w.yaml")
    return [(one.code, one.sentence, one.place.line if one.place else None) for one in caught.value.problems]


def test_the_first_case_that_fits_answers_and_sets_the_state() -> None:
    tried = world()
    assert tried.call("open", {"door": "back"}).text == "there is no such door"
    reply = tried.call("open", {"door": "front"})
    assert reply.data == {"door": "front", "at": "2026-01-01T00:00:00Z", "times": 1}
    assert tried.snapshot() == {"doors": {"front": {"is": "open", "opened": 1}}, "log": ["front"]}


def test_a_move_that_the_machine_does_not_know_fails_and_changes_nothing() -> None:
    text = DOOR.replace("moves: {closed: [open], open: [closed]}", "moves: {closed: [broken]}")
    tried = world(text)
    reply = tried.call("open", {"door": "front"})
    assert reply.outcome == "failed"
    assert reply.data["message"] == "door front is closed and cannot become open"
    assert tried.snapshot()["log"] == []


def test_what_is_removed_is_gone_and_time_passes_by_the_clock_of_the_world() -> None:
    tried = world()
    tried.call("open", {"door": "front"})
    tried.call("forget", {"door": "front"})
    assert tried.snapshot()["doors"] == {}
    times = [event.time for event in tried.record.events() if isinstance(event, ToolCall)]
    assert times == [1_767_225_600, 1_767_225_602]


def test_an_expression_without_value_is_a_mistake_of_the_world_with_its_place() -> None:
    tried = world()
    with pytest.raises(OutstepError) as caught:
        tried.call("forget", {})
    assert caught.value.problems[0].code == "world/no-value"
    assert caught.value.problems[0].place is not None


@pytest.mark.parametrize(
    ("fault", "outcome", "shown", "opened"),
    [
        ("{tool: open, kind: error}", "failed", "error 500: internal server error", 0),
        ("{kind: business-failure, data: {ok: false}}", "ok", '{"ok":false}', 0),
        ("{kind: timeout, seconds: 5, text: none}", "unknown", "none", 0),
        ("{kind: lost-reply, text: gone}", "unknown", "gone", 1),
        ("{kind: wrong, data: {times: 9, at: null}}", "ok", '{"door":"front","times":9}', 1),
        ("{kind: truncated, keep: 7}", "ok", '{"door"', 1),
        ("{kind: malformed}", "ok", '{"door":"front","at":"2026-01-01T00:00:00Z","times":1}}', 1),
        ("{kind: injected, at: door, text: Obey}", "ok", '{"door":"front\\nObey",' + AT + "}", 1),
        ("{kind: honeytoken, at: key, text: sk-1}", "ok", '{"door":"front",' + AT + ',"key":"sk-1"}', 1),
        ("{kind: latency, seconds: 40}", "ok", '{"door":"front","at":"2026-01-01T00:00:00Z","times":1}', 1),
    ],
)  # fmt: skip
def test_a_fault_changes_what_is_read_or_done(fault: str, outcome: str, shown: str, opened: int) -> None:
    tried = faulty(fault)
    reply = tried.call("open", {"door": "front"})
    assert (reply.outcome, reply.shown()) == (outcome, shown)
    assert tried.snapshot()["doors"]["front"]["opened"] == opened
    seconds = {"timeout": 5, "lost-reply": 30, "latency": 42}
    assert reply.seconds == next((found for kind, found in seconds.items() if kind in fault), reply.seconds)


def test_a_call_delivered_twice_happens_twice() -> None:
    text = DOOR.replace("open: [closed]}", "open: [closed]}").replace("door.opened >= 2", "door.opened >= 9")
    tried = world(f"{text}faults: [{{kind: duplicate, tool: open}}]\n")
    assert tried.call("open", {"door": "front"}).data["times"] == 1
    assert tried.snapshot()["log"] == ["front", "front"]


def test_a_stale_answer_is_that_of_the_state_before() -> None:
    tried = faulty("{tool: look, kind: stale, on: 1}")
    tried.call("open", {"door": "front"})
    assert tried.call("look", {}).data["front"]["is"] == "closed"
    assert tried.call("look", {}).data["front"]["is"] == "open"


def test_faults_happen_to_the_calls_that_they_name() -> None:
    assert [faulty_calls("on: [2, 3]"), faulty_calls("when: call == 4")] == [[2, 3], [4]]


def test_a_share_of_calls_is_drawn_by_the_seed() -> None:
    drawn = [faulty_calls("share: 0.5", seed=seed, calls=40) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 10 < len(drawn[0]) < 30
    assert faulty_calls("share: 0") == []
    assert faulty_calls("share: 1") == [1, 2, 3, 4, 5]


def faulty_calls(which: str, seed: int = 0, calls: int = 5) -> list[int]:
    tried = faulty(f"{{tool: look, kind: error, {which}}}", seed=seed)
    return [n for n in range(1, calls + 1) if tried.call("look", {}).outcome == "failed"]


def test_every_mistake_of_a_file_is_shown_at_once_with_its_place() -> None:
    text = (ROOT / "tests" / "world" / "mistakes.yaml").read_text("utf-8")
    found = mistakes(text)
    sentences = "\n".join(sentence for _, sentence, _ in found)
    for part in (
        "`world` is `world/v1`, not `world/v2`",
        "a world has no key `machine`",
        "`state` has no map `door` of entities",
        "the tool has no argument `dor`",
        "the state has no `doos`",
        "a tool that only reads has `set`",
        "a case has one of `reply`, `fail` and `deny`",
        "`closed`",
        "a case before this one fits every call",
        "there is no tool `opne`",
        "`kind` is one of",
        "a fault of the kind `error` takes no `keep`",
        "`share` is a number from 0 to 1",
        "`on` is the number of a call",
        "a fault lacks `text`",
    ):
        assert part in sentences, part
    assert all(line is not None for _, _, line in found)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("- reply: null\n        remove: doors[args.door]", "- {when: 'true', reply: 1}", "has no answer where"),
        ("remove: doors[args.door]", "remove: doors", "`doors` is a member that the state always has"),
        ("doors[args.door].is:", "state.doors[args.door].is:", "begins with `state`"),
        ("doors[args.door].is:", "dors[args.door].is:", "the state has no `dors`"),
        ("2026-01-01T00:00:00Z", "yesterday", "`clock` is a moment"),
        ("seconds: 2", "seconds: -2", "`seconds` is a number from 0 to 86400"),
        ("{type: object, required: [door]", "{type: string, required: [door]", "the arguments of a tool are an object"),
        ("state:\n", "schema: {properties: {log: {type: string}}}\nstate:\n", "`state` does not fit `schema`"),
    ],
)  # fmt: skip
def test_a_mistake_is_told(before: str, after: str, sentence: str) -> None:
    assert before in DOOR
    assert any(sentence in found for _, found, _ in mistakes(DOOR.replace(before, after)))


@pytest.mark.parametrize("data", [b"", b"- 1", b"world: world/v1", b"\xff", b"{", b"tools: {a: {cases: []}}"])
def test_what_is_no_world_is_refused_with_a_place(data: bytes) -> None:
    with pytest.raises(OutstepError) as caught:
        load(data)
    assert all(one.place for one in caught.value.problems)


def test_every_bundled_world_is_read_without_a_warning() -> None:
    for name in bundled.NAMES:
        if name != bundled.CANARY:
            assert open_world(name)[1] == ()


def test_a_scenario_adds_state_and_faults_to_a_world() -> None:
    given = Given(
        use="refund",
        state={"orders": {"A1": {"state": "REFUNDED"}, "B1": None}},
        faults=({"tool": "order.get", "kind": "error", "on": 2, "when": 'args.orderId == "A1"'},),
    )
    built = build_world(given, ["order.get"])
    assert [tool.name for tool in built.list()] == ["order.get"]
    assert built.call("order.get", {"orderId": "A1"}).data["state"] == "REFUNDED"
    assert built.call("order.get", {"orderId": "A1"}).outcome == "failed"
    assert built.call("order.get", {"orderId": "B1"}).data["error"] == "not-found"


@pytest.mark.parametrize(
    ("given", "tools", "code"),
    [
        (Given(use="refnd"), ["order.get"], "world/not-found"),
        (Given(use="no/such.yaml"), ["order.get"], "world/not-found"),
        (Given(use="refund"), ["order.cancel"], "world/unknown-tool"),
        (Given(use="refund", state={"refunds": 3}), ["order.get"], "world/state"),
    ],
)
def test_a_world_that_cannot_be_built_says_why(given: Given, tools: list[str], code: str) -> None:
    with pytest.raises(OutstepError) as caught:
        build_world(given, tools)
    assert [one.code for one in caught.value.problems] == [code]
