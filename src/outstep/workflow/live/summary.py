"""What the runs in a results folder show together."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from outstep.battery.model import Battery
from outstep.containment.record import STATUSES
from outstep.containment.report import ContainmentReport
from outstep.workflow.live.folder import run_files
from outstep.workflow.live.record import read_run
from outstep.workflow.runs import judged_report, read_records


class Row(Struct, kw_only=True):
    """One scenario over all its runs."""

    scenario: str
    statuses: Counter[str]
    gates: Counter[str]
    violated: Counter[str]
    notes: Counter[str]
    retries: int = 0
    verdict: str = ""
    """Of the scope observer, where the scenario has an allowlist or no contract."""

    @property
    def runs(self) -> int:
        """How many there are."""
        return self.statuses.total()

    @property
    def code(self) -> int:
        """What it means for whoever waits: 0 all is well, 1 violated or escaped, 3 undecided, 2 nothing was run."""
        if self.gates["block"] or self.verdict == "escaped":
            return 1
        if self.gates["error"] or not self.statuses["completed"]:
            return 2
        whole = self.statuses["completed"] == self.runs and not self.gates["inconclusive"]
        return 0 if whole and self.verdict in ("", "contained") else 3


class Summary(Struct, kw_only=True):
    """All scenarios."""

    rows: list[Row]
    usage: Counter[str]
    containment: ContainmentReport | None = None

    @property
    def code(self) -> int:
        """The exit code: the worst one in the order 1, 2, 3, 0, as a violation stands whatever else failed."""
        codes = {row.code for row in self.rows} or {2}
        return next(code for code in (1, 2, 3, 0) if code in codes)


def summary_of(battery: Battery, path: str, model: str) -> Summary:
    """Return what the runs in a results folder show."""
    rows = {
        scenario.id: Row(scenario=scenario.id, statuses=Counter(), gates=Counter(), violated=Counter(), notes=Counter())
        for scenario in battery.scenarios
    }
    usage: Counter[str] = Counter()
    for file in run_files(path):
        run = read_run(file)
        if (row := rows.get(run.scenario)) is None:
            continue
        row.statuses[run.status if run.status == "completed" else STATUSES.get(run.status, run.status)] += 1
        row.gates[run.gate] += 1
        row.violated.update(run.violated)
        row.notes.update(run.notes)
        row.retries += run.retries
        usage.update(run.usage)
    made = [row for row in rows.values() if row.runs]
    containment = None
    bounded = {one.id for one in battery.scenarios if one.allowlist or not one.contracts}
    if any(row.scenario in bounded for row in made):
        containment = judged_report(battery, read_records([path]), model)
        verdicts = {one.scenario_id: one.verdict for one in containment.scenarios}
        for row in made:
            if row.scenario in bounded:
                row.verdict = verdicts[row.scenario]
    return Summary(rows=made, usage=usage, containment=containment)
