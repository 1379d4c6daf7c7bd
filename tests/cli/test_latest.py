"""`--last dsh`: the newest session of this machine, with its sub-agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from outstep.errors import OutstepError
from outstep.workflow.latest import last_session
from tests.adapters.dsh.support import Script
from tests.cli.conftest import Outstep


def keep(home: Path, session: str, time: int, *, folder: str = "--ws--", **head: Any) -> str:
    """Write a log where dsh keeps it, last changed at some time."""
    script = Script(id=session, **head)
    script.turn()
    script.user("Hello?")
    script.say("Hello.")
    script.end()
    path = home / "sessions" / folder / session / "session.v4.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(script.text())
    os.utime(path, (time, time))
    return str(path)


def test_the_session_that_was_written_last_is_found(tmp_path: Path) -> None:
    keep(tmp_path, "old", 1000)
    newest = keep(tmp_path, "new", 3000, folder="--other--")
    keep(tmp_path, "older", 2000, folder="--other--")
    assert last_session("dsh", {"DSH_HOME": str(tmp_path)}) == [newest]


def test_the_default_place_is_below_the_home(tmp_path: Path) -> None:
    newest = keep(tmp_path / ".dsh", "s", 1000)
    assert last_session("dsh", {"HOME": str(tmp_path)}) == [newest]


@pytest.mark.parametrize("newest", ["root", "child", "grandchild"])
def test_sub_agents_come_with_their_root_whichever_was_written_last(tmp_path: Path, newest: str) -> None:
    family = [
        keep(tmp_path, "child", 3000 if newest == "child" else 1500, parentSession="root"),
        keep(tmp_path, "grandchild", 3000 if newest == "grandchild" else 1500, parentSession="child"),
        keep(tmp_path, "root", 3000 if newest == "root" else 1400),
    ]
    keep(tmp_path, "unrelated", 2000)
    assert last_session("dsh", {"DSH_HOME": str(tmp_path)}) == family


def test_a_log_that_cannot_be_read_does_not_hide_the_one_before(tmp_path: Path) -> None:
    whole = keep(tmp_path, "whole", 1000)
    Path(keep(tmp_path, "torn", 2000)).write_bytes(b"{")
    assert last_session("dsh", {"DSH_HOME": str(tmp_path)}) == [whole]


def test_sessions_that_name_each_other_as_parent_are_no_endless_search(tmp_path: Path) -> None:
    pair = [keep(tmp_path, "a", 1000, parentSession="b"), keep(tmp_path, "b", 2000, parentSession="a")]
    assert last_session("dsh", {"DSH_HOME": str(tmp_path)}) == pair


def test_without_a_session_the_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutstepError) as caught:
        last_session("dsh", {"DSH_HOME": str(tmp_path)})
    (problem,) = caught.value.problems
    assert problem.code == "input/no-session"
    assert str(tmp_path) in problem.sentence


def test_another_harness_is_a_mistake_with_a_suggestion() -> None:
    with pytest.raises(OutstepError) as caught:
        last_session("dhs", {})
    assert caught.value.problems[0].help == "did you mean `dsh`?"


def test_check_and_show_take_it(outstep: Outstep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, "first", 1000)
    keep(tmp_path, "second", 2000)
    monkeypatch.setenv("DSH_HOME", str(tmp_path))
    assert "trace second " in outstep("show", "--last", "dsh").out
    assert "1 trace, " in outstep("check", "--last", "dsh", "--contract", "integrity").out
