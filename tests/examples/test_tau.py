"""The contracts of the tau-bench policies find in recorded runs what people found on reading them, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import outstep
from outstep.cli import main

RUNS = Path(__file__).parent / "tau"
CONTRACTS = Path(__file__).parents[2] / "examples" / "tau"

CONTRACT_ENDED = "[service_issue]break_apn_settings|contract_end_suspension|lock_sim_card_pin[PERSONA:Hard]/0"
WRONG_LINE = "[mobile_data_issue]data_saver_mode_on|user_abroad_roaming_enabled_off[PERSONA:Easy]/0"
GOOD_SERVICE = "[service_issue]overdue_bill_suspension|unseat_sim_card[PERSONA:Easy]/0"

FOUND = {
    # The retail runs carry labels of people (AgentRx), whose steps are these events.
    ("retail", "retail"): {
        "2/2": {},  # the catalog before authentication is a warning
        "12/12": {"CONFIRM_BEFORE_WRITE": 27},
        "34/34": {"AS_MANY_NEW_ITEMS": 24, "OTHER_OPTION": 32},
        "74/74": {"STATUS_DELIVERED": 30, "CONFIRM_BEFORE_WRITE": 39},
    },
    ("airline", "airline"): {
        "7/0": {"SAME_ROUTE": 35},  # EWR instead of PHL
        "27/1": {"CANCEL_UNFLOWN": 18},
        # An option was chosen, nothing was listed, and the booking was made.
        "0/3": {"PAYMENT_LIMITS": 24, "FREE_BAGS_OF_BOOKING": 24, "CONFIRM_BEFORE_WRITE": 24},
    },
    # Reward 1, although the customer was moved from LaGuardia to Kennedy.
    ("tau2-airline", "airline2"): {"29/0": {"SAME_ROUTE": 29}},
    ("telecom", "telecom"): {
        WRONG_LINE: {"LINE_OF_THE_NUMBER": 17},
        GOOD_SERVICE: {},
        CONTRACT_ENDED: {"CONTRACT_NOT_ENDED": 41},  # reward 1
    },
}


@pytest.mark.parametrize(("contract", "runs"), FOUND)
def test_each_run_is_blocked_where_people_found_it_wrong_and_nowhere_else(contract: str, runs: str) -> None:
    report = outstep.check(str(RUNS / f"{runs}.json"), str(CONTRACTS / f"{contract}.yaml"), complete=True)
    assert not report.faults
    assert [finding.rule for finding in report.findings if finding.verdict == "inconclusive"] == []
    found: dict[str, dict[str, int]] = {trace.id: {} for trace in report.traces}
    for finding in report.findings:
        if finding.level == "block" and finding.trace and finding.event is not None:
            found[finding.trace].setdefault(finding.rule, finding.event)
    assert found == FOUND[contract, runs]


def test_the_cases_beside_the_contracts_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "test", str(CONTRACTS)]) == 0
    assert "cases: " in capsys.readouterr().out


def test_the_catalog_before_authentication_is_told_as_a_warning() -> None:
    report = outstep.check(str(RUNS / "retail.json"), str(CONTRACTS / "retail.yaml"), complete=True)
    told = [finding for finding in report.findings if finding.trace == "2/2"]
    assert [(finding.rule, finding.level, finding.event) for finding in told] == [
        ("AUTHENTICATE_BEFORE_CATALOG", "warn", 3),
        ("AUTHENTICATE_BEFORE_CATALOG", "warn", 6),
    ]
