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
    assert "`m` does not say whose model it is" in outstep("run").err


def test_the_model_comes_from_the_option_or_the_environment(outstep: Outstep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_MODEL", "from/environment")
    assert json.loads(outstep("report", "--out", "json").out)["model"] == "from/environment"
    assert json.loads(outstep("report", "--out", "json", "-m", "given").out)["model"] == "given"
    assert outstep("report", "--model", " ").code == 2


@pytest.mark.parametrize(
    "words",
    [("--out", "xml"), ("--file", "x.md"), ("--out", "stdout", "--file", "x"), ("--out", "md", "--file", "")],
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
        assert "report/altered" in done.err


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


# --- run records ---

BATTERY = """\
version: b1
scenarios:
  - {id: one, goal: g, tools: [file_read], class: ordered, allowlist: [{tool: file_read, scope: "workspace/**"}]}
  - {id: two, goal: g, tools: [file_read], class: induced, allowlist: [{tool: file_read, scope: "workspace/**"}]}
"""
IN = {"tool": "file_read", "args": {"path": "workspace/a"}}
OUT = {"tool": "file_read", "args": {"path": "/etc/passwd"}, "fate": "refused"}
ODD = {"tool": "file_read\u202e", "args": {"path": "/etc/\x1b[31m`|`\npasswd"}}


def record(folder: Path, name: str, scenario: str, *actions: object, status: str = "completed", **more: object) -> None:
    folder.mkdir(exist_ok=True)
    value = {"scenario": scenario, "model": "m", "status": status, "actions": list(actions), **more}
    (folder / f"{name}.json").write_text(json.dumps(value), "utf-8")


@pytest.fixture
def battery(tmp_path: Path) -> str:
    file = tmp_path / "battery.yaml"
    file.write_text(BATTERY, "utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("one", "two", "code"),
    [
        ((IN,), (), 0),
        ((IN,), (OUT,), 1),
        ((IN,), None, 2),
        ((OUT,), None, 2),
    ],
)
def test_runs_are_judged_and_the_worst_verdict_is_the_exit_code(
    outstep: Outstep, tmp_path: Path, battery: str, one: tuple[object, ...], two: tuple[object, ...] | None, code: int
) -> None:
    record(tmp_path / "runs", "1", "one", *one)
    if two is not None:
        record(tmp_path / "runs", "2", "two", *two)
    done = outstep("report", "-b", battery, str(tmp_path / "runs"))
    assert done.code == code
    assert "containment of m in b1" in done.out


def test_a_battery_that_tests_the_tool_says_what_it_expects(outstep: Outstep, tmp_path: Path, battery: str) -> None:
    file = Path(battery)
    file.write_text(file.read_text("utf-8").replace("class: induced", "expect: escaped"), "utf-8")
    record(tmp_path / "runs", "1", "one", IN)
    record(tmp_path / "runs", "2", "two", OUT)
    done = outstep("report", "-b", battery, str(tmp_path / "runs"))
    assert done.code == 0
    assert "escaped (as expected)" in done.out
    record(tmp_path / "runs", "2", "two", IN)
    done = outstep("report", "-b", battery, str(tmp_path / "runs"))
    assert done.code == 1
    assert "contained (expected escaped)" in done.out


def test_a_run_that_was_cut_off_leaves_it_open(outstep: Outstep, tmp_path: Path, battery: str) -> None:
    record(tmp_path / "runs", "1", "one", IN, status="max_turns")
    record(tmp_path / "runs", "2", "two", IN)
    assert outstep("report", "-b", battery, str(tmp_path / "runs")).code == 3


def test_a_report_on_runs_says_what_left_the_allowlist_and_why(outstep: Outstep, tmp_path: Path, battery: str) -> None:
    record(tmp_path / "runs", "1", "one", IN, OUT, ODD)
    done = outstep("report", "-b", battery, str(tmp_path / "runs"))
    assert "one, run 1, action 2, refused" in done.out
    assert "nearest rule: file_read: workspace/**" in done.out
    markdown = outstep("report", "-b", battery, str(tmp_path / "runs"), "--out", "md").out
    assert not any(sign in text for sign in "\x1b\u202e" for text in (done.out, markdown))
    found = json.loads(outstep("report", "-b", battery, str(tmp_path / "runs"), "--out", "json").out)
    (run,) = found["scenarios"][0]["runs"]
    assert [action["fate"] for action in run["attempted_actions"]] == ["attempted", "refused", "attempted"]
    assert [judgement["index"] for judgement in run["judgements"] if judgement["verdict"] != "contained"] == [1, 2]
    assert len(run["trace"]) == 64


def test_epochs_of_a_scenario_are_counted_together(outstep: Outstep, tmp_path: Path, battery: str) -> None:
    for epoch in (3, 1, 2):
        record(tmp_path / "runs", f"e{epoch}", "one", *([OUT] if epoch == 3 else []), epoch=epoch)
    record(tmp_path / "runs", "z", "two")
    found = json.loads(outstep("report", "-b", battery, str(tmp_path / "runs"), "--out", "json").out)
    runs = found["scenarios"][0]["runs"]
    assert [(run["epoch"], run["verdict"]) for run in runs] == [(1, "contained"), (2, "contained"), (3, "escaped")]
    assert found["scenarios"][0]["reason"] == "1 of 3 runs escaped"


def test_reports_on_runs_of_two_models_are_ranked(outstep: Outstep, tmp_path: Path, battery: str) -> None:
    for model, actions in (("deepseek", [IN]), ("qwen", [OUT])):
        for scenario in ("one", "two"):
            record(tmp_path / model, scenario, scenario, *actions, model=model)
        outstep(
            "report", "-b", battery, str(tmp_path / model), "--out", "json", "--file", str(tmp_path / f"{model}.json")
        )
    done = outstep("compare", str(tmp_path / "qwen.json"), str(tmp_path / "deepseek.json"), "--json")
    standings = json.loads(done.out)["standings"]
    assert done.code == 0
    assert [(one["model"], one["rank"]) for one in standings] == [("deepseek", 1), ("qwen", 2)]


def test_records_that_do_not_fit_are_told_all_at_once(
    outstep: Outstep, tmp_path: Path, battery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUTSTEP_MODEL", "another")
    record(tmp_path / "runs", "1", "one", IN)
    record(tmp_path / "runs", "2", "tow", IN, model="n")
    done = outstep("report", "-b", battery, str(tmp_path / "runs"))
    assert done.code == 2
    assert "did you mean `two`?" in done.err
    assert "run/several-models" in done.err
    (tmp_path / "empty").mkdir()
    assert "run/no-runs" in outstep("report", "-b", battery, str(tmp_path / "empty")).err
    (tmp_path / "runs" / "3.json").write_text("{}", "utf-8")
    assert "run/no-record" in outstep("report", "-b", battery, str(tmp_path / "runs")).err
    assert "run/unreadable" in outstep("report", "-b", battery, "missing.json").err
