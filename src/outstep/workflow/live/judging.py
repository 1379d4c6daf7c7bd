"""A live run held against the contracts of its scenario."""

from __future__ import annotations

import os

from outstep.adapters.base import Document, ReadLog
from outstep.adapters.discover import Found, groups
from outstep.battery.model import Battery, Scenario
from outstep.contracts import packs
from outstep.contracts.model import Contract
from outstep.engine.monitor import Compiled
from outstep.findings import Report
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.contracts import open_contract
from outstep.workflow.judging import made_ready


class Bench:
    """The contracts of a battery, each made ready once."""

    def __init__(self, battery: Battery) -> None:
        self._folder = "" if battery.source.startswith("bundled:") else os.path.dirname(battery.source)
        self._ready: dict[str, tuple[list[Contract], list[Compiled]]] = {}

    def prepare(self, scenario: Scenario) -> bool:
        """Load the contracts of a scenario and return whether it has any; raises `OutstepError`."""
        if scenario.id not in self._ready:
            contracts = [
                open_contract(
                    use.contract if use.contract in packs.NAMES else os.path.join(self._folder, use.contract),
                    params=use.params or None,
                )[0]
                for use in scenario.contracts
            ]
            self._ready[scenario.id] = (contracts, [made_ready(contract) for contract in contracts])
        return bool(self._ready[scenario.id][0])

    def judge(self, scenario: Scenario, uri: str, data: bytes) -> Report | None:
        """Return what the contracts of a scenario say about a trace; none where it has no contract."""
        if not self.prepare(scenario):
            return None
        contracts, ready = self._ready[scenario.id]
        log = ReadLog()
        found = groups([Found(document=Document(uri, data=data))], "native", log)
        return check_groups(found, contracts, CheckOptions(), faults=log.faults, ready=ready)
