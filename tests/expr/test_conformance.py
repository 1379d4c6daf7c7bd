"""CEL's own conformance suite: every vector has the fate that docs/cel.md says, and none has a wrong value."""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from tests.command_line import ROOT
from tests.expr.conformance import DEVIATIONS, fate, vectors

PAGE = ROOT / "docs" / "cel.md"
ALL = [(file, vector, fate(vector)) for file, vector in vectors()]


def test_no_vector_has_a_wrong_value() -> None:
    wrong = [
        (vector["name"], vector["expr"], vector.get("value", "error"), why)
        for _, vector, (word, why) in ALL
        if word == "wrong"
    ]
    assert wrong == []


def test_every_deviation_is_met_and_named_by_the_semantics() -> None:
    met = {vector["name"] for _, vector, (word, _) in ALL if word == "deviates"}
    assert met == set(DEVIATIONS)
    semantics = (ROOT / "docs" / "semantics.md").read_text("utf-8")
    assert {told["deviation"] for told in DEVIATIONS.values()} <= set(
        re.findall(r"^\| ([a-z]+-[a-z]+) \|", semantics, re.MULTILINE)
    )


def test_every_reason_to_refuse_is_explained() -> None:
    page = PAGE.read_text("utf-8")
    reasons = {why for _, _, (word, why) in ALL if word == "refused"}
    assert [reason for reason in sorted(reasons) if f"| {reason} |" not in page] == []


def tables() -> str:
    by_file: dict[str, Counter[str]] = {}
    reasons: Counter[str] = Counter()
    for file, _, (word, why) in ALL:
        by_file.setdefault(file, Counter())[word] += 1
        reasons[why] += word == "refused"
    lines = ["| file | vectors | same | stricter | deviates | refused |", "|---|---|---|---|---|---|"]
    words = ("same", "stricter", "deviates", "refused")
    for file, counts in by_file.items():
        told = " | ".join(str(counts[word] or "") for word in words)
        lines.append(f"| `{file}` | {sum(counts.values())} | {told} |")
    total = sum(by_file.values(), Counter())
    lines.append(f"| all | {len(ALL)} | {' | '.join(str(total[word]) for word in words)} |")
    return "\n".join(lines)


def test_the_page_says_what_passes() -> None:
    page = PAGE.read_text("utf-8")
    begin, end = "<!-- conformance -->\n", "<!-- end -->"
    head, _, rest = page.partition(begin)
    shown, _, tail = rest.partition(end)
    if os.environ.get("OUTSTEP_SNAPSHOTS") == "write":
        PAGE.write_text(f"{head}{begin}{tables()}\n{end}{tail}", "utf-8")
        return
    assert shown == f"{tables()}\n", "run OUTSTEP_SNAPSHOTS=write pytest tests/expr/test_conformance.py"


@pytest.mark.parametrize("name", ["comprehension_shadowing_disambiguation"])
def test_a_name_of_the_surroundings_behind_a_dot_is_never_the_variable_of_a_macro(name: str) -> None:
    fates = [result for _, vector, result in ALL if vector["name"].endswith(f"/{name}")]
    assert [word for word, _ in fates] == ["refused"]
