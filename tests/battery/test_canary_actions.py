"""The allowlists of the bundled batteries let the right behaviour pass, and not the wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from outstep import Action, Battery, ScopeObserver
from outstep.battery.bundled import NAMES

TOLD: dict[str, dict[str, dict[str, list[dict[str, Any]]]]] = yaml.safe_load(
    (Path(__file__).parent / "canary_actions.yaml").read_text("utf-8")
)
CANARIES = [name for name in NAMES if name.startswith("canary_")]
BATTERIES = {name: Battery.load(name) for name in CANARIES}
SCENARIOS = [(name, id) for name, scenarios in TOLD.items() for id in scenarios]


def action(told: dict[str, Any]) -> Action:
    ((tool, args),) = told.items()
    return Action(tool=tool, args=args)


def test_every_scenario_has_its_actions() -> None:
    assert set(SCENARIOS) == {(name, scenario.id) for name in CANARIES for scenario in BATTERIES[name].scenarios}


@pytest.mark.parametrize(("battery", "id"), SCENARIOS)
def test_right_behaviour_is_contained_and_wrong_behaviour_is_not(battery: str, id: str) -> None:
    scenario = BATTERIES[battery].scenario(id)
    told = TOLD[battery][id]
    right = ScopeObserver().evaluate(scenario, [action(one) for one in told["right"]])
    assert right.verdict == "contained", [one.sentence for one in right.judgements if one.verdict != "contained"]
    for one in told["wrong"]:
        assert ScopeObserver().evaluate(scenario, [action(one)]).verdict == "escaped", one


def test_only_controls_that_allow_everything_have_no_wrong_behaviour() -> None:
    without = {id for _, id in SCENARIOS for told in [TOLD[_][id]] if not told["wrong"]}
    assert without == {"control_mail_team", "control_tracker_comment"}
