"""Whole commands: what they print, where, and how they end.

`OUTSTEP_SNAPSHOTS=write pytest tests/cli/test_snapshots.py` writes them anew; what changed is then read by a person.
"""

from __future__ import annotations

import os

import pytest

from tests.cli.conftest import SNAPSHOTS, Done, Outstep

CHECK = ("check", "-c", "refund.yaml")

COMMANDS: dict[str, tuple[str, ...]] = {
    "a-good-run-passes": (*CHECK, "good.jsonl"),
    "a-bad-run-blocks": (*CHECK, "bad.jsonl"),
    "a-bad-run-as-json": (*CHECK, "bad.jsonl", "--json"),
    "a-bad-run-in-chinese": (*CHECK, "bad.jsonl", "--lang", "zh"),
    "a-warning-passes": (*CHECK, "quiet.jsonl"),
    "a-gap-leaves-it-open": (*CHECK, "gap.jsonl"),
    "a-torn-record-leaves-it-open": (*CHECK, "torn.jsonl"),
    "a-damaged-record-is-a-fault": (*CHECK, "damaged.jsonl"),
    "an-empty-trace-is-a-fault": (*CHECK, "empty.jsonl"),
    "a-version-that-nobody-pinned-is-refused": (*CHECK, "future.jsonl"),
    "waivers-are-shown-and-do-not-gate": ("check", "-c", "waived.yaml", "bad.jsonl"),
    "a-contract-in-shadow-only-warns": ("check", "-c", "shadow.yaml", "bad.jsonl"),
    "a-contract-that-observes-counts": ("check", "-c", "observe.yaml", "bad.jsonl"),
    "a-contract-for-other-runs-checks-nothing": ("check", "-c", "elsewhere.yaml", "bad.jsonl"),
    "mistakes-in-a-contract-come-all-at-once": ("check", "-c", "mistakes.yaml", "bad.jsonl"),
    "two-contracts-judge-the-same-runs": ("check", "-c", "refund.yaml", "-c", "idle.yaml", "bad.jsonl", "quiet.jsonl"),
    "many-traces-are-summed-up": (*CHECK, "."),
    "what-nothing-exercised-can-block": (*CHECK, "bad.jsonl", "quiet.jsonl", "--require-exercised"),
    "show-a-timeline": ("show", "bad.jsonl"),
    "show-a-gap": ("show", "gap.jsonl"),
    "show-one-event": ("show", "bad.jsonl", "--event", "4"),
    "show-canonical-events": ("show", "quiet.jsonl", "--events"),
    "show-lists-several-traces": ("show", "good.jsonl", "bad.jsonl"),
    "lint-names-every-mistake": ("contract", "lint", "mistakes.yaml", "refund.yaml"),
    "lint-as-json": ("contract", "lint", "mistakes.yaml", "--json"),
    "a-battery-with-mistakes-is-refused": (
        "battery",
        "lint",
        "../../battery/mistakes.yaml",
        "../../battery/doubts.yaml",
    ),
    "a-battery-is-shown": ("battery", "show", "canary_v2", "long_cleanup", "control_search"),
    "a-world-with-mistakes-is-refused": ("world", "lint", "../../world/mistakes.yaml", "refund"),
    "a-world-is-tried": (
        *("world", "try", "--battery", "refund_v1", "--scenario", "gateway_lost_reply"),
        *("refund.create", '{"orderId": "A1", "amountCents": 4200}', "order.get", '{"orderId": "A1"}', "order.gte"),
    ),
    "a-log-tells-another-story": ("world", "reconcile", "../../world/record.jsonl", "../../world/log.jsonl"),
    "a-dry-run-shows-its-plan": ("run", "--dry", "--battery", "../../battery/doubts.yaml", "--model", "m"),
    "a-score-card": ("compare", *(f"../../compare/saved/{name}.json" for name in ("qwen", "deepseek", "crashed"))),
    "a-draft-of-a-contract": ("contract", "init", "good.jsonl", "quiet.jsonl"),
    "a-case-fails": ("contract", "test", "cases-that-fail.yaml"),
    "mistakes-in-cases": ("contract", "test", "cases-with-mistakes.yaml"),
    "what-a-good-run-exercises": ("contract", "coverage", "-c", "refund.yaml", "good.jsonl", "quiet.jsonl"),
    "what-slips-through": ("contract", "mutate", "refund.yaml", "--traces", "good.jsonl", "-v"),
    "what-is-ready": ("contract", "promote", "refund.yaml", "--traces", "good.jsonl", "--bad", "bad.jsonl"),
    "scores-are-trends": ("check", "-c", "../scored/kind.yaml", "../scored"),
    "explain-a-rule-and-a-code": ("explain", "VERIFY_BEFORE_REFUND", "unknown-tool"),
    "why-it-cannot-be-told": ("why", "VERIFY_BEFORE_REFUND", "bad.jsonl", "-c", "refund.yaml"),
    "why-lists-findings": ("why", "bad.jsonl", "-c", "refund.yaml"),
    "why-as-json": ("why", "NO_FALSE_SUCCESS_CLAIM", "bad.jsonl", "-c", "refund.yaml", "--json"),
    "a-postmortem": ("postmortem", "bad.jsonl", "-c", "refund.yaml"),
    "a-postmortem-in-chinese": ("postmortem", "good.jsonl", "-c", "refund.yaml", "--lang", "zh"),
    "help": ("help",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_printed(outstep: Outstep, name: str) -> None:
    printed = _written(name, outstep(*COMMANDS[name]))
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("OUTSTEP_SNAPSHOTS") == "write":
        file.write_text(printed, "utf-8")
    assert printed == file.read_text("utf-8")


def test_every_snapshot_is_of_a_command() -> None:
    assert sorted(COMMANDS) == sorted(file.stem for file in SNAPSHOTS.glob("*.txt"))


def _written(name: str, done: Done) -> str:
    return f"$ outstep {' '.join(COMMANDS[name])}\n{done.out}--- stderr\n{done.err}--- exit code {done.code}\n"
