"""The pages say what the engine says: each small trace of a page gets the verdicts that stand under it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import Struct

from outstep.contracts.loader import load_contract
from outstep.engine import Compiled
from outstep.tracetext import parse_trace
from tests.engine.ways import batched, live

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [*sorted((DOCS / "kinds").glob("*.md")), *(DOCS / f"{name}.md" for name in (
    "integrity", "claims", "facts", "outcomes", "known-order"
))]  # fmt: skip


class Shown(Struct, frozen=True):
    """A trace on a page, with the contract above it and the verdicts under it."""

    place: str
    contract: str
    trace: str
    verdicts: dict[str, str]


def shown(page: Path) -> list[Shown]:
    """Return the traces of a page."""
    found: list[Shown] = []
    text = page.read_text("utf-8")
    contract = ""
    for block in re.finditer(r"^```(yaml|trace)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block[1] == "yaml":
            contract = block[2]
            continue
        line = text.count("\n", 0, block.start()) + 1
        verdicts = dict(re.findall(r"^# (\w+): (\w+)$", block[2], re.MULTILINE))
        found.append(Shown(f"{page.stem}:{line}", contract, block[2], verdicts))
    return found


ALL = [trace for page in PAGES for trace in shown(page)]


@pytest.mark.parametrize("trace", ALL, ids=[trace.place for trace in ALL])
def test_a_trace_of_a_page_gets_the_verdicts_that_stand_under_it(trace: Shown) -> None:
    contract = load_contract(trace.contract.encode())
    compiled = Compiled(contract)
    recorded = parse_trace(trace.trace)
    exact = live(compiled, *recorded, exact=True)
    assert live(compiled, *recorded) == exact
    assert batched(compiled, [recorded], 3) == [exact]
    verdicts = dict(zip((rule.id for rule in contract.rules), exact.verdicts, strict=True))
    assert {rule: verdicts[rule] for rule in trace.verdicts} == trace.verdicts
    assert trace.verdicts


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_contract_of_a_page_loads(page: Path) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks or page.stem == "README"
    for block in blocks:
        load_contract(block.encode())
