"""From the text of a battery to a checked battery, or to every mistake in it at once.

docs: docs/batteries.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from outstep.battery import lint
from outstep.battery.model import Battery, ContractUse, Scenario
from outstep.battery.scalars import read_text, read_version, visible
from outstep.battery.scenarios import ScenarioReader
from outstep.contracts.fields import Fields
from outstep.contracts.located import Mapping, Node, Sequence, decode, read
from outstep.contracts.report import Report, Span
from outstep.errors import OutstepError, Problem

KEYS = ("version", "battery_version", "title", "description", "scenarios")
OWN = "x-"
"""Keys that begin so belong to whoever wrote them."""

OpenContract = Callable[[str, dict[str, Any]], str]
"""Returns the digest of a contract by name and parameters; raises `OutstepError` with its mistakes."""


class Loaded(Struct, frozen=True):
    """A checked battery, and what is allowed in it and probably not meant."""

    battery: Battery
    warnings: tuple[Problem, ...]


def load(
    data: bytes,
    *,
    name: str = "battery.yaml",
    source: str = "",
    open_contract: OpenContract | None = None,
    hints: bool = False,
) -> Loaded:
    """Return a battery from the bytes of a file that messages call `name`; raises `OutstepError`.

    With `hints`, what may well be meant is among the warnings, too.
    """
    report = Report("battery")
    root = _tree(data, name, report)
    battery = None if root is None else _battery(root, source or name, report, hints=hints)
    problems = report.problems("error")
    if battery is not None:
        battery, more = _with_contracts(battery, open_contract)
        problems += more
    if problems or battery is None:
        raise OutstepError(*problems)
    return Loaded(battery, report.problems("warning"))


def load_scenario(data: bytes, *, name: str = "scenario.yaml") -> tuple[Scenario, tuple[Problem, ...]]:
    """Return one scenario, and warnings, from a file that holds nothing else; raises `OutstepError`."""
    report = Report("battery")
    root = _tree(data, name, report)
    scenario = None
    if isinstance(root, Mapping):
        scenario = ScenarioReader(report).read(root)
    elif root is not None:
        report.error("value", "a scenario is a map of keys", visible(root))
    errors = report.problems("error")
    if errors or scenario is None:
        raise OutstepError(*errors)
    return scenario, report.problems("warning")


def _tree(data: bytes, name: str, report: Report) -> Node | None:
    file = decode(data, name, 0, report)
    if file is None:
        return None
    root = read(file, report)
    if root is None and not report.failed:
        sentence = f"`{name}` is empty" if not file.text.strip() else f"`{name}` holds no value"
        report.error("empty", sentence, Span(file, 0, 1), "a battery has `version` and `scenarios`")
    return root


def _battery(root: Node, source: str, report: Report, *, hints: bool) -> Battery | None:
    if not isinstance(root, Mapping):
        report.error("value", "a battery is a map with `version` and `scenarios`", visible(root))
        return None
    fields = Fields(root, report, "a battery", KEYS, OWN)
    version = _version(fields, report)
    scenarios = _scenarios(fields, report, hints=hints)
    title, description = (_prose(fields, key, report) for key in ("title", "description"))
    if version is None or report.failed:
        return None
    return Battery(version=version, scenarios=tuple(scenarios), source=source, title=title, description=description)


def _version(fields: Fields, report: Report) -> str | int | float | None:
    if "version" in fields and "battery_version" in fields:
        sentence = "`version` and `battery_version` are two names of one thing"
        report.error("value", sentence, fields.key("battery_version"), "leave one of them out")
    key = "battery_version" if "battery_version" in fields and "version" not in fields else "version"
    node = fields.need(key, "a version tells one state of the battery from the next: `version: mine_v1`")
    return None if node is None else read_version(node, report)


def _prose(fields: Fields, key: str, report: Report) -> str:
    node = fields.get(key)
    return "" if node is None else read_text(node, report, f"`{key}`") or ""


def _scenarios(fields: Fields, report: Report, *, hints: bool) -> list[Scenario]:
    node = fields.need("scenarios", "write `scenarios:` and below it `  - id: …`, `    goal: …`")
    if node is None:
        return []
    if not isinstance(node, Sequence):
        report.error("value", "`scenarios` is a list of scenarios", visible(node), "begin each with `- id: …`")
        return []
    if not node.items:
        report.error("empty", "the battery has no scenario: nothing would be checked", visible(node))
    reader = ScenarioReader(report)
    found = [reader.read(item) for item in node.items]
    lint.warn(reader.read_rules, report)
    if hints:
        lint.hint(reader.read_rules, report)
    return [scenario for scenario in found if scenario is not None]


def _with_contracts(battery: Battery, open_contract: OpenContract | None) -> tuple[Battery, tuple[Problem, ...]]:
    """Return a battery whose contracts carry their digests, and what is wrong with them."""
    if open_contract is None or not any(scenario.contracts for scenario in battery.scenarios):
        return battery, ()
    return _Contracts(open_contract).resolve(battery)


class _Contracts:
    """Opens every contract of a battery once."""

    def __init__(self, open_contract: OpenContract) -> None:
        self._open = open_contract
        self._problems: dict[Problem, None] = {}
        self._found: list[tuple[ContractUse, ContractUse]] = []

    def resolve(self, battery: Battery) -> tuple[Battery, tuple[Problem, ...]]:
        from msgspec.structs import replace

        scenarios = tuple(
            replace(scenario, contracts=tuple(map(self._opened, scenario.contracts))) for scenario in battery.scenarios
        )
        return replace(battery, scenarios=scenarios), tuple(self._problems)

    def _opened(self, use: ContractUse) -> ContractUse:
        from msgspec.structs import replace

        for asked, opened in self._found:
            if asked == use:
                return opened
        opened = use
        try:
            opened = replace(use, sha256=self._open(use.contract, use.params))
        except OutstepError as error:
            self._problems.update(dict.fromkeys(error.problems))
        self._found.append((use, opened))
        return opened
