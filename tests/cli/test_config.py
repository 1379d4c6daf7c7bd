"""Defaults of a project: found upwards, read with every mistake, beaten by options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import SHOP, Outstep


@pytest.fixture
def project(outstep: Outstep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the files of the shop, entered: after `outstep` has entered the shop itself."""
    assert callable(outstep)
    folder = tmp_path / "project"
    (folder / "deep").mkdir(parents=True)
    for name in ("refund.yaml", "good.jsonl", "bad.jsonl", "quiet.jsonl", "idle.yaml"):
        (folder / name).write_bytes((SHOP / name).read_bytes())
    monkeypatch.chdir(folder)
    return folder


def test_contract_and_paths_come_from_the_file(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_text('contract = "refund.yaml"\npaths = ["bad.jsonl"]\n')
    assert outstep("check").code == 1
    assert outstep("check", "good.jsonl").code == 0
    assert outstep("check", "--contract", "idle.yaml").code == 0


def test_it_is_found_from_below_and_paths_are_seen_from_its_folder(
    outstep: Outstep, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "outstep.toml").write_text('contract = ["refund.yaml", "refund"]\npaths = "bad.jsonl"\n')
    monkeypatch.chdir(project / "deep")
    done = outstep("check")
    assert done.code == 1
    assert "--> ../bad.jsonl line 5" in done.out
    assert "= contract: ../refund.yaml:17" in done.out


def test_the_nearest_file_counts(outstep: Outstep, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "outstep.toml").write_text('contract = "nowhere.yaml"\n')
    (project / "deep" / "pyproject.toml").write_text('[tool.outstep]\ncontract = "../refund.yaml"\n')
    monkeypatch.chdir(project / "deep")
    assert outstep("check", "../good.jsonl").code == 0


def test_a_pyproject_of_other_tools_is_passed_by(outstep: Outstep, project: Path) -> None:
    (project / "deep" / "pyproject.toml").write_text('[project]\nname = "tool.outstep"\n')
    (project / "outstep.toml").write_text('contract = "refund.yaml"\n')
    assert outstep("check", "good.jsonl").code == 0


def test_options_win(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_text(
        'contract = "refund.yaml"\nfail_on = "warn"\nparam = {refunds_expected = 2}\nrequire_exercised = true\n'
    )
    assert outstep("check", "good.jsonl").code == 1
    assert outstep("check", "good.jsonl", "--param", "refunds_expected=1").code == 0
    assert outstep("check", "quiet.jsonl", "--param", "refunds_expected=1").code == 1
    words = ("--param", "refunds_expected=1", "--fail-on", "block", "--no-require-exercised")
    assert outstep("check", "quiet.jsonl", *words).code == 0


def test_it_can_be_left_out(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_text("nonsense = [")
    assert outstep("check", "good.jsonl", "-c", "refund.yaml").code == 2
    assert outstep("check", "good.jsonl", "-c", "refund.yaml", "--no-config").code == 0


def test_a_table_of_pyproject_in_the_own_file_is_told_where_it_belongs(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_text('[tool.outstep]\ncontract = "refund.yaml"\n')
    done = outstep("check", "good.jsonl")
    assert done.code == 2
    assert "is for pyproject.toml" in done.err


def test_every_mistake_is_shown_with_its_line(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_text('contract = 7\n\ncontracts = "x"\njobs = true\nunpinned = "yes"\n')
    done = outstep("check", "good.jsonl")
    assert (done.code, done.out) == (2, "")
    assert [line for line in done.err.splitlines() if line.startswith(("error", "  -->", "   = help"))] == [
        "error[config/value]: `contract` is neither a text nor a list of texts",
        "  --> outstep.toml:1",
        "error[config/unknown-key]: `contracts` is no key of the configuration",
        "  --> outstep.toml:3",
        "   = help: did you mean `contract`?",
        "error[config/value]: `jobs` is no whole number from 0 on",
        "  --> outstep.toml:4",
        "error[config/value]: `unpinned` is neither `true` nor `false`",
        "  --> outstep.toml:5",
    ]


def test_a_file_that_is_no_toml_is_named(outstep: Outstep, project: Path) -> None:
    (project / "outstep.toml").write_bytes(b"contract = \xff")
    done = outstep("check", "good.jsonl")
    assert done.code == 2
    assert "error[config/toml]: `outstep.toml` is no TOML" in done.err


@pytest.mark.parametrize(("text", "code"), [("1", 0), ("2", 1), ("1.0", 0), ("1.0000000000000000001", 1)])
def test_numbers_of_parameters_are_exact(outstep: Outstep, project: Path, text: str, code: int) -> None:
    (project / "outstep.toml").write_text(f'contract = "refund.yaml"\nparam = {{refunds_expected = {text}}}\n')
    assert outstep("check", "good.jsonl").code == code
    assert outstep("check", "good.jsonl", "--param", f"refunds_expected={text}").code == code
