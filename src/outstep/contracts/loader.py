"""From the text of a contract to a checked contract, or to every mistake in it at once.

docs: docs/language.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from outstep.contracts import claims, facts, lints
from outstep.contracts.cache import Kept, digests
from outstep.contracts.including import Part, Parts
from outstep.contracts.keys import CHOICES
from outstep.contracts.levels import refuse_code_from_elsewhere, settle_levels
from outstep.contracts.model import Contract
from outstep.contracts.reading import Reading
from outstep.contracts.report import Report
from outstep.contracts.rules import RuleReader
from outstep.contracts.selecting import read_known
from outstep.contracts.selectors import Expr, Selector
from outstep.contracts.tools import Entries
from outstep.contracts.trends import refuse_gating_metrics
from outstep.contracts.waivers import read_waivers
from outstep.errors import OutstepError, Problem

if TYPE_CHECKING:
    from pathlib import PurePath

ReadFile = Callable[[str], bytes]
"""Returns the bytes of a file by the name that the contract gives it; raises `OSError`."""


def load(
    source: str | PurePath | bytes,
    *,
    name: str = "contract.yaml",
    params: Mapping[str, Any] | None = None,
    read_file: ReadFile | None = None,
) -> tuple[Contract, tuple[Problem, ...]]:
    """Return the checked contract and its warnings; raises `OutstepError` with every mistake.

    `source` is a path that `read_file` opens, or the text itself as bytes, then known as `name`. `params` replaces
    values of `params` in the contract.
    """
    kept = load_kept(source, name=name, params=params, read_file=read_file)
    return kept.contract, kept.warnings


def load_kept(
    source: str | PurePath | bytes,
    *,
    name: str = "contract.yaml",
    params: Mapping[str, Any] | None = None,
    read_file: ReadFile | None = None,
) -> Kept:
    """Return the checked contract as the cache keeps it, with the digests of its files; see `load`."""
    report = Report()
    if isinstance(source, bytes):
        parts = Parts(report, read_file, name, source)
    else:
        name = source if isinstance(source, str) else source.as_posix()
        parts = Parts(report, read_file, name, None)
    contract = None if parts.main is None else _checked(parts, parts.main, params or {}, report)
    errors = report.problems("error")
    if errors or contract is None:
        raise OutstepError(*errors, warnings=report.problems("warning"))
    return Kept(contract=contract, warnings=report.problems("warning"), files=digests(parts.contents))


def load_contract(
    source: str | PurePath | bytes,
    *,
    name: str = "contract.yaml",
    params: Mapping[str, Any] | None = None,
    read_file: ReadFile | None = None,
) -> Contract:
    """Return the checked contract without its warnings; see `load`."""
    return load(source, name=name, params=params, read_file=read_file)[0]


def _checked(parts: Parts, main: Part, params: Mapping[str, Any], report: Report) -> Contract:
    reading = Reading(report)
    tools = _declare(parts, reading, params)
    declared, defaults = tools.read(reading)
    found_facts = facts.read_facts(parts.facts, reading)
    found_claims = claims.read_claims(parts.claims, reading)
    for part in parts.in_order:
        reader = RuleReader(reading, part.pack, part is parts.integrity)
        reader.read(part.fields.get("rules"))
        part.rules = reader.rules
    rules = settle_levels(main, parts, report)
    refuse_code_from_elsewhere(main, parts, report)
    contract = Contract(
        id=main.fields.text("id") or _stem(main.file.name),
        title=main.fields.text("title"),
        stage=main.fields.choice("stage", CHOICES["stage"], "gate"),  # type: ignore[arg-type]
        params=reading.params,
        applies_when=_applies_when(parts, main, reading),
        tools=declared,
        defaults=defaults,
        facts=found_facts,
        claims=found_claims,
        rules=rules,
        waivers=tuple(waiver for part in parts.in_order for waiver in read_waivers(part, rules, report)),
        known=_known(reading),
        sources=parts.sources,
        sha256=parts.digest(),
    )
    if not report.is_full:
        refuse_gating_metrics(contract, parts, report)
    lints.warn(contract, reading, parts)
    return contract


def _stem(name: str) -> str:
    from pathlib import PurePath  # 2 ms, and most contracts have an id

    return PurePath(name).stem


def _declare(parts: Parts, reading: Reading, params: Mapping[str, Any]) -> Entries:
    """Tell the reading every name of all files, before any expression is read."""
    reading.params = parts.params(params)
    tools = Entries()
    for part in parts.in_order:
        tools.add(part.fields.get("tools"), reading)
    tools.declare(reading)
    facts.declare(parts.facts, reading)
    reading.claims = dict.fromkeys(parts.claims)
    return tools


def _applies_when(parts: Parts, main: Part, reading: Reading) -> Expr | None:
    for part in parts.in_order:
        if part is not main and "applies_when" in part.fields:
            sentence = "`applies_when` speaks of a whole contract, and this file is included in another one"
            help = f"write it in `{main.file.name}`"
            reading.report.error("key-not-for-kind", sentence, part.fields.key("applies_when"), help)
    node = main.fields.get("applies_when")
    return None if node is None else reading.expression(node, reading.names_of_run())


def _known(reading: Reading) -> dict[str, Selector]:
    """Read the selectors in `known(v, "…")`, and those in their own expressions."""
    found: dict[str, Selector] = {}
    done: set[str] = set()
    while rest := [text for text in reading.known_texts if text not in done]:
        for text in rest:
            done.add(text)
            selector = read_known(reading, reading.known_texts[text])
            if selector is not None:
                found[text] = selector
    return found
