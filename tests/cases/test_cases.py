"""Each case is judged by the command line as its `expected.json` says: exit code, findings with their places, facts.

A case takes part if it asks for a check or an import and its format is read here; what its neutral contract says is
written in our language in the `contract.yaml` beside it. Places are the raw document's own: its sequence number, or
the index of the message. Nothing here knows a single case.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from outstep import adapters
from tests.command_line import ROOT, outstep

HERE = Path(__file__).parent
Json = dict[str, Any]

FAULTS = {
    "FAULT": ("adapter/damaged-record", "trace/malformed"),
    "NO_EVIDENCE": ("trace/empty", "input/no-traces", "input/not-found", "input/empty"),
    "UNPINNED_SHAPE": ("adapter/unpinned-version",),
    "UNSUPPORTED_FORMAT_VERSION": ("adapter/unpinned-version",),
}
"""Neutral words for what could not be checked, and our codes of it."""

RULES = {
    "ARG_TYPE": "ARGUMENTS_FIT",
    "CALL_ID_REUSED_ACROSS_TURNS": "CALL_ID_REUSED",
    "EXECUTED_AFTER_DENIAL": "EXECUTED_ALTHOUGH_DENIED",
    "MALFORMED_ARGS": "UNREADABLE_ARGUMENTS",
    "SEQ_DUPLICATE": "DUPLICATE_SEQ",
    "SEQ_GAP": "INCOMPLETE_TRACE",
    "TRUNCATED_TRACE": "INCOMPLETE_TRACE",
    "UNKNOWN_EVENT_TYPE": "UNKNOWN_RECORD",
}
"""Neutral words for what `integrity` finds; any other word is the id of a rule in the case's contract."""

FORMATS = ("canonical", *adapters.NAMES)
"""How the formats that are read here begin: the seed form, or the name of an adapter."""

EXITS = {"pass": 0, "warn": 0, "block": 1, "error": 2}
QUIET = ("run.end", "decision", "context", "gap", "approval", "state")
"""Types that a neutral list of events leaves out."""


class Case(Struct, frozen=True):
    """One case, or one variant of it."""

    name: str
    folder: Path
    do: str
    inputs: tuple[str, ...]
    expect: Json
    tools: tuple[str, ...]
    """Tools that its neutral contract names."""

    @property
    def paths(self) -> list[str]:
        return [str((self.folder / name).relative_to(ROOT)) for name in self.inputs]

    @property
    def contract(self) -> str:
        return str((self.folder / "contract.yaml").relative_to(ROOT))


def cases() -> list[Case]:
    found = []
    for file in sorted(HERE.glob("*/expected.json")):
        told: Json = json.loads(file.read_text("utf-8"))
        if told["do"] not in ("check", "import") or not told["format"].startswith(FORMATS):
            continue
        tools = tuple(rule["tool"] for rule in told["contract"] if "tool" in rule)
        variants: Json = told.get("variants") or {"": told}
        for name, variant in variants.items():
            inputs = tuple(variant.get("inputs", told["inputs"]))
            title = f"{file.parent.name}:{name}" if name else file.parent.name
            found.append(Case(title, file.parent, told["do"], inputs, variant["expect"], tools))
    return found


CASES = cases()
CHECKS = [case for case in CASES if case.do == "check"]
IMPORTS = [case for case in CASES if case.do == "import"]


def named(which: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", which, ids=lambda case: case.name)


# --- what the command line says ---


@lru_cache
def _ran(*words: str) -> tuple[int, bytes, str]:
    done = outstep(*words)
    return done.returncode, done.stdout, done.stderr.decode()


def report(case: Case, *more: str) -> tuple[int, Json]:
    code, printed, errors = _ran("check", *case.paths, "--contract", case.contract, "--json", *more)
    assert printed, errors
    return code, json.loads(printed)


def events(path: str, *more: str) -> list[Json]:
    """Return the events of one document in normal form, without the header."""
    code, printed, errors = _ran("show", path, "--events", *more)
    assert code == 0, errors
    return [event for line in printed.splitlines() if (event := json.loads(line))["type"] != "trace"]


def all_events(case: Case) -> list[Json]:
    return [event for path in case.paths for event in events(path)]


def is_open(finding: Json) -> bool:
    return finding["verdict"] in ("violated", "inconclusive")


# --- what a case asks for ---


def places(finding: Json) -> Json:
    """Return where a finding stands, in the words of the cases."""
    found: Json = {"seq": finding.get("raw_seq")}
    message = re.match(r"(?:/messages)?/(\d+)", finding.get("place", {}).get("pointer") or "")
    if message:
        found["message_index"] = int(message[1])
    return found


def meets(finding: Json, wanted: Json) -> bool:
    """Return whether a finding is a wanted one."""
    where = places(finding)
    return (
        finding["rule"] == RULES.get(wanted["kind"], wanted["kind"])
        and finding["level"] == wanted["level"]
        and finding["verdict"] == wanted.get("verdict", "violated")
        and all(where.get(key) == wanted[key] for key in ("seq", "message_index") if key in wanted)
        and all(shows(finding, value) for value in wanted.get("facts", {}).values())
    )


def shows(found: Json, value: object) -> bool:
    """Return whether a finding or fault tells a value."""
    return re.search(rf"\b{re.escape(str(value))}\b", json.dumps(found, ensure_ascii=False)) is not None


def wanted_of(case: Case, *, faults: bool) -> list[Json]:
    return [wanted for wanted in case.expect["findings"] if (wanted["kind"] in FAULTS) == faults]


@named(CHECKS)
def test_a_case_ends_with_its_exit_code(case: Case) -> None:
    code, told = report(case)
    assert code == case.expect.get("exit", EXITS[case.expect["gate"]]) == told["exit_code"]


@named([case for case in CHECKS if "exit_fail_on_warn" in case.expect])
def test_a_case_ends_so_when_warnings_fail(case: Case) -> None:
    assert report(case, "--fail-on", "warn")[0] == case.expect["exit_fail_on_warn"]


@named([case for case in CHECKS if wanted_of(case, faults=False)])
def test_every_finding_of_a_case_is_reported_at_its_place(case: Case) -> None:
    found = report(case)[1]["findings"]
    for wanted in wanted_of(case, faults=False):
        assert [finding for finding in found if meets(finding, wanted)], wanted


@named([case for case in CHECKS if wanted_of(case, faults=True)])
def test_every_fault_of_a_case_is_reported_by_name(case: Case) -> None:
    found = report(case)[1]["faults"]
    for wanted in wanted_of(case, faults=True):
        own = [fault for fault in found if fault["code"] in FAULTS[wanted["kind"]] and fault.get("place")]
        assert own, wanted
        assert all(any(shows(fault, value) for fault in own) for value in wanted.get("facts", {}).values())


@named([case for case in CHECKS if case.expect.get("must_not_find")])
def test_no_false_alarm_is_raised(case: Case) -> None:
    unwanted = case.expect["must_not_find"]
    rules = {RULES.get(kind, kind) for kind in unwanted}
    found = [finding["rule"] for finding in report(case)[1]["findings"] if is_open(finding)]
    assert [rule for rule in found if "*" in unwanted or rule in rules] == []


def with_calls(*, claims: bool) -> list[Case]:
    """Return the cases whose findings name calls: of claims, or of anything else."""
    return [case for case in CHECKS if calls_wanted(case, claims=claims)]


def calls_wanted(case: Case, *, claims: bool) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for wanted in case.expect["findings"]:
        if "callIds" in wanted and wanted["kind"].endswith("_CLAIM") == claims:
            found.setdefault(RULES.get(wanted["kind"], wanted["kind"]), set()).update(wanted["callIds"])
    return found


def calls_named(case: Case) -> dict[str, set[str]]:
    """Return the ids of the calls that the findings of each rule name, by their event or its witnesses."""
    call_ids = {event["seq"]: event.get("call_id", "") for event in all_events(case)}
    found: dict[str, set[str]] = {}
    for finding in filter(is_open, report(case)[1]["findings"]):
        seqs = [finding.get("seq"), *(witness["seq"] for witness in finding.get("witness", ()))]
        found.setdefault(finding["rule"], set()).update(call_ids.get(seq, "") for seq in seqs)
    return found


@named(with_calls(claims=False))
def test_the_calls_of_a_finding_are_named(case: Case) -> None:
    named_calls = calls_named(case)
    for rule, calls in calls_wanted(case, claims=False).items():
        assert calls <= named_calls[rule]


@named(with_calls(claims=True))
def test_a_claim_without_evidence_names_the_call_that_failed_to_give_it(case: Case) -> None:
    named_calls = calls_named(case)
    for rule, calls in calls_wanted(case, claims=True).items():
        assert calls <= named_calls[rule]


# --- facts ---


@named([case for case in CHECKS if "facts" in case.expect])
def test_what_was_read_is_what_a_case_says(case: Case) -> None:
    known = {
        "events": lambda found, value: len(found) == value,
        "user_messages": lambda found, value: sum(event["type"] == "user.message" for event in found) == value,
        "refunds": lambda found, value: sum(is_call_of(event, case.tools) for event in found) == value,
        "normalized_ok": lambda found, value: outcomes(found, "outcome", "ok") == value,
        "exit_code": lambda found, value: {call: exits(found).get(call) for call in value} == value,
    }
    told = report(case)[1]
    for fact, value in case.expect["facts"].items():
        if fact in ("readable_records", "records"):
            assert sum(trace["records"] for trace in told["traces"]) == value
        else:
            assert known[fact](all_events(case), value), fact


def is_call_of(event: Json, tools: tuple[str, ...]) -> bool:
    return event["type"] == "tool.call" and event["tool"] in tools


def outcomes(found: list[Json], member: str, value: str) -> dict[str, bool]:
    return {event["call_id"]: event[member] == value for event in found if event["type"] == "tool.result"}


def exits(found: list[Json]) -> dict[str, int | None]:
    return {event["call_id"]: event.get("exit") for event in found if event["type"] == "tool.result"}


# --- imports ---


def neutral(event: Json) -> Json:
    """Return an event as a case spells it."""
    kind = event["type"]
    if kind == "tool.call":
        return {"type": kind, "callId": event["call_id"], "name": event["tool"], "args": event["args"]}
    if kind == "tool.result":
        ok = event["outcome"] == "ok"
        return {"type": kind, "callId": event["call_id"], "ok": ok, "text": event.get("text", "")}
    return {"type": kind, "content": event["text"]}


def neutral_events(path: str, *more: str) -> list[Json]:
    return [neutral(event) for event in events(path, *more) if event["type"] not in QUIET]


@named(IMPORTS)
def test_an_import_gives_the_events_of_a_case(case: Case) -> None:
    for path in case.paths:
        code, _, errors = _ran("show", path, "--events")
        assert code == case.expect["exit"], errors
        if "normalized_each" in case.expect:
            assert neutral_events(path) == case.expect["normalized_each"]
        for wanted in case.expect.get("findings", ()):
            assert any(f"error[{fault}]" in errors for fault in FAULTS[wanted["kind"]]), errors


@named([case for case in IMPORTS if "with_unpinned" in case.expect])
def test_an_unpinned_import_gives_the_events_of_a_case(case: Case) -> None:
    unpinned = case.expect["with_unpinned"]
    for path in case.paths:
        assert _ran("show", path, "--events", "--unpinned")[0] == unpinned["exit"]
        assert neutral_events(path, "--unpinned") == unpinned["normalized_each"]


# --- the runner itself ---


def test_cases_are_found() -> None:
    assert len(CHECKS) > 20
    assert IMPORTS


@named(CHECKS)
def test_a_contract_of_a_case_has_no_mistake(case: Case) -> None:
    code, _, errors = _ran("contract", "lint", case.contract)
    assert code == 0, errors


def test_every_fact_that_a_case_states_is_one_that_is_looked_at() -> None:
    known = {"events", "user_messages", "refunds", "normalized_ok", "exit_code", "readable_records", "records"}
    assert {fact for case in CHECKS for fact in case.expect.get("facts", {})} <= known
