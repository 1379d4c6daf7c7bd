"""No redacted value is anywhere in a store, in what it exports, in reports, or in what commands say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from outstep import cli
from outstep.redaction.stored.zstd import redact_frames
from tests.command_line import ROOT
from tests.redaction.test_verdicts import PLANTED, in_store
from tests.redaction.values import SPELLINGS, VALUES, unpacked

RECORDINGS = ROOT / "tests" / "adapters" / "dsh" / "recordings"
CONTRACT = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")
DIGEST = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{64})(?![0-9a-f])")
SESSIONS = ("pypi-0.2.1rc2/b_refund_before_identity", "pypi-0.1.0rc6/q2_sqlite_backend")

Done = tuple[int, str, str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("OUTSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("OUTSTEP_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()

    def command(*words: str) -> Done:
        code = cli.main(words)
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return command


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Sessions of several formats that hold values in every spelling, one of them by its name, one damaged."""
    folder = tmp_path / "runs"
    for name in SESSIONS:
        shutil.copytree(RECORDINGS / name, folder / name)
        for path in (folder / name).rglob("*"):
            if path.is_file():
                path.write_bytes(in_store(path.read_bytes()))
    said = [spell(value) for spell in SPELLINGS.values() for value in VALUES.values()]
    events = [{"type": "user.message", "seq": at, "content": f"see {text}"} for at, text in enumerate(said, 1)]
    events.append({"type": "tool.call", "seq": 900, "callId": "c", "name": VALUES["email"], "args": dict(VALUES)})
    folder.joinpath(f"{VALUES['email']}.json").write_text(json.dumps({"traceId": VALUES["phone"], "events": events}))
    row = json.dumps({"type": "user.message", "seq": 1, "content": VALUES["email"]})
    folder.joinpath("damaged.jsonl").write_text(
        f"{row}\n{{broken {VALUES['github-token']}\n{row.replace('1', '2', 1)}\n"
    )
    chat = [{"role": "user", "content": VALUES["email"]}, {"role": "assistant", "content": f"Hi {VALUES['phone']}"}]
    folder.joinpath("chat.json").write_text(json.dumps(chat))
    return folder


def files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file with all that can be unpacked of it."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                yield str(path), data
                if data.startswith(b"\x28\xb5\x2f\xfd"):
                    inner = zstandard.ZstdDecompressor().decompressobj().decompress(data)
                    yield f"{path} unpacked", inner
                    texts: list[bytes] = []
                    if inner.startswith(b"\x28\xb5\x2f\xfd"):
                        redact_frames(inner, lambda text, texts=texts: (texts.append(text), text)[1])  # type: ignore[misc]
                    yield f"{path} unpacked twice", b"".join(texts)


def pieces() -> list[bytes]:
    """Return every piece of six characters; the domain of an address is none, and many things are called so."""
    found: dict[bytes, None] = {}
    for value in (*VALUES.values(), *(one.decode() for one in PLANTED.values())):
        value = value.partition(".example.com")[0]
        found.update({value[at : at + 6].encode(): None for at in range(len(value) - 5)})
    return [piece for piece in found if piece not in (b"sk-ant", b"k-ant-", b"-ant-a", b"ant-ap", b"nt-api", b"t-api0")]


def test_nothing_is_left_anywhere(run: Run, runs: Path, tmp_path: Path) -> None:
    assert runs.is_dir()
    run("evidence", "init", "store")
    said = [run("evidence", "add", "runs", "-c", CONTRACT)]
    assert said[0][0] == 2, "a damaged record is a fault"
    assert "adapter/damaged-record" in said[0][2]
    said += [run("evidence", "list"), run("evidence", "list", "--json"), run("evidence", "verify")]
    said += [run("evidence", "show", str(number)) for number in range(9)]
    said += [run("evidence", "export", "export"), run("evidence", "rejudge", "store")]
    said += [run("recheck", "-c", "integrity", "--dry"), run("recheck", "-c", CONTRACT)]
    assert said[-3][1].endswith("the same, 0 different, 0 not made again\n")
    places = [*files(tmp_path / "store", tmp_path / "export", tmp_path / "state", tmp_path / "tmp")]
    places += [(f"command {at}", (out + err).encode()) for at, (_, out, err) in enumerate(said)]
    assert len(places) > 50
    wanted = pieces()
    # An export holds the same bytes as its store.
    for data, place in {data: place for place, data in places}.items():
        # Digests hold any six digits by chance; a value in hexadecimal digits has been read by now.
        read = DIGEST.sub(b"", unpacked(data))
        assert [piece for piece in wanted if piece in read] == [], place


def test_an_entry_says_how_many_of_each_kind_and_binds_to_the_original(run: Run, runs: Path) -> None:
    assert runs.is_dir()
    run("evidence", "init", "store")
    code, out, _ = run("evidence", "add", "runs/chat.json")
    assert (code, out.splitlines()[1]) == (0, "redacted 2 values: 1 email, 1 phone")
    entry = json.loads(run("evidence", "show", "0")[1])
    assert entry["redaction"] == {"profile": "standard", "replaced": {"email": 1, "phone": 1}}
    assert len(entry["documents"][0]["commitment"]) == 64
    assert "commitment" not in json.loads(run("evidence", "show", "0")[1]).get("judged", {})


def test_rules_are_told_by_name_and_not_by_what_they_look_for(run: Run, runs: Path, tmp_path: Path) -> None:
    assert runs.is_dir()
    (tmp_path / "r.yaml").write_text(
        "outstep: redaction/v1\nrules: [{name: boss, pattern: 'Ottilie Quandt'}]\nkeep: ['wei@x.test']\n"
    )
    (tmp_path / "runs" / "chat.json").write_text('[{"role": "user", "content": "I am Ottilie Quandt, wei@x.test"}]')
    run("evidence", "init", "store")
    run("evidence", "add", "runs/chat.json", "--rules", "r.yaml")
    for place, data in files(tmp_path / "store"):
        assert b"Quandt" not in data, place
    rules = json.loads(run("evidence", "show", json.loads(run("evidence", "show", "0")[1])["redaction"]["rules"])[1])
    assert [rule["name"] for rule in rules["rules"]] == ["boss"]
    assert run("evidence", "verify")[0] == 0


def test_to_keep_originals_is_a_choice_that_is_recorded(run: Run, runs: Path) -> None:
    run("evidence", "init", "store")
    run("evidence", "add", "runs/chat.json", "--no-redact")
    entry = json.loads(run("evidence", "show", "0")[1])
    assert entry["redaction"] == {"profile": "none"}
    assert run("evidence", "show", entry["documents"][0]["sha256"])[1] == (runs / "chat.json").read_text()
    run("evidence", "init", "open", "--no-redact")
    run("evidence", "add", "runs/chat.json", "--store", "open")
    assert json.loads(run("evidence", "show", "0", "--store", "open")[1])["redaction"] == {"profile": "none"}
    run("evidence", "add", "runs/chat.json", "--store", "open", "--redact")
    assert json.loads(run("evidence", "show", "1", "--store", "open")[1])["redaction"]["profile"] == "standard"


def test_what_cannot_be_looked_into_is_not_kept(run: Run, tmp_path: Path) -> None:
    run("evidence", "init", "store")
    (tmp_path / "bad.jsonl.gz").write_bytes(b"\x1f\x8b\x08 damaged " + VALUES["email"].encode())
    code, out, err = run("evidence", "add", "bad.jsonl.gz")
    assert (code, out) == (2, "sealed 0 entries with 0 traces\n")
    assert "/unreadable" in err


def test_redacted_sessions_have_the_verdicts_of_the_originals(run: Run, runs: Path) -> None:
    assert runs.is_dir()
    run("evidence", "init", "store")
    add = ("evidence", "add", f"runs/{SESSIONS[0]}", "-c", CONTRACT)
    redacted, original = (run(*add, *more)[1].splitlines()[0] for more in ((), ("--no-redact",)))
    assert redacted == original
    assert "block" in original
