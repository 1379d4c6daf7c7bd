"""The schema for editors: what the loader accepts it accepts, what it refuses the loader refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from outstep.contracts import json_schema, packs
from outstep.contracts.described import DESCRIPTIONS
from outstep.contracts.located import decode, plain_value, read
from outstep.contracts.report import Report
from outstep.render.values import pretty
from tests.command_line import ROOT
from tests.contracts.loading import HEAD, codes, problems
from tests.engine.casefile import case_files, read_cases

VALIDATOR = jsonschema.Draft7Validator(json_schema.contract_schema())
TOOLS = "tools: {pay: {effect: write}, ship: {}}\n"


def accepts(text: str) -> bool:
    report = Report()
    file = decode(text.encode(), "contract.yaml", 0, report)
    node = None if file is None else read(file, report)
    assert node is not None
    assert not report.failed
    return bool(VALIDATOR.is_valid(plain_value(node)))


def files() -> list[str]:
    """Every contract in the repository that is written without mistakes."""
    found = []
    for path in sorted(ROOT.rglob("*.yaml")):
        text = path.read_text("utf-8")
        is_ours = not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        if is_ours and text.lstrip("\ufeff").startswith("outstep: contract/v1") and "mistake" not in path.name:
            found.append(path.relative_to(ROOT).as_posix())
    return found


def test_it_is_a_schema_of_draft_7() -> None:
    jsonschema.Draft7Validator.check_schema(json_schema.contract_schema())


def test_the_published_schema_is_that_of_this_version() -> None:
    published = (ROOT / "docs" / "schemas" / "contract.v1.json").read_text("utf-8")
    told = "run: outstep contract schema > docs/schemas/contract.v1.json"
    assert published == pretty(json_schema.contract_schema()), told


@pytest.mark.parametrize("name", files())
def test_a_contract_of_the_repository_is_accepted(name: str) -> None:
    if not name.endswith("packs/integrity.yaml"):  # its own kind is for nobody else
        assert accepts((ROOT / name).read_text("utf-8"))


def test_every_contract_of_the_cases_is_accepted() -> None:
    found = [case.contract for file in case_files() for case in read_cases(file)]
    assert len(found) > 300
    assert [text for text in dict.fromkeys(found) if not accepts(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "titel: x\n",
        "stage: never\n",
        "levels: {UNKNOWN_RECORD: loud}\n",
        "waivers: [{rule: R, owner: a}]\n",
        "waivers: {rule: R}\n",
        "tools: {pay: {effekt: write}}\n",
        "tools: {pay: {effect: reads}}\n",
        "tools: {pay: {targets: {file: args.x}}}\n",
        "tools: {'a b': {}}\n",
        "tools: [pay]\n",
        "facts: {f: {key: args.x}}\n",
        "facts: {f: {from: message, keep: newest}}\n",
        "facts: {f: {from: [{key: args.x}]}}\n",
        "facts: {f-g: {from: message}}\n",
        "claims: {c: {a: b}}\n",
        "claims: {'c d': [a]}\n",
        "params: {a-b: 1}\n",
        "rules: {id: A}\n",
        "rules: [{id: A}]\n",
        "rules: [{id: A, for: call *}]\n",
        "rules: [{id: A, for: call *, require: args.x == 1, at_most: 1}]\n",
        "rules: [{for: call *, require: args.x == 1}]\n",
        "rules: [{id: A, require: calls == 1}]\n",
        "rules: [{id: A, for: call *, requires: args.x == 1}]\n",
        "rules: [{id: A, for: call *, require: args.x == 1, per: args.x}]\n",
        "rules: [{id: A, never: call pay, for: call ship}]\n",
        "rules: [{id: A, for: call *, at_least: 2, counting: effects}]\n",
        "rules: [{id: A, for: call *, at_most: 2, counting: successes}]\n",
        "rules: [{id: A, for: call *, at_most: 2, per: args.x, in_a_row: often}]\n",
        "rules: [{id: A, for: call *, then: ok its result, within: 3 days}]\n",
        "rules: [{id: A, level: critical, never: call pay}]\n",
        "rules: [{id: A, class: money, never: call pay}]\n",
        "rules: [{id: A, judge: jury, never: call pay}]\n",
        "rules: [{id: A B, never: call pay}]\n",
        "rules: [{id: A, python: refund_rules}]\n",
        "rules: [{id: A, scope: {}}]\n",
        "rules: [{id: A, scope: {wrote: x}}]\n",
        "rules: [{id: A, scope: {write: {but: x}}}]\n",
        "rules: [{per: args.x, for: call *, rules: [{id: A, at_most: 1}]}]\n",
        "rules: [{for: call *, rules: [{id: A}]}]\n",
    ],
)
def test_both_refuse_a_mistake_that_a_schema_can_see(text: str) -> None:
    whole = text if "tools:" in text else TOOLS + text
    assert codes(whole)
    assert not accepts(HEAD + whole)


def mutants(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a document with one key misspelt or left out, or one value made a list, for each key in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            rest = {name: other for name, other in value.items() if name != key}
            yield f"{path}.{key} left out", rest
            yield f"{path}.{key} misspelt", {**rest, f"{key}x": inner}
            yield f"{path}.{key} in a list", {**value, key: [[inner]]}
            for told, changed in mutants(inner, f"{path}.{key}"):
                yield told, {**value, key: changed}
    elif isinstance(value, list):
        for place, item in enumerate(value):
            for told, changed in mutants(item, f"{path}[{place}]"):
                yield told, [*value[:place], changed, *value[place + 1 :]]


def plain(name: str) -> Any:
    report = Report()
    data = packs.source(name)
    file = decode(data or b"", name, 0, report)
    node = None if file is None else read(file, report)
    assert node is not None
    return plain_value(node)


def test_what_the_schema_refuses_the_loader_refuses() -> None:
    whole = {**plain("coding-agent"), "facts": {"f": {"from": ["message", {"from": "message", "value": "text"}]}}}
    whole["waivers"] = [{"rule": "NO_FORCE_PUSH", "owner": "a", "reason": "b", "until": "2026-01-01"}]
    whole["rules"] = [*whole["rules"], {"for": "message", "rules": [{"id": "G", "require": "f == text"}]}]
    found = list(mutants(whole))
    refused = [(told, changed) for told, changed in found if not VALIDATOR.is_valid(changed)]
    assert len(refused) > 100
    wrongly = [told for told, changed in refused if not problems(json.dumps(changed).encode())]
    assert wrongly == []


def test_every_description_belongs_to_a_key() -> None:
    assert set(DESCRIPTIONS) == set(json_schema._SHAPES)
    assert all(text.endswith(".") for text in DESCRIPTIONS.values())
