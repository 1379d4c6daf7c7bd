"""`outstep render`: a kept report again, in any format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from outstep.render import NAMES
from tests.cli.conftest import Outstep

CHECK = ("check", "-c", "refund.yaml", "bad.jsonl", "good.jsonl")


@pytest.fixture
def kept(outstep: Outstep, tmp_path: Path) -> Path:
    file = tmp_path / "report.json"
    outstep(*CHECK, "--output", f"json={file}")
    return file


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_report_gives_what_the_check_gave(outstep: Outstep, kept: Path, tmp_path: Path, name: str) -> None:
    then, now = tmp_path / "then", tmp_path / "now"
    outstep(*CHECK, "--output", f"{name}={then}")
    done = outstep("render", str(kept), "bad.jsonl", "good.jsonl", "--output", f"{name}={now}")
    assert (done.code, done.err) == (0, "")
    assert now.read_bytes() == then.read_bytes()


def test_without_an_output_it_is_shown(outstep: Outstep, kept: Path) -> None:
    done = outstep("render", str(kept))
    assert done.code == 0
    assert done.out.endswith("gate: block (exit code 1)\n")


def timelines(file: Path) -> list[str]:
    return re.findall(r'id="data-timeline-(\d+)">', file.read_text("utf-8"))


def test_timelines_come_from_the_traces_that_were_judged(outstep: Outstep, kept: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outstep("render", str(kept), "--output", f"html={page}")
    assert timelines(page) == []
    elsewhere = tmp_path / "moved.jsonl"
    elsewhere.write_bytes(Path("bad.jsonl").read_bytes())
    assert outstep("render", str(kept), str(elsewhere), "--output", f"html={page}").code == 0
    assert timelines(page) == ["0"]


def test_other_traces_are_told_apart(outstep: Outstep, kept: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = outstep("render", str(kept), "gap.jsonl", "--output", f"html={page}")
    assert done.code == 2
    assert done.err.startswith("error[report/other-traces]")
    assert page.exists()


def test_what_is_no_report_is_refused(outstep: Outstep, tmp_path: Path) -> None:
    assert outstep("render").err.startswith("error[usage/no-paths]")
    assert outstep("render", "bad.jsonl").err.startswith("error[report/")
    assert outstep("render", str(tmp_path / "none.json")).code == 2


def test_a_report_is_not_written_over_itself(outstep: Outstep, kept: Path) -> None:
    before = kept.read_bytes()
    assert outstep("render", str(kept), "--output", f"json={kept}").code == 2
    assert kept.read_bytes() == before


def test_the_page_speaks_the_chosen_language(
    outstep: Outstep, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    outstep("render", str(kept), "--lang", "zh", "--output", f"html={page}")
    assert "<title>Outstep：拦截</title>" in page.read_text("utf-8")
    monkeypatch.setenv("OUTSTEP_LANG", "zh")
    outstep(*CHECK, "--output", f"html={page}")
    assert "<title>Outstep：拦截</title>" in page.read_text("utf-8")
    assert outstep("render", str(kept), "--lang", "klingon").code == 2
