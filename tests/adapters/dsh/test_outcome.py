"""What a result says about its call."""

from __future__ import annotations

import pytest

from outstep.adapters.dsh.outcome import outcome_of, settled
from outstep.events import Approval, Context, ToolResult
from tests.adapters.dsh.support import Script

SANDBOX = "[sandbox: file access denied under workspace-write mode]"
RETRY = "[sandbox: escalation available — retry this exact command once]"
SPILL = "(Omitted 14296 bytes. Full formatted result stored at: /tmp/spill/x.txt. Use read with offset/limit)"
TRUNCATED = "[output truncated; full output: /tmp/out.log]"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("ok\n", ("ok", 0)),
        ("", ("ok", 0)),
        ("(no output)", ("ok", 0)),
        ("F..\n1 failed\n[exit code: 1]", ("failed", 1)),
        ("[exit code: 127]", ("failed", 127)),
        ("[exit code: 0]", ("ok", 0)),
        ("[exit code: -1]", ("failed", -1)),
        # What the command wrote itself ends with a line end, or stands further up.
        ("[exit code: 3]\n", ("ok", 0)),
        ("see [exit code: 3] above", ("ok", 0)),
        ("[exit code: 3]\nall good\n", ("ok", 0)),
        ("[timed out after 5ms]\ndone\n", ("ok", 0)),
        ("(no output)\n[timed out after 1000ms]\n[killed by signal: SIGTERM]", ("unknown", None)),
        ("x\n[killed by signal: SIGKILL]", ("unknown", None)),
        ("x\n[timed out after 1000ms]\n[exit code: 143]", ("unknown", 143)),
        (f"[stderr]\nread-only\n{SANDBOX}\n{RETRY}\n[exit code: 1]", ("denied", 1)),
        (f"[stderr]\nread-only\n{SANDBOX}\n{RETRY}", ("denied", None)),
        (f"{SANDBOX}\nnot the last lines\n[exit code: 2]", ("failed", 2)),
        (f"log\n\n{TRUNCATED}\n\n{SPILL}", ("ok", 0)),
        (f"log\n[exit code: 2]\n\n{TRUNCATED}\n\n{SPILL}", ("failed", 2)),
        (f"log\n\n{TRUNCATED}\n[exit code: 2]", ("failed", 2)),
        (
            "[still running after 1000ms; moved to background job bash-1]\nThe command keeps running in the background."
            " You will be notified.",
            ("unknown", None),
        ),
    ],
)
def test_the_last_lines_of_a_command_tell_its_outcome(text: str, outcome: tuple[str, int | None]) -> None:
    assert outcome_of("bash", False, "", text, refused=False) == outcome


def test_other_tools_have_no_last_lines() -> None:
    assert outcome_of("read", False, "", "x\n[exit code: 3]", refused=False) == ("ok", None)


@pytest.mark.parametrize(
    ("code", "text", "refused", "outcome"),
    [
        ("", "Error: gateway", False, "failed"),
        ("FS_NOT_FOUND", "Error: not found", False, "failed"),
        ("FS_SANDBOX_DENIED", "Error: no", False, "denied"),
        ("", f"Error: {SANDBOX}", False, "denied"),
        ("", f"Error: the file says {SANDBOX}", False, "failed"),
        ("", "Error: the user rejected this call", True, "denied"),
        ("TOOL_OUTCOME_UNKNOWN", "interrupted", False, "unknown"),
        ("TOOL_TIMEOUT", "Error: timed out", False, "unknown"),
        ("ABORTED", "Error: aborted", False, "unknown"),
        ("ABORTED_BEFORE_DISPATCH", "Error: aborted", False, "failed"),
        ("TOOL_NOT_STARTED", "not started", False, "failed"),
    ],
)
def test_an_error_is_failed_denied_or_unknown(code: str, text: str, refused: bool, outcome: str) -> None:
    assert outcome_of("write", True, code, text, refused=refused) == (outcome, None)


def test_the_record_of_a_job_outranks_what_the_command_wrote() -> None:
    assert outcome_of("bash", False, "", "[exit code: 3]", refused=False, job="exit code: 0") == ("ok", 0)
    assert outcome_of("bash", False, "", "fine", refused=False, job="exit code: 4") == ("failed", 4)
    assert settled("completed", "exit code: 0") == ("ok", 0)
    assert settled("completed", f"exit code: 1; {SANDBOX}") == ("denied", 1)
    assert settled("failed", "killed") == ("unknown", None)


def results(script: Script) -> list[ToolResult]:
    return [event for event in script.events() if isinstance(event, ToolResult)]


def job(script: Script, kind: str, **more: str) -> None:
    script.row(f"job/{kind}", {"jobId": "j", "kind": "bash", "toolCall": {"callId": "c", "rootCallId": "c"}, **more})


def test_a_background_command_that_never_ends_is_unknown() -> None:
    script = Script()
    call = script.call("bash", args={"command": "sleep 9", "run_in_background": True})
    script.result("started job j", call)
    script.end()
    assert [result.outcome for result in results(script)] == ["unknown"]


def test_a_background_command_has_its_result_where_it_ends() -> None:
    script = Script()
    call = script.call("bash", args={"command": "make"})
    job(script, "registered")
    script.result(
        "[still running after 5ms; moved to background job j]\nThe command keeps running in the background.", call
    )
    script.say("I go on.", step=2)
    job(script, "settled", status="completed", detail="exit code: 2")
    script.end()
    events = script.events()
    assert [type(event).__name__ for event in events] == [
        "ToolCall",
        "Context",
        "Decision",
        "AssistantMessage",
        "ToolResult",
        "RunEnd",
    ]
    assert isinstance(told := events[1], Context)
    assert (told.what, told.name) == ("job", "j")
    assert isinstance(late := events[4], ToolResult)
    assert (late.outcome, late.exit, late.call, late.turn) == ("failed", 2, 1, 1)


def test_a_refused_approval_denies_only_if_the_call_failed() -> None:
    for failed, outcome in ((True, "denied"), (False, "ok")):
        script = Script()
        call = script.call("refund")
        script.row("approval/asked", {"id": "a", "toolName": "refund", "callId": "c"})
        script.row("approval/decided", {"id": "a", "outcome": "rejected"})
        script.result("Error: no" if failed else "done", call, failed=failed)
        script.end()
        assert [result.outcome for result in results(script)] == [outcome]
        assert [event.decision for event in script.events() if isinstance(event, Approval)] == ["asked", "denied"]


@pytest.mark.parametrize("outcome", ["rejected", "cancelled", "unavailable"])
def test_everything_but_a_permission_is_a_denial(outcome: str) -> None:
    script = Script()
    script.call("refund")
    script.row("approval/asked", {"id": "a", "toolName": "refund", "callId": "c"})
    script.row("approval/decided", {"id": "a", "outcome": outcome})
    decided = [event for event in script.events() if isinstance(event, Approval)][-1]
    assert (decided.decision, decided.call_id, decided.tool, decided.turn) == ("denied", "c", "refund", 1)


def test_a_hook_denies_the_call_that_waits() -> None:
    script = Script(0)
    first = script.call("refund")
    script.row("hook/result", {"turn": 1, "point": "PreToolUse", "decision": "block", "stderrSummary": "never"})
    script.result("Error: never", first, failed=True)
    second = script.call("refund", step=2)
    script.row("hook/result", {"turn": 1, "point": "PreToolUse", "decision": "pass"})
    script.result("Error: gateway", second, failed=True, step=2)
    script.end()
    assert [result.outcome for result in results(script)] == ["denied", "failed"]


def test_among_parallel_calls_a_hook_denies_the_one_that_repeats_its_words() -> None:
    script = Script(0)
    calls = [script.call("read", id=name) for name in ("a", "b")]
    script.row("hook/result", {"turn": 1, "point": "PreToolUse", "decision": "block", "stderrSummary": "not this file"})
    script.result("Error: missing", calls[0], id="a", failed=True)
    script.result("Error: not this file", calls[1], id="b", failed=True)
    script.end()
    assert [result.outcome for result in results(script)] == ["failed", "denied"]


def test_a_hook_denies_the_call_of_a_program_and_not_the_program() -> None:
    script = Script(0)
    script.call("read", id="lost")
    program = script.call("run_code", id="p", step=2)
    nested = {"rootCallId": "p", "parentCallId": "p", "subCallId": "p:code:1", "name": "refund", "arguments": {}}
    script.row("tool/code-dispatch-start", nested)
    script.row("hook/result", {"turn": 1, "point": "PreToolUse", "decision": "block", "stderrSummary": "never"})
    content = [{"type": "text", "text": "Error: never"}]
    script.row("tool/code-dispatch", {**nested, "isError": True, "content": content})
    script.result("Error: it threw", program, id="p", step=2, failed=True)
    script.end()
    assert [result.outcome for result in results(script)] == ["denied", "failed"]


def test_a_hook_after_the_call_does_not_undo_it() -> None:
    script = Script(0)
    call = script.call("refund")
    script.row("hook/result", {"turn": 1, "point": "PostToolUse", "decision": "block", "stderrSummary": "odd"})
    script.result("Error: odd", call, failed=True)
    script.end()
    assert [result.outcome for result in results(script)] == ["failed"]


def test_a_call_that_was_never_started_is_an_attempt_that_failed() -> None:
    script = Script()
    asked = {"type": "tool-call", "id": "c", "name": "refund", "arguments": '{"order": 7}'}
    message = {"role": "assistant", "content": [asked], "source": {"kind": "model"}}
    script.row("assistant/message", {"turn": 1, "step": 1, "message": message}, surfaceOp="append")
    script.result("The tool call was not started.", None, failed=True, error={"name": "E", "code": "TOOL_NOT_STARTED"})
    script.end("interrupted")
    events = script.events()
    assert [type(event).__name__ for event in events] == ["Decision", "ToolCall", "ToolResult", "RunEnd"]
    assert isinstance(result := events[2], ToolResult)
    assert (result.outcome, result.call, result.error) == ("failed", 2, "The tool call was not started.")
