"""What is read off sessions that DeepSeek Harness really wrote: denials, hooks, sandboxes, failures, lost results."""

from __future__ import annotations

from pathlib import Path

import pytest

from outstep.workflow.attributing import explain, judged
from outstep.workflow.checking import CheckOptions
from outstep.workflow.contracts import open_contracts

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests/adapters/dsh/recordings"
REFUND = str(ROOT / "examples/refund/dsh-refund.yaml")

READ: dict[tuple[str, str, str], list[tuple[str, ...]]] = {
    # A hook refuses the refund, the model says that it was made.
    ("pypi-0.1.2rc1/p_hook_denies", REFUND, "NO_FALSE_SUCCESS_CLAIM"): [("permission", "model")],
    ("pypi-0.1.2rc1/p_hook_denies", REFUND, "REFUND_RESULT_REQUIRED"): [("permission",)],
    # No instruction of the recorded system prompt names the tool: model or context, and nobody can tell.
    ("pypi-0.2.1rc2/b_refund_before_identity", REFUND, "VERIFY_BEFORE_REFUND"): [()],
    # A gateway that answered 502: the money may have gone, as the contract says, but the model was told of an error.
    ("pypi-0.1.0rc7/d_refund_fails_claims_success", REFUND, "NO_FALSE_SUCCESS_CLAIM"): [("tool", "model")],
    ("pypi-0.1.0rc7/d_refund_fails_claims_success", REFUND, "REFUND_RESULT_REQUIRED"): [("tool",)],
    # The sandbox refuses, and its refusal invites to ask for more.
    ("pypi-0.1.2rc1/f2_sandbox_denied", "coding-agent", "STAY_IN_FOLDER"): [("model",), (), ()],
    # A person allowed the first of two writes outside.
    ("pypi-0.1.5rc1/s3_acp_approvals", "coding-agent", "STAY_IN_FOLDER"): [(), ("model",)],
    # The record stops in the middle of a call.
    ("pypi-0.1.0rc7/h1_sigkill_mid_call", REFUND, "INCOMPLETE_TRACE"): [()],
    ("pypi-0.2.1rc2/h3_resume_after_kill", REFUND, "REFUND_RESULT_REQUIRED"): [()],
    # The tool took arguments that the contract's schema refuses.
    ("pypi-0.1.1rc1/f4_tool_errors", REFUND, "ARGUMENTS_FIT"): [()],
    ("pypi-0.1.1rc1/c_duplicate_refund", REFUND, "NO_DUPLICATE_REFUND"): [("model",)],
}


@pytest.mark.parametrize(("recording", "contract", "rule"), READ)
def test_a_recorded_session_is_read_as_what_happened_in_it(recording: str, contract: str, rule: str) -> None:
    contracts, _ = open_contracts([contract])
    some = judged([str(RECORDINGS / recording / "events.jsonl")], contracts, CheckOptions())
    told = [
        tuple(reading.factor for reading in explain(some, one, finding, CheckOptions()).answer.readings)
        for one in some
        for finding in one.report.findings
        if finding.rule == rule
    ]
    assert told == READ[recording, contract, rule]


def test_every_finding_of_every_recording_is_read_without_breaking_and_rests_on_events() -> None:
    contracts, _ = open_contracts([REFUND, "coding-agent"])
    some = judged([str(path) for path in sorted(RECORDINGS.glob("*/*/events.jsonl"))], contracts, CheckOptions())
    read = 0
    for one in some:
        for finding in one.report.findings:
            answer = explain(some, one, finding, CheckOptions()).answer
            read += 1
            assert answer.readings or answer.because
            assert all(reading.rests_on and reading.ruled_out for reading in answer.readings)
    assert read > 100
