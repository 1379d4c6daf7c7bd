"""`outstep redact`, as people type it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep import cli
from outstep.redaction.placeholders import commitment
from tests.redaction.values import VALUES, pieces_left

Done = tuple[int, str, str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("OUTSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("OUTSTEP_REDACTION_KEY", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Done:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def session(folder: Path, name: str = "a.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    rows = [{"type": "user.message", "seq": at, "content": value} for at, value in enumerate(VALUES.values(), 1)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_file_is_written_and_the_report_names_kinds_and_places_but_no_value(run: Run, tmp_path: Path) -> None:
    source = session(tmp_path / "runs")
    code, out, err = run("redact", "runs/a.jsonl", "clean.jsonl")
    assert code == 0
    assert out.splitlines()[0] == "1 document, 1 changed, 6 values replaced"
    assert "  line 1: email x1" in out
    written = (tmp_path / "clean.jsonl").read_bytes()
    for value in VALUES.values():
        assert pieces_left(value, written + out.encode() + err.encode()) == set()
    assert run("check", "-c", "integrity", "clean.jsonl")[0] == run("check", "-c", "integrity", str(source))[0]


def test_a_folder_keeps_its_shape_and_equal_values_their_placeholders(run: Run, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        session(tmp_path / "runs", name)
    (tmp_path / "runs" / "damaged.zip").write_bytes(b"PK\x03\x04")
    code, _, err = run("redact", "runs", "clean")
    assert code == 2
    assert "redact/unreadable" in err
    assert sorted(path.name for path in (tmp_path / "clean").iterdir()) == ["a.jsonl", "b.jsonl"]
    assert (tmp_path / "clean" / "a.jsonl").read_bytes() == (tmp_path / "clean" / "b.jsonl").read_bytes()
    code, _, err = run("redact", "runs", "clean")
    assert (code, "is not empty" in err) == (2, True)


def test_a_new_key_is_kept_for_its_user_alone_and_used_again(run: Run, tmp_path: Path) -> None:
    session(tmp_path / "runs")
    assert "a new key" in run("redact", "runs/a.jsonl", "1")[2]
    assert "a new key" not in run("redact", "runs/a.jsonl", "2")[2]
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert (tmp_path / "config" / "keys" / "redaction.key").stat().st_mode & 0o077 == 0
    (tmp_path / "key").write_text("another key, 16+ bytes")
    run("redact", "runs/a.jsonl", "3", "--key", "key")
    assert (tmp_path / "3").read_bytes() != (tmp_path / "2").read_bytes()
    (tmp_path / "short").write_text("short")
    assert "redact/bad-key" in run("redact", "runs/a.jsonl", "4", "--key", "short")[2]


def test_salts_open_the_commitments(run: Run, tmp_path: Path) -> None:
    source = session(tmp_path / "runs")
    _, out, _ = run("redact", "runs/a.jsonl", "clean.jsonl", "--salts", "salts.jsonl", "--json")
    document = json.loads(out)["documents"][0]
    opened = json.loads((tmp_path / "salts.jsonl").read_text())
    assert opened["commitment"] == document["commitment"]
    assert commitment(bytes.fromhex(opened["salt"]), source.read_bytes()) == document["commitment"]


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    session(tmp_path / "runs")
    code, out, _ = run("redact", "--dry", "runs")
    assert (code, out.splitlines()[0]) == (0, "1 document, 1 changed, 6 values replaced")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "runs"]


def test_the_original_is_never_written_over(run: Run, tmp_path: Path) -> None:
    session(tmp_path / "runs")
    for target in ("runs/a.jsonl", "runs/../runs/a.jsonl"):
        assert run("redact", "runs/a.jsonl", target)[0] == 2
    assert run("redact", "runs", "runs/clean")[0] == 2
    assert run("redact", "runs")[0] == 2
    assert run("redact", "nowhere", "x")[0] == 2
    assert run("redact", "runs/a.jsonl", "x", "--profile", "strict")[0] == 2
