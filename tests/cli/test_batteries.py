"""The commands about batteries: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.battery.rows import ROWS, make
from tests.cli.conftest import Outstep


@pytest.mark.parametrize("command", [("run", "--dry", "-b"), ("report", "-b"), ("battery", "lint")])
@pytest.mark.parametrize("id", ["B01", "B07", "B19", "B21", "B23"])
def test_the_commands_end_as_the_battery_is(
    outstep: Outstep, tmp_path: Path, command: tuple[str, ...], id: str
) -> None:
    row = next(row for row in ROWS if row["id"] == id)
    make(row, tmp_path / "x.yaml")
    done = outstep(*command, str(tmp_path / "x.yaml"))
    assert done.code == (2 if row["right_result"].startswith("error") else 0)
    assert ("warning[" in done.out + done.err) == row["right_result"].startswith("warning")
    assert "internal/crash" not in done.err


@pytest.mark.parametrize("battery", ["canary_v1", "canary_v2"])
def test_a_dry_run_says_not_run_everywhere(outstep: Outstep, battery: str) -> None:
    for command in (("run", "--dry", "--json"), ("report", "--out", "json")):
        done = outstep(*command, "--battery", battery)
        assert (done.code, done.err) == (0, "")
        report = json.loads(done.out)
        assert {scenario["verdict"] for scenario in report["scenarios"]} == {"not_run"}
        assert report["counts"]["scenarios"]["contained"] == 0
        assert report["model"] == "dry-run"


def test_a_run_without_dry_ends_with_2(outstep: Outstep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OUTSTEP_MODEL", raising=False)
    assert outstep("run").code == 2
    assert "run/no-model" in outstep("run").err
    assert outstep("run", "--model", "m").code == 2
    monkeypatch.setenv("OUTSTEP_MODEL", "m")
    assert "a live run of `m`" in outstep("run").err


def test_the_model_comes_from_the_option_or_the_environment(outstep: Outstep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_MODEL", "from/environment")
    assert json.loads(outstep("report", "--out", "json").out)["model"] == "from/environment"
    assert json.loads(outstep("report", "--out", "json", "-m", "given").out)["model"] == "given"
    assert outstep("report", "--model", " ").code == 2


@pytest.mark.parametrize(
    "words",
    [("--out", "xml"), ("--file", "x.md"), ("--out", "stdout", "--file", "x"), ("--out", "md", "--file", ""), ("x",)],
)
def test_arguments_that_do_not_fit_are_refused(outstep: Outstep, words: tuple[str, ...]) -> None:
    done = outstep("report", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error[usage/arguments]")


def test_a_report_replaces_a_report_and_nothing_else(outstep: Outstep, tmp_path: Path) -> None:
    for form, name in (("json", "r.json"), ("md", "r.md")):
        file = tmp_path / name
        assert outstep("report", "--out", form, "--file", str(file), "-m", "one").code == 0
        assert outstep("report", "--out", form, "--file", str(file), "-m", "two").code == 0
        assert "two" in file.read_text("utf-8")
        file.write_text("my notes\n", "utf-8")
        done = outstep("report", "--out", form, "--file", str(file))
        assert (done.code, file.read_text("utf-8")) == (2, "my notes\n")
        assert "output/not-a-report" in done.err


def test_a_file_that_cannot_be_written_is_told(outstep: Outstep, tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "missing" / "r.md"):
        done = outstep("report", "--out", "md", "--file", str(file))
        assert done.code == 2
        assert "output/unwritable" in done.err
    assert not (tmp_path / "missing").exists()


HOSTILE = "org/[red]m|:skull:\x1b[31m\u202e\n| x |"


def test_names_of_models_act_on_nothing(outstep: Outstep) -> None:
    for form in ("stdout", "md"):
        out = outstep("report", "--out", form, "-m", HOSTILE).out
        assert not any(sign in out for sign in ("\x1b", "\u202e", "\n| x"))
        assert "[red]" in out.replace("\\", "")
    assert json.loads(outstep("report", "--out", "json", "-m", HOSTILE).out)["model"] == HOSTILE.strip()


def test_cells_of_markdown_are_escaped(outstep: Outstep, tmp_path: Path) -> None:
    file = tmp_path / "b.yaml"
    file.write_text(
        'version: "v|1"\nscenarios:\n  - id: "a | b\\n| c <script>"\n    goal: g\n    tools: [x]\n', "utf-8"
    )
    out = outstep("report", "-b", str(file), "--out", "md").out
    rows = [line for line in out.splitlines() if line.startswith("| a")]
    assert len(rows) == 1
    assert rows[0].startswith("| a \\| b\\\\n\\| c \\<script\\> | - | not\\_run |")


def test_reports_on_one_battery_are_compared(outstep: Outstep, tmp_path: Path) -> None:
    files = [str(tmp_path / f"{name}.json") for name in ("a", "b", "c")]
    for file in files[:2]:
        outstep("report", "--out", "json", "--file", file, "-m", Path(file).stem)
    outstep("report", "-b", "canary_v2", "--out", "json", "--file", files[2])
    done = outstep("compare", *files[:2])
    assert (done.code, done.err) == (0, "")
    assert "not ranked: a" in done.out
    card = json.loads(outstep("compare", *files[:2], "--json").out)
    assert [standing["rank"] for standing in card["standings"]] == [None, None]
    assert "not\\_run" in outstep("compare", *files[:2], "--out", "md").out
    refused = outstep("compare", files[0], files[2])
    assert (refused.code, refused.out) == (2, "")
    assert "compare/different-batteries" in refused.err


def test_what_is_no_report_is_not_compared(outstep: Outstep, tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    outstep("report", "--out", "json", "--file", str(good))
    texts = {
        "text": "hello",
        "list": "[]",
        "other": '{"schema": "report/v1"}',
        "none": "",
        "half": good.read_text()[:400],
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        assert outstep("compare", str(good), str(tmp_path / name)).code == 2
    for words in ((), (str(good),), (str(good), str(good)), (str(good), str(tmp_path)), (str(good), "missing.json")):
        done = outstep("compare", *words)
        assert (done.code, done.out) == (2, "")


def test_a_report_that_was_changed_is_refused(outstep: Outstep, tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        outstep("report", "--out", "json", "--file", str(file))
    whole = files[1].read_text("utf-8")
    for change in (('"verdict": "not_run"', '"verdict": "contained"'), ('"contained": 0', '"contained": 12')):
        files[1].write_text(whole.replace(*change, 1), "utf-8")
        done = outstep("compare", *map(str, files))
        assert done.code == 2
        assert "compare/altered" in done.err


def test_lint_tells_every_file_and_ends_with_2_where_one_is_refused(outstep: Outstep, tmp_path: Path) -> None:
    for id in ("B01", "B23", "B17"):
        make(next(row for row in ROWS if row["id"] == id), tmp_path / f"{id}.yaml")
    names = [str(tmp_path / f"{id}.yaml") for id in ("B01", "B23", "B17")]
    assert outstep("battery", "lint", *names[:2]).code == 0
    done = outstep("battery", "lint", *names, "--json")
    assert done.code == 2
    told = json.loads(done.out)
    assert [one["valid"] for one in told["batteries"]] == [True, True, False]
    assert outstep("battery", "lint").code == 2
    assert outstep("battery", "lnt").err.endswith("did you mean `lint`?\n")


def test_a_battery_that_nobody_knows_is_told_with_the_nearest_one(outstep: Outstep) -> None:
    assert "did you mean `canary_v1`?" in outstep("run", "--dry", "-b", "canary1").err
    assert outstep("run", "--dry", "-b", "./missing.yaml").code == 2
    assert "battery/no-scenario" in outstep("battery", "show", "canary_v1", "log_temper").err
