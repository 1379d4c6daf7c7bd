"""Verdicts about a redacted document are those about the original, and the same adapter reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outstep import check
from outstep.contracts.model import Contract
from outstep.findings import Report
from outstep.redaction.stored.sqlite import redact_database
from outstep.redaction.stored.zip import redact_archive
from outstep.redaction.stored.zstd import redact_frames
from outstep.workflow.contracts import load_contract
from tests.command_line import ROOT
from tests.redaction.values import VALUES, clean

RECORDINGS = ROOT / "examples" / "refund" / "recordings"
RELEASES = ROOT / "tests" / "adapters" / "dsh" / "recordings"
PLANTED = {
    b"ORD-1001": VALUES["email"].encode(),
    b"ORD-1002": VALUES["phone"].encode(),
    b"RF-0001": VALUES["github-token"].encode(),
    b"C-77": b"+86 138-1234-5678",
}
"""What the refund recordings hold, and what stands there instead: rules join them, sentences mention them."""


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load_contract(str(ROOT / "examples" / "refund" / "dsh-refund.yaml"))


def planted(data: bytes) -> bytes:
    for old, new in PLANTED.items():
        data = data.replace(old, new)
    return data


def told(report: Report) -> list[Any]:
    """Return what a report says, apart from the values that it quotes and the bytes that it counts."""
    findings = [
        (one.rule, one.level, one.verdict, one.reason, one.event, one.turn, len(one.witness)) for one in report.findings
    ]
    return [report.gate, report.exit_code, findings, sorted(fault.code for fault in report.faults)]


def copied(source: Path, target: Path, change: Any) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            new = target / path.relative_to(source)
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(change(path.read_bytes()))


def in_store(data: bytes, change: Any = planted) -> bytes:
    """Change a document in whatever it is stored."""
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return redact_frames(data, change)
    if data.startswith(b"SQLite format 3"):
        return redact_database(data, change)
    if data.startswith(b"PK"):
        return redact_archive(data, lambda text, _: change(text), lambda name: name)
    return bytes(change(data))


def both_told(source: Path, work: Path, contracts: Contract) -> tuple[list[Any], list[Any]]:
    """Return what is said about documents with planted values, and about the same ones redacted."""
    copied(source, work / "planted", in_store)
    copied(work / "planted", work / "clean", lambda data: clean(data).data)
    found = []
    for folder in ("planted", "clean"):
        report = check(str(work / folder), contracts)
        assert report.traces
        counted = [(one.format, one.version, one.events, one.calls, one.unanswered, one.end) for one in report.traces]
        found.append([*told(report), counted])
    for path in (work / "clean").rglob("*"):
        if path.is_file():
            redact_frames(path.read_bytes(), nothing_left) if path.suffix == ".zstd" else nothing_left(
                path.read_bytes()
            )
    return found[0], found[1]


def nothing_left(text: bytes) -> bytes:
    for value in PLANTED.values():
        assert not any(value[at : at + 8] in text for at in range(len(value) - 7))
    return text


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
def test_a_recorded_session_has_its_verdict(name: str, tmp_path: Path, contract: Contract) -> None:
    before, after = both_told(RECORDINGS / name, tmp_path, contract)
    assert after == before


@pytest.mark.parametrize("release", sorted(path.name for path in RELEASES.iterdir() if path.is_dir()))
def test_sessions_of_every_release_have_their_verdicts(release: str, tmp_path: Path, contract: Contract) -> None:
    before, after = both_told(RELEASES / release, tmp_path, contract)
    assert after == before


def test_a_rule_against_secrets_finds_what_it_found(tmp_path: Path) -> None:
    rules = tmp_path / "secrets.yaml"
    rules.write_text(
        "outstep: contract/v1\nid: secrets\ntools: {send: {}}\n"
        "rules:\n  - {id: NO_SECRET, never: call send, when: 'secrets(args).size() > 0'}\n"
    )
    for name, value in VALUES.items():
        events = [
            {"type": "tool.call", "seq": 1, "callId": "c", "name": "send", "args": {"text": f"it is {value}."}},
            {"type": "tool.result", "seq": 2, "callId": "c", "ok": True, "data": {}},
            {"type": "assistant.message", "seq": 3, "content": "x"},
        ]
        original = json.dumps({"traceId": "t", "events": events})
        (tmp_path / "a.json").write_text(original)
        (tmp_path / "b.json").write_bytes(clean(original).data)
        before, after = (check(str(tmp_path / file), load_contract(str(rules))) for file in ("a.json", "b.json"))
        assert told(after) == told(before), name
        assert (before.gate == "block") is (name not in ("email", "phone", "card"))
