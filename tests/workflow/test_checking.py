"""From traces and contracts to a report: order, places, levels, fingerprints, waivers, the Python API."""

from __future__ import annotations

import tracemalloc
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path

import pytest

import outstep
from outstep import OutstepError, Trace
from outstep.adapters.base import Batch
from outstep.contracts.model import Contract
from outstep.findings import Finding, Report
from outstep.workflow import judging, looking
from outstep.workflow.gating import level_of
from outstep.workflow.looking import Items, Seen
from outstep.workflow.traces import InMemory
from tests.workflow.shop import BAD, CONTRACT, GOOD, contract, lines, trace

WAIVED = (
    CONTRACT
    + b"""
waivers:
  - {rule: ONCE, trace: 't*', owner: ana, reason: agreed, until: 2026-03-31}
  - {rule: KNOWN_ORDER, owner: bo, reason: old, until: 2999-12-31}
"""
)


def file_of(folder: Path, *traces: Trace, name: str = "traces.jsonl") -> str:
    path = folder / name
    path.write_bytes(lines(*traces))
    return str(path)


def rules_of(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings]


def test_a_finding_has_its_event_its_places_and_its_quote(tmp_path: Path) -> None:
    path = file_of(tmp_path, trace(GOOD, "g"), trace(BAD, "b"))
    finding = outstep.check(path, contract()).findings[0]
    assert (finding.rule, finding.trace, finding.event, finding.of, finding.turn) == ("KNOWN_ORDER", "b", 2, 7, 1)
    assert finding.place is not None
    assert (finding.place.source, finding.place.line) == (path, 11)
    assert finding.contract_place is not None
    assert (finding.contract_place.source, finding.contract_place.line) == ("shop.yaml", 10)
    assert finding.call_id == "c1"
    assert finding.witness[0].quote == 'call refund.create(orderId="A1")'
    assert finding.witness[0].place == finding.place


def test_findings_come_by_contract_then_trace_then_place() -> None:
    other = contract(CONTRACT.replace(b"id: shop", b"id: other"))
    report = outstep.check([trace(BAD, "t2"), trace(BAD, "t1")], [contract(), other])
    assert [(one.contract, one.trace, one.seq, one.rule) for one in report.findings] == [
        (name, id, seq, rule)
        for name in ("shop", "other")
        for id in ("t2", "t1")
        for seq, rule in ((1, "KNOWN_ORDER"), (3, "KNOWN_ORDER"), (3, "ONCE"))
    ]


def test_a_trace_too_long_to_be_kept_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, trace(GOOD, "g"), trace(BAD, "b"), trace(BAD, "c"))
    plain = outstep.check(path, contract())
    looks: list[int] = []

    def look_again(batches: Iterable[Items], wanted: Mapping[int, Collection[int]]) -> dict[int, dict[int, Seen]]:
        looks.extend(wanted)
        return looking.look_again(batches, wanted)

    monkeypatch.setattr(looking, "KEPT", 1)
    monkeypatch.setattr(judging, "look_again", look_again)
    monkeypatch.setattr(InMemory, "stream", _in_small_batches)
    in_memory = outstep.check([trace(GOOD, "g"), trace(BAD, "b"), trace(BAD, "c")], contract())
    assert looks == [1, 2]
    assert [(one.trace, one.event, one.fingerprint, one.witness[0].quote) for one in in_memory.findings] == [
        (one.trace, one.event, one.fingerprint, one.witness[0].quote) for one in plain.findings
    ]


def _in_small_batches(self: InMemory, *_: object) -> Iterator[Batch]:
    for one in self._traces:
        yield from ([item] for item in (one.header, *one.events))


def test_memory_does_not_grow_with_the_number_of_traces_in_a_file(tmp_path: Path) -> None:
    def peak(number: int) -> int:
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(lines(trace(GOOD + 'user "' + "x" * 2000 + '"', f"t{n}")) for n in range(number)))
        checked = contract()
        outstep.check(path, checked)
        tracemalloc.start()
        outstep.check(path, checked)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = peak(100), peak(1000)
    # What a trace leaves behind is its line in the report, not its events (more than 2,500 bytes each here).
    assert (many - few) / 900 < 2000


def test_a_fingerprint_survives_re_runs_and_edits_elsewhere(tmp_path: Path) -> None:
    def prints(text: str, contract: Contract) -> set[str]:
        return {finding.fingerprint for finding in outstep.check(file_of(tmp_path, trace(text)), contract).findings}

    edited = contract(CONTRACT.replace(b"rules:", b"# a comment\n\nrules:"))
    before = prints(BAD, contract())
    assert len(before) == 3
    assert prints(BAD, contract()) == before
    assert prints('user "hello"\n' + BAD, edited) == before
    assert prints(BAD.replace('{"orderId": "A1"} turn 1', '{"orderId": "A2"} turn 1'), contract()) != before


def test_equal_findings_have_fingerprints_of_their_own() -> None:
    text = CONTRACT + b"  - {id: ONCE_MORE, for: call refund.create, at_most: 1}\n"
    report = outstep.check(trace(BAD), contract(text))
    assert len({finding.fingerprint for finding in report.findings}) == len(report.findings)


@pytest.mark.parametrize(
    ("level", "stage", "counts"),
    [
        ("block", "gate", "block"),
        ("block", "shadow", "warn"),
        ("block", "observe", "observe"),
        ("warn", "gate", "warn"),
        ("warn", "shadow", "warn"),
        ("warn", "observe", "observe"),
        ("observe", "shadow", "observe"),
    ],
)
def test_no_rule_counts_above_what_the_stage_allows(level: str, stage: str, counts: str) -> None:
    assert level_of(level, stage) == counts  # type: ignore[arg-type]


OLD = "bo: old (until 2999-12-31)"


def waived(report: Report) -> dict[str, str]:
    return {finding.rule: finding.waived for finding in report.findings}


def test_a_waiver_counts_up_to_its_day_and_not_after() -> None:
    checked = contract(WAIVED)
    on_the_day = outstep.check(trace(BAD), checked, today=date(2026, 3, 31))
    assert waived(on_the_day) == {"KNOWN_ORDER": OLD, "ONCE": "ana: agreed (until 2026-03-31)"}
    assert (on_the_day.passed, on_the_day.warnings) == (True, ())
    after = outstep.check(trace(BAD), checked, today=date(2026, 4, 1))
    assert waived(after) == {"KNOWN_ORDER": OLD, "ONCE": ""}
    assert after.exit_code == 1
    assert [warning.code for warning in after.warnings] == ["contract/waiver-expired"]


def test_without_a_day_a_waiver_that_ends_does_not_count() -> None:
    report = outstep.check(trace(BAD), contract(WAIVED))
    assert waived(report) == {"KNOWN_ORDER": "", "ONCE": ""}
    assert [warning.code for warning in report.warnings] == ["contract/waiver-without-day"] * 2


def test_a_waiver_covers_the_traces_that_it_names() -> None:
    report = outstep.check([trace(BAD, "t1"), trace(BAD, "x1")], contract(WAIVED), today=date(2026, 1, 1))
    assert {one.trace for one in report.findings if one.rule == "ONCE" and one.waived} == {"t1"}


def test_a_message_is_given_in_the_language_asked_for() -> None:
    text = CONTRACT.replace(b"at_most: 1,", b"at_most: 1, message: {en: twice, zh: '\xe4\xb8\xa4\xe6\xac\xa1'},")

    def message(language: str) -> str:
        found: tuple[Finding, ...] = outstep.check(trace(BAD), contract(text), language=language).findings
        return next(one.message for one in found if one.rule == "ONCE")

    assert [message(language) for language in ("en", "zh", "fr")] == ["twice", "两次", "twice"]


def test_nothing_to_check_is_a_fault(tmp_path: Path) -> None:
    assert [fault.code for fault in outstep.check([], contract()).faults] == ["input/no-traces"]
    assert [fault.code for fault in outstep.check(tmp_path, contract()).faults] == ["input/no-traces"]
    empty = trace("")
    assert [fault.code for fault in outstep.check(empty, contract()).faults] == ["trace/empty"]


def test_a_contract_whose_rules_are_all_off_is_a_fault() -> None:
    bare = Contract(id="bare", sources=("bare.yaml",))
    report = outstep.check(trace(GOOD), bare)
    assert (report.exit_code, [fault.code for fault in report.faults]) == (2, ["contract/no-rules"])


def test_traces_come_as_paths_traces_or_headers_with_events(tmp_path: Path) -> None:
    one, other = trace(BAD, "t1"), trace(GOOD, "t2")
    path = file_of(tmp_path, one, other)
    ways: list[Report] = [
        outstep.check(path, contract()),
        outstep.check([Path(path)], contract()),
        outstep.check([one, other], contract()),
        outstep.check((item for part in (one, other) for item in (part.header, *part.events)), contract()),
        outstep.check(outstep.load_traces(path), contract()),
    ]
    for report in ways:
        assert [(found.trace, found.rule, found.seq) for found in report.findings] == [
            ("t1", "KNOWN_ORDER", 1),
            ("t1", "KNOWN_ORDER", 3),
            ("t1", "ONCE", 3),
        ]
        assert not report.passed


def test_what_cannot_be_given_together_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, trace(GOOD))
    with pytest.raises(OutstepError, match="usage/mixed-traces"):
        outstep.check([path, trace(GOOD)], contract())
    with pytest.raises(OutstepError, match="usage/no-header"):
        outstep.check(trace(GOOD).events, contract())
    with pytest.raises(OutstepError, match="usage/unknown-reason"):
        outstep.check(path, contract(), allow=["hidden-evidence"])


def test_a_contract_is_given_by_file_pack_or_itself(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_bytes(CONTRACT)
    assert rules_of(outstep.check(trace(BAD), file)) == rules_of(outstep.check(trace(BAD), contract()))
    assert {one.id for one in outstep.check(trace(BAD), [str(file), "refund"]).contracts} == {"shop", "refund"}
    assert outstep.load_contract("refund").id == "refund"
    with pytest.raises(OutstepError, match="contract/not-found"):
        outstep.check(trace(BAD), "refnd")


def test_loaded_traces_are_whole_and_faults_come_last(tmp_path: Path) -> None:
    path = file_of(tmp_path, trace(GOOD, "t1"), trace(BAD, "t2"))
    loaded = list(outstep.load_traces(path))
    assert [(one.id, len(one.events)) for one in loaded] == [("t1", 7), ("t2", 7)]
    stream = outstep.load_traces(path, str(tmp_path / "nowhere.jsonl"))
    assert [next(stream).id, next(stream).id] == ["t1", "t2"]
    with pytest.raises(OutstepError, match="input/not-found"):
        next(stream)


def test_a_live_monitor_says_the_same_as_a_check() -> None:
    bad = trace(BAD)
    monitor = outstep.Monitor(contract(), bad.header)
    rulings = [ruling for event in bad.events for ruling in monitor.feed(event)] + monitor.close()
    assert [ruling.seq for ruling in rulings] == [found.seq for found in outstep.check(bad, contract()).findings]


def test_the_package_offers_what_it_says_and_nothing_else() -> None:
    assert "check" in dir(outstep)
    with pytest.raises(AttributeError):
        outstep.chek  # type: ignore[attr-defined]  # noqa: B018
