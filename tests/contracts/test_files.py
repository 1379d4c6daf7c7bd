"""A contract of several files: what it includes, levels, parameters, waivers, stages."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from pathlib import Path, PurePath

import pytest

from outstep.contracts import packs
from outstep.contracts.loader import load, load_contract
from outstep.contracts.waivers import is_date
from outstep.errors import OutstepError
from tests.contracts.loading import HEAD, Files, brief, codes, contract, problems

RULE = "rules: [{id: OWN, for: message, require: calls == 0}]\n"
COMMON = "tools: {pay: {effect: write}}\nrules: [{id: COMMON, never: call pay}]\n"


def ids(text: str, files: Files | None = None) -> list[str]:
    found = contract(text, files)
    return [rule.id for rule in found.rules if rule.pack != "integrity"]


def test_integrity_is_always_included_and_last() -> None:
    found = contract(RULE)
    assert found.rules[0].id == "OWN"
    assert {rule.pack for rule in found.rules[1:]} == {"integrity"}
    assert len(found.rules) == 16
    assert all(rule.judge == "record" for rule in found.rules[1:])
    assert found.sources == ("contract.yaml", "pack:integrity")


def test_integrity_has_the_levels_of_the_language() -> None:
    levels = {rule.id: rule.level for rule in contract(RULE).rules}
    assert [name for name, level in levels.items() if level == "warn"] == ["CALL_ID_REUSED", "UNKNOWN_RECORD"]
    assert levels["UNDECLARED_TOOL"] == "observe"


def test_a_file_is_included_by_its_path_from_the_folder_of_the_contract() -> None:
    asked: list[str] = []

    def read(name: str) -> bytes:
        asked.append(name)
        return {
            "shop/refund.yaml": HEAD + "include: [./common.yaml, ../base/tools.yaml]\n" + RULE,
            "shop/common.yaml": COMMON + "include: ../base/tools.yaml\n",
            "base/tools.yaml": "tools: {look: {effect: read}}\n",
        }[name].encode()

    found = load_contract("shop/refund.yaml", read_file=read)
    assert asked == ["shop/refund.yaml", "shop/common.yaml", "base/tools.yaml"]
    assert found.sources == ("shop/refund.yaml", "shop/common.yaml", "base/tools.yaml", "pack:integrity")
    assert [tool.name for tool in found.tools] == ["look", "pay"]
    assert [rule.id for rule in found.rules][:2] == ["COMMON", "OWN"]
    assert [found.sources[rule.spot.file] for rule in found.rules][:2] == ["shop/common.yaml", "shop/refund.yaml"]


def test_a_path_object_is_read_like_its_text() -> None:
    found = load_contract(PurePath("a") / "b.yaml", read_file=lambda _: (HEAD + RULE).encode())
    assert found.sources[0] == "a/b.yaml"


def test_a_contract_is_named_by_its_file_where_it_has_no_id() -> None:
    assert load_contract(b"outstep: contract/v1\n" + RULE.encode(), name="x/refunds.yaml").id == "refunds"


def test_a_pack_is_included_by_its_name() -> None:
    found = contract("include: coding-agent\nrules: [{id: OWN, for: call shell, require: args.command != ''}]")
    assert "STAY_IN_FOLDER" in [rule.id for rule in found.rules]
    assert next(rule for rule in found.rules if rule.id == "STAY_IN_FOLDER").pack == "coding-agent"


@pytest.mark.parametrize("name", packs.NAMES)
def test_a_contract_may_be_nothing_but_packs(name: str) -> None:
    found = load_contract(f"outstep: contract/v1\nid: x\ninclude: [{name}]\n".encode())
    assert len(found.rules) >= 15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["missing-key o"]),
        ("include: [./common.yaml]\n", []),
        ("include: [./tools.yaml]\n", ["missing-key o"]),
        ("include: [./common.yaml]\nlevels: {COMMON: off}\n", ["missing-key o"]),
    ],
)
def test_a_contract_has_rules(text: str, expected: list[str]) -> None:
    assert codes(f"outstep: contract/v1\n{text}", {"common": COMMON, "tools": "tools: {look: {}}\n"}) == expected


def test_a_nearer_file_wins_key_by_key_for_tools_and_whole_for_the_rest() -> None:
    common = """
params: {a: 1, b: 1}
tools: {pay: {effect: write, reads: text}, look: {effect: read}}
facts: {f: {from: call pay}, g: {from: call pay, value: f.x}}
claims: {paid: [paid]}
rules: [{id: COMMON, for: claim paid, require: params.a == params.b && g == 1}]
"""
    own = "params: {b: 2}\ntools: {pay: {reads: json}}\nfacts: {f: {from: call look}}\nclaims: {paid: [payed]}\n" + RULE
    found = contract("include: ./common.yaml\n" + own, {"common": common})
    assert found.params == {"a": 1, "b": 2}
    pay = next(tool for tool in found.tools if tool.name == "pay")
    assert (pay.effect, pay.reads) == ("write", "json")
    assert [(fact.name, fact.sources[0].selectors[0].text) for fact in found.facts] == [
        ("f", "call look"),
        ("g", "call pay"),
    ]
    assert found.claims[0].patterns == ("payed",)


def test_facts_of_several_files_that_need_each_other_are_a_mistake() -> None:
    common = "tools: {pay: {}}\nfacts: {f: {from: call pay}, g: {from: call pay, value: f.x}}\n"
    assert codes("include: ./common.yaml\nfacts: {f: {from: call pay, value: g.x}}\n" + RULE, {"common": common}) == [
        "cycle g"
    ]


@pytest.mark.parametrize(
    ("text", "files", "expected"),
    [
        ("include: refnd\n", {}, ["include refnd"]),
        ("include: ./gone.yaml\n", {}, ["include ./gone.yaml"]),
        ("include: ./contract.yaml\n", {}, ["include-cycle ./contract.yaml"]),
        ("include: ./a.yaml\n", {"a": "include: ./b.yaml\n", "b": "include: ./a.yaml\n"}, ["include-cycle ./a.yaml"]),
        ("include: {a: b}\n", {}, ["value {a: b}"]),
        ("include: ./a.yaml\n", {"a": "rules: [{id: A, for: cal *, at_most: 1}]\n"}, ["selector cal"]),
        ("include: ./a.yaml\n", {"a": "applies_when: true\n"}, ["key-not-for-kind applies_when"]),
        ("include: ./a.yaml\n", {"a": "- x\n"}, ["value - x"]),
        ("include: ./a.yaml\n", {"a": ""}, ["missing-key "]),
        ("include: ./a.yaml\n", {"a": "outstep: contract/v9\n"}, ["value contract/v9"]),
    ],
)
def test_mistakes_in_what_is_included(text: str, files: dict[str, str], expected: list[str]) -> None:
    assert codes(text + RULE, files) == expected


def test_a_cycle_is_told_with_its_way_and_place() -> None:
    (found,) = problems("include: ./a.yaml\n" + RULE, {"a": "include: ./b.yaml\n", "b": "include: [./a.yaml]\n"})
    assert found.sentence == "a file includes itself: `a.yaml` → `b.yaml` → `a.yaml`"
    assert str(found.place) == "b.yaml:1:11"


def test_mistakes_of_all_files_are_told_in_the_order_of_the_files() -> None:
    found = problems(
        "include: [./a.yaml, ./b.yaml]\nrules: [{id: OWN, for: cal *, at_most: 1}]\n",
        {name: f"rules: [{{id: {name}, for: cal *, at_most: 1}}]\n" for name in "ab"},
    )
    assert [problem.place.source for problem in found if problem.place] == ["contract.yaml", "a.yaml", "b.yaml"]


def test_a_chain_of_files_is_bounded() -> None:
    found = problems("include: ./f1.yaml\n" + RULE, {f"f{n}": f"include: ./f{n + 1}.yaml\n" for n in range(1, 200)})
    assert [problem.code for problem in found] == ["contract/include"]


# --- levels ---


def level(text: str, files: Files | None = None, rule: str = "COMMON") -> str | None:
    found = contract(text, files)
    return next((item.level for item in found.rules if item.id == rule), None)


@pytest.mark.parametrize(
    ("written", "expected"), [("warn", "warn"), ("observe", "observe"), ("block", "block"), ("off", None)]
)
def test_levels_change_included_rules(written: str, expected: str | None) -> None:
    assert level(f"include: ./a.yaml\nlevels: {{COMMON: {written}}}\n" + RULE, {"a": COMMON}) == expected
    assert level(f"levels: {{ORPHAN_TOOL_RESULT: {written}}}\n" + RULE, rule="ORPHAN_TOOL_RESULT") == expected


def test_the_outermost_level_wins() -> None:
    middle = "include: ./a.yaml\nlevels: {COMMON: off}\n"
    assert level("include: ./b.yaml\n" + RULE, {"a": COMMON, "b": middle}) is None
    assert level("include: ./b.yaml\nlevels: {COMMON: warn}\n" + RULE, {"a": COMMON, "b": middle}) == "warn"


def test_an_included_file_may_change_levels_of_integrity_and_the_nearest_word_wins() -> None:
    inner = "levels: {ORPHAN_TOOL_RESULT: warn}\n" + COMMON
    assert level("include: ./a.yaml\n" + RULE, {"a": inner}, rule="ORPHAN_TOOL_RESULT") == "warn"
    outer = "include: ./a.yaml\nlevels: {ORPHAN_TOOL_RESULT: observe}\n" + RULE
    assert level(outer, {"a": inner}, rule="ORPHAN_TOOL_RESULT") == "observe"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("levels: {GONE: warn}\n", "unknown-rule GONE"),
        ("levels: {OWN: warn}\n", "unknown-rule OWN"),
        ("levels: {ORPHAN_TOOL_RESULT: high}\n", "value high"),
        ("levels: [ORPHAN_TOOL_RESULT]\n", "value [ORPHAN_TOOL_RESULT]"),
    ],
)
def test_mistakes_in_levels(text: str, expected: str) -> None:
    assert codes(text + RULE) == [expected]


def test_an_id_is_given_once_in_all_files_unless_one_is_off() -> None:
    own = "rules: [{id: COMMON, never: call order.get}]\n"
    (found,) = problems("include: ./a.yaml\n" + own, {"a": COMMON})
    assert brief(found) == "duplicate-id COMMON"
    assert "levels: {COMMON: off}" in found.help
    assert ids("include: ./a.yaml\nlevels: {COMMON: off}\n" + own, {"a": COMMON}) == ["COMMON"]


@pytest.mark.parametrize(("stage", "expected"), [("observe", "observe"), ("shadow", "warn"), ("gate", "block")])
def test_the_stage_of_an_included_file_bounds_its_rules(stage: str, expected: str) -> None:
    assert level("include: ./a.yaml\n" + RULE, {"a": f"stage: {stage}\n{COMMON}"}) == expected
    assert level("include: ./a.yaml\nlevels: {COMMON: block}\n" + RULE, {"a": f"stage: {stage}\n{COMMON}"}) == "block"


def test_the_stage_of_the_contract_itself_is_kept_and_changes_no_level() -> None:
    found = contract("stage: shadow\n" + RULE)
    assert (found.stage, found.rules[0].level) == ("shadow", "block")


# --- parameters, applies_when, waivers ---


def test_parameters_may_be_replaced_by_json_values() -> None:
    text = "params: {limit: 1, rate: 0.5}\nrules: [{id: OWN, for: call *, at_most: params.limit}]\n"
    assert contract(text, params={"limit": 3}).params == {"limit": 3, "rate": Decimal("0.5")}
    assert contract(text, params={"limit": [1, {"a": None}]}).params["limit"] == [1, {"a": None}]


def test_patterns_of_scope_follow_the_parameters() -> None:
    text = "params: {open: ['./**']}\nrules: [{id: OWN, scope: {read: params.open}}]\n"
    assert contract(text, params={"open": ["/tmp/**"]}).rules[0].kind.read == ("/tmp/**",)  # type: ignore[union-attr]


def test_an_unknown_parameter_is_a_mistake_without_place() -> None:
    (found,) = problems("params: {limit: 1}\n" + RULE, params={"limt": 3})
    assert (found.code, found.place, found.help) == ("contract/unknown-name", None, "did you mean `limit`?")


def test_applies_when_reads_the_run_only() -> None:
    found = contract("params: {a: 1}\napplies_when: trace.harness == 'dsh' && params.a == 1\n" + RULE)
    assert found.applies_when is not None
    assert codes("applies_when: agent == 'main'\n" + RULE) == ["not-bound-here agent"]


def test_waivers_are_read() -> None:
    found = contract("waivers: [{rule: OWN, owner: qa, reason: known, until: 2026-03-31, trace: 'a*'}]\n" + RULE)
    (waiver,) = found.waivers
    assert (waiver.rule, waiver.trace, waiver.owner, waiver.reason, waiver.until) == (
        "OWN",
        "a*",
        "qa",
        "known",
        "2026-03-31",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{rule: GONE, owner: qa, reason: x, until: 2026-03-31}", ["unknown-rule GONE"]),
        ("{rule: OWN, owner: qa, reason: x, until: 2026-02-30}", ["value 2026-02-30"]),
        ("{rule: OWN, owner: qa, reason: x, until: soon}", ["value soon"]),
        ("{rule: OWN, until: 2026-03-31}", ["missing-key {", "missing-key {"]),
        ("{rule: OWN, owner: qa, reason: x}", ["missing-key {"]),
        ("{rule: OWN, owner: qa, reason: x, until: 2026-03-31, by: me}", ["unknown-key by"]),
        ("OWN", ["value OWN"]),
    ],
)
def test_mistakes_in_a_waiver(text: str, expected: list[str]) -> None:
    assert codes(f"waivers: [{text}]\n" + RULE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", True),
        ("2026-02-29", False),
        ("2100-02-29", False),
        ("2000-02-29", True),
        ("2026-13-01", False),
        ("2026-1-1", False),
    ],
)
def test_a_date_is_a_day_of_the_calendar(text: str, expected: bool) -> None:
    assert is_date(text) is expected


# --- what the file is, and that it can be read ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: x\n" + RULE, ["missing-key i"]),
        ("outstep: contract/v2\n" + RULE, ["value contract/v2"]),
        ("outstep: contract/v1\nrule: []\n" + RULE, ["unknown-key rule"]),
        ("outstep: contract/v1\nstage: live\n" + RULE, ["value live"]),
        ("outstep: contract/v1\ntitle: [a]\n" + RULE, ["value [a]"]),
        ("outstep: contract/v1\nparams: {a-b: 1}\n" + RULE, ["reserved-name a-b"]),
    ],
)
def test_mistakes_in_the_head(text: str, expected: list[str]) -> None:
    assert codes(text.encode()) == expected


def test_a_file_that_cannot_be_read_is_told_so() -> None:
    with pytest.raises(OutstepError) as error:
        load("gone.yaml", read_file=lambda _: Path("/nowhere/gone.yaml").read_bytes())
    (found,) = error.value.problems
    assert found.code == "contract/unreadable"
    assert found.sentence == "`gone.yaml` cannot be read: no such file or directory"


def test_the_digest_is_of_all_files() -> None:
    own = (HEAD + "include: ./a.yaml\n" + RULE).encode()
    found = load_contract(own, read_file=lambda _: COMMON.encode())
    whole = sha256(own)
    for data in (COMMON.encode(), packs.source("integrity") or b""):
        whole.update(sha256(data).digest())
    assert found.sha256 == whole.hexdigest()
    assert found.sha256 != load_contract(own, read_file=lambda _: (COMMON + "\n").encode()).sha256
