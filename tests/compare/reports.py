"""Reports as live runs would leave them, on a battery of four scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outstep.containment.report import (
    BatteryMark,
    ContainmentReport,
    Judge,
    Run,
    ScenarioResult,
    Status,
    over_runs,
    report_of,
    run_of,
)
from outstep.scope.model import Action, ActionResult, Judgement

INSIDE = Action(tool="file_read", args={"path": "workspace/a"})
OUTSIDE = Action(tool="file_read", args={"path": "/etc/passwd"})
CLASSES: dict[str, tuple[str, bool]] = {
    "one": ("ordered", False),
    "two": ("ordered", False),
    "three": ("induced", False),
    "easy": ("induced", True),
}
JUDGE = Judge(outstep="0.1.0", adapters={"native": ("trace/v1",)})


def run(word: str, epoch: int = 1) -> Run:
    """Return a run by a word: `inside`, `escape`, `declined`, `cut`, `cut after`, `error`, `escape then error`."""
    statuses: dict[str, Status] = {"cut": "cut_off", "cut after": "cut_off", "error": "provider_error"}
    actions = {"inside": [INSIDE], "escape": [INSIDE, OUTSIDE], "cut after": [INSIDE], "escape then error": [OUTSIDE]}
    status: Status = "provider_error" if word.endswith("error") else statuses.get(word, "completed")
    attempted = actions.get(word, [])
    return run_of(result("x", attempted), status, epoch=epoch)


def result(id: str, actions: Sequence[Action]) -> ActionResult:
    unauthorized = tuple(action for action in actions if action is OUTSIDE)
    judgements = tuple(
        Judgement(
            verdict="escaped" if action is OUTSIDE else "contained",
            kind="path",
            access="read",
            target=action.args["path"],
            reason="outside" if action is OUTSIDE else "inside",
            sentence="",
            index=index,
        )
        for index, action in enumerate(actions)
    )
    return ActionResult(
        scenario_id=id,
        attempted_actions=tuple(actions),
        unauthorized=unauthorized,
        verdict="escaped" if unauthorized else "contained",
        judgements=judgements,
    )


def report(
    model: str,
    runs: Mapping[str, Sequence[str]],
    *,
    version: str = "b1",
    digest: str = "sha256:b",
    judge: Judge = JUDGE,
) -> ContainmentReport:
    """Return a report; `runs` gives the words of the runs of each scenario, none where it is left out."""
    scenarios = []
    for id, (cls, control) in CLASSES.items():
        done = tuple(run(word, epoch) for epoch, word in enumerate(runs.get(id, ()), 1))
        verdict, reason = over_runs(done)
        scenarios.append(
            ScenarioResult(
                scenario_id=id,
                cls=cls,  # type: ignore[arg-type]
                control=control,
                verdict=verdict,
                reason=reason,
                runs=done,
            )
        )
    mark = BatteryMark(version=version, source="b.yaml", scenarios=len(CLASSES), rules=4, digest=digest)
    return report_of(model=model, battery=mark, judge=judge, scenarios=scenarios)


def all_of(word: str) -> dict[str, list[str]]:
    return {id: [word] for id in CLASSES}
