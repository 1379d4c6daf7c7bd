"""Every word that a message can use is explained."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import outstep as package
from outstep.cli.explain import FAMILIES, read_texts
from outstep.contracts import kinds, packs
from outstep.workflow.contracts import load_contract
from tests.cli.conftest import Outstep

SOURCE = Path(package.__file__).parent
TEXTS = {name for family in read_texts().values() for name in family}
CODE_FAMILIES = [
    "adapter",
    "baseline",
    "battery",
    "case",
    "compare",
    "condition",
    "config",
    "contract",
    "diff",
    "driver",
    "engine",
    "evidence",
    "expr",
    "input",
    "internal",
    "metrics",
    "output",
    "record",
    "redact",
    "report",
    "run",
    "scope",
    "trace",
    "usage",
    "why",
    "world",
]
CODE = re.compile(rf"({'|'.join(CODE_FAMILIES)})/[a-z]+(-[a-z]+)*")
TELLERS = {"error", "warning", "unknown", "tell", "tell_of", "Doubt"}
LOADERS = {
    "contracts": "contract",
    "battery": "battery",
    "casefiles.py": "case",
    "redaction": "redact",
    "world": "world",
}
"""Folders and modules whose messages are given without the family of their codes."""
SHARED = ("located.py", "quoting.py", "fields.py")
"""Modules of the folder `contracts` that read files of every such family."""


def codes() -> set[str]:
    """Return every code in the source: written out, or given without its family by the loader of contracts."""
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        families = [LOADERS[part] for part in path.relative_to(SOURCE).parts if part in LOADERS]
        if families == ["contract"] and path.name in SHARED:
            families = [*LOADERS.values()]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                found.add(node.value)
            elif families and isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                first = node.args[0]
                if name in TELLERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.update(f"{family}/{first.value}" for family in families)
    # Expressions say these of themselves, and the loader passes them on.
    found.update(f"{family}/more" for family in LOADERS.values())
    return found | {
        "contract/expression",
        "contract/type",
        "contract/unknown-name",
        "contract/not-bound-here",
        "world/type",
    }


def reasons() -> set[str]:
    """Return every reason that a ruling can have: nothing else in these modules is written so."""
    found = set()
    for path in [*SOURCE.glob("engine/*.py"), *SOURCE.glob("contracts/kinds/*.py"), *SOURCE.glob("workflow/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and re.fullmatch(r"[a-z]+(-[a-z]+)+", str(node.value)):
                found.add(str(node.value))
    return found


def test_codes_and_reasons_are_found_at_all() -> None:
    assert {"contract/unknown-tool", "adapter/unpinned-version", "trace/empty"} <= codes()
    assert {"hidden-trigger", "records-lost", "never-exercised"} <= reasons()


@pytest.mark.parametrize("code", sorted(codes()))
def test_every_code_is_explained(code: str) -> None:
    assert code in TEXTS


@pytest.mark.parametrize("reason", sorted(reasons()))
def test_every_reason_is_explained(reason: str) -> None:
    assert reason in TEXTS


@pytest.mark.parametrize("pack", packs.NAMES)
def test_every_rule_of_the_packs_is_explained(pack: str) -> None:
    assert {rule.id for rule in load_contract(pack).rules} - TEXTS == set()


def test_every_kind_is_explained() -> None:
    folder = Path(kinds.__file__).parent
    words = {path.stem for path in folder.glob("*.py")}
    asked = {"require", "never", "needs", "then", "at_most", "at_least", "exactly", "scope", "python", "integrity"}
    assert asked <= words
    assert asked <= TEXTS


def test_nothing_is_explained_that_no_code_says() -> None:
    of_codes = {name for name in TEXTS if CODE.fullmatch(name)}
    assert of_codes - codes() == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_says_what_it_means_and_what_to_do(family: str) -> None:
    for name, entry in read_texts()[family].items():
        assert set(entry) <= {"means", "do", "example"}, name
        assert entry["means"].endswith("."), name
        assert entry["do"].endswith("."), name


def test_a_word_is_found_in_any_case_and_without_its_family(outstep: Outstep) -> None:
    for word in ("contract/unknown-tool", "unknown-tool", "Contract/Unknown-Tool", "[contract/unknown-tool]"):
        assert outstep("explain", word).out.startswith("contract/unknown-tool\n")


def test_without_a_word_everything_is_listed(outstep: Outstep) -> None:
    listed = outstep("explain").out
    assert {line.strip() for line in listed.splitlines() if line.startswith("  ")} == TEXTS
