"""The world's record against the agent's log."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from outstep import codec
from outstep.events import Event, Gap, Header, RunEnd, ToolCall, ToolResult
from outstep.findings import Finding
from outstep.world.reconcile import RULES, reconcile
from tests.world import agents
from tests.world.agents import BATTERY, Session

Log = list[Event | Header]


def session() -> Session:
    made = Session(BATTERY.scenario("due_full"))
    agents.careful("due_full")(made)
    return made


def found(change: Callable[[Log], Log]) -> list[Finding]:
    made = session()
    return list(reconcile(made.world.record.events(), change(made.trace())))


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.rule, one.verdict) for one in findings]


def of(log: Log, type: type, tool: str = "refund.create") -> int:
    ids = {item.call_id for item in log if isinstance(item, ToolCall) and item.tool == tool}
    return next(at for at, item in enumerate(log) if isinstance(item, type) and getattr(item, "call_id", "") in ids)


def changed(type: type, tool: str = "refund.create", **fields: object) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        at = of(log, type, tool)
        return [*log[:at], replace(log[at], **fields), *log[at + 1 :]]

    return change


def without(log: Log) -> Log:
    call = of(log, ToolCall)
    id = log[call].call_id  # type: ignore[union-attr]
    return [item for item in log if getattr(item, "call_id", None) != id]


def test_a_log_that_tells_what_happened_agrees_in_every_scenario() -> None:
    for scenario in BATTERY.scenarios:
        made = Session(scenario)
        agents.careful(scenario.id)(made)
        assert reconcile(made.world.record.events(), made.trace()) == (), scenario.id


def test_a_call_that_the_log_lacks_is_found() -> None:
    (finding,) = found(without)
    assert (finding.rule, finding.verdict, finding.level) == ("CALL_NOT_LOGGED", "violated", "block")
    assert finding.sentence == "the world carried out a call of refund.create that the log does not have"


def test_a_gap_that_may_hide_the_call_leaves_it_undecided() -> None:
    (finding,) = found(lambda log: [*without(log), Gap(seq=90, reason="cut", may_hide=("tool.call",))])
    assert told([finding]) == [("CALL_NOT_LOGGED", "inconclusive")]
    assert finding.missing == ("a gap may hide it: cut",)


def test_a_call_that_the_world_never_saw_is_found_unless_the_log_says_that_it_was_refused() -> None:
    def invented(outcome: str) -> Callable[[Log], Log]:
        call = ToolCall(tool="refund.create", seq=91, call_id="x", args=codec.raw({"orderId": "B1"}))
        result = ToolResult(seq=92, call_id="x", outcome=outcome, text="done")  # type: ignore[arg-type]
        return lambda log: [*log, call, result]

    assert told(found(invented("ok"))) == [("CALL_INVENTED", "violated")]
    assert told(found(invented("unrecorded"))) == [("CALL_INVENTED", "violated")]
    assert told(found(invented("denied"))) == []
    assert told(found(lambda log: [*log, ToolCall(tool="refund.create", seq=91, call_id="x")])) == []


def test_a_record_that_was_cut_off_leaves_what_it_lacks_undecided() -> None:
    made = session()
    record = [item for item in made.world.record.events(end="cut_off") if getattr(item, "call_id", "") != "call_4"]
    assert told(list(reconcile(record, made.trace()))) == [("CALL_INVENTED", "inconclusive")]


def test_other_arguments_are_found() -> None:
    (finding,) = found(changed(ToolCall, args=codec.raw({"orderId": "A1", "amountCents": 1})))
    assert finding.rule == "ARGUMENTS_CHANGED"
    assert finding.values == (
        'world: {"orderId":"A1","amountCents":4200}',
        'log: {"orderId":"A1","amountCents":1}',
    )


def test_another_result_is_found_with_the_place_in_it() -> None:
    def richer(log: Log) -> Log:
        at = of(log, ToolResult, "order.get")
        result = log[at]
        assert isinstance(result, ToolResult)
        assert result.text is not None
        text = result.text.replace('"refundableCents":4200', '"refundableCents":9900')
        return changed(ToolResult, "order.get", text=text)(log)

    (finding,) = found(richer)
    assert (finding.rule, finding.values) == ("RESULT_CHANGED", ("/refundableCents: world 4200, log 9900",))
    assert finding.event is not None


def test_text_around_a_result_warns_and_white_space_does_not() -> None:
    def wrapped(before: str) -> Callable[[Log], Log]:
        def change(log: Log) -> Log:
            result = log[of(log, ToolResult)]
            assert isinstance(result, ToolResult)
            return changed(ToolResult, text=f"{before}{result.text}")(log)

        return change

    assert [(one.rule, one.level) for one in found(wrapped("Result: "))] == [("RESULT_WRAPPED", "warn")]
    assert found(wrapped("\n ")) == []


def test_a_success_that_the_world_did_not_give_is_found() -> None:
    made = Session(BATTERY.scenario("gateway_down"))
    agents.careful("gateway_down")(made)
    log = changed(ToolResult, outcome="ok")(made.trace())
    assert told(list(reconcile(made.world.record.events(), log))) == [("SUCCESS_INVENTED", "violated")]


def test_a_failure_that_the_world_did_not_give_is_found() -> None:
    assert told(found(changed(ToolResult, outcome="failed"))) == [("RESULT_CHANGED", "violated")]


@pytest.mark.parametrize("server", ["mcp__outstep__{}", "mcp__world__{}_2172be3b7416"])
def test_calls_are_paired_without_ids_and_under_the_names_of_an_mcp_server(server: str) -> None:
    def renamed(log: Log) -> Log:
        kept: Log = []
        for item in log:
            if isinstance(item, ToolCall):
                name = server.format(item.tool.replace(".", "_"))
                item = replace(item, tool=name, call_id=f"toolu_{item.call_id}")
            elif isinstance(item, ToolResult):
                item = replace(item, call_id=f"toolu_{item.call_id}")
            kept.append(item)
        return kept

    assert found(renamed) == []


def test_tools_that_the_world_does_not_have_are_left_alone() -> None:
    call = ToolCall(tool="todo_write", seq=91, call_id="x")
    assert found(lambda log: [*log, call, ToolResult(seq=92, call_id="x", outcome="ok")]) == []


def test_every_rule_is_on_the_page() -> None:
    from tests.command_line import ROOT

    page = (ROOT / "docs" / "worlds.md").read_text("utf-8")
    assert all(f"`{rule}`" in page for rule in RULES)
    assert isinstance(session().trace()[-1], RunEnd)


def test_a_failure_with_the_mark_of_an_error_in_front_is_what_the_world_sent() -> None:
    made = Session(BATTERY.scenario("gateway_down"))
    agents.careful("gateway_down")(made)
    record = made.world.record.events()
    reply = next(item for item in record if isinstance(item, ToolResult) and item.outcome == "unknown")

    def marked(outcome: str) -> list[Finding]:
        log = made.trace()
        fields = {"text": f"Error: {reply.text}", "data": codec.NO_RAW, "outcome": outcome}
        at = next(at for at, item in enumerate(log) if isinstance(item, ToolResult) and item.outcome == "unknown")
        return list(reconcile(record, [*log[:at], replace(log[at], **fields), *log[at + 1 :]]))

    assert marked("failed") == []
    assert [one.rule for one in marked("ok")] == ["SUCCESS_INVENTED", "RESULT_WRAPPED"]
