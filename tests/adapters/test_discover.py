"""From paths to documents, and from documents to adapters."""

from __future__ import annotations

import gzip
import io
import os
import threading
from pathlib import Path

import pytest
import zstandard

from outstep.adapters import compressed, discover
from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.records import TooLarge
from outstep.errors import OutstepError
from outstep.events import Header

TRACE = b'{"type":"trace","schema":"trace/v1","id":"t"}\n{"type":"user.message","seq":1}\n'
CHAT = b'{"messages": [{"role": "user", "content": "hi"}]}'


def codes(log: ReadLog) -> list[str]:
    return [fault.code for fault in log.faults]


def found(log: ReadLog, *paths: str | Path, stdin: bytes | None = None) -> list[discover.Found]:
    return discover.documents([str(path) for path in paths], log, None if stdin is None else io.BytesIO(stdin))


def read(
    *paths: str | Path, stdin: bytes | None = None, format: str | None = None
) -> tuple[list[str], list[str], ReadLog]:
    """Return `adapter file` of each group, the ignored files, and the log."""
    log = ReadLog()
    ignored: list[Document] = []
    seen = []
    for adapter, documents, batches in discover.streams(
        found(log, *paths, stdin=stdin), format, Options(), log, ignored
    ):
        for _ in batches:
            pass
        seen.append(f"{adapter.name} {' '.join(Path(document.uri).name for document in documents)}")
    return seen, [Path(document.uri).name for document in ignored], log


def test_a_folder_is_read_in_the_order_of_names_and_other_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "z.json").write_bytes(CHAT)
    (tmp_path / "c.jsonl").write_bytes(TRACE)
    (tmp_path / "a.jsonl").write_bytes(TRACE)
    (tmp_path / "metrics.jsonl").write_bytes(b'{"score": 1}\n{"score": 2}\n')
    (tmp_path / "README.md").write_bytes(b"# hi")
    (tmp_path / ".hidden.jsonl").write_bytes(TRACE)
    seen, ignored, log = read(tmp_path)
    assert seen == ["native a.jsonl", "native c.jsonl", "openai-chat z.json"]
    assert ignored == ["README.md", "metrics.jsonl"]
    assert log.faults == []


def test_the_home_of_a_harness_is_entered_though_it_is_hidden(tmp_path: Path) -> None:
    (tmp_path / ".dsh").mkdir()
    (tmp_path / ".dsh" / "a.jsonl").write_bytes(TRACE)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "b.jsonl").write_bytes(TRACE)
    assert read(tmp_path)[0] == ["native a.jsonl"]


def test_a_file_that_is_meant_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(TRACE)
    (tmp_path / "link.jsonl").symlink_to(path)
    log = ReadLog()
    (only,) = found(log, tmp_path, path, tmp_path / "*.jsonl", tmp_path / "link.jsonl")
    assert only.explicit


def test_a_folder_that_links_to_itself_is_entered_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(TRACE)
    (tmp_path / "loop").symlink_to(tmp_path)
    seen, _, log = read(tmp_path)
    assert seen == ["native a.jsonl"]
    assert log.faults == []


@pytest.mark.parametrize("given", ["no/such.jsonl", "no/such/*.json", "-"])
def test_a_path_that_means_nothing_is_a_fault(given: str) -> None:
    log = ReadLog()
    assert found(log, given) == []
    assert codes(log) == ["input/not-found"]
    assert f"`{given}`" in log.faults[0].sentence


def test_a_glob_is_expanded_here_if_the_shell_did_not(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "b.jsonl").write_bytes(TRACE)
    (tmp_path / "x" / "a.jsonl").write_bytes(TRACE)
    assert read(tmp_path / "**" / "*.jsonl")[0] == ["native a.jsonl", "native b.jsonl"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**", ["a.jsonl", "b.jsonl", "c.jsonl"]),
        ("**/*.jsonl", ["a.jsonl", "b.jsonl", "c.jsonl"]),
        ("x/**/*.jsonl", ["b.jsonl", "c.jsonl"]),
        ("**/y/*.jsonl", ["c.jsonl"]),
        ("x/**/[ab]*", ["b.jsonl"]),
        ("x/*.jsonl", ["b.jsonl"]),
        ("?.jsonl", ["a.jsonl"]),
    ],
)
def test_a_pattern_means_the_files_that_fit_it_and_links_do_not_lead_astray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, names: list[str]
) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    for path in ("a.jsonl", "x/b.jsonl", "x/y/c.jsonl"):
        (tmp_path / path).write_bytes(TRACE)
    for link in ("l1", "l2"):
        (tmp_path / link).symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    for given in (pattern, f"{tmp_path}/{pattern}"):
        assert sorted({Path(item.document.uri).name for item in found(ReadLog(), given)}) == names


def test_a_file_whose_name_holds_a_glob_mark_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "a[1].jsonl"
    path.write_bytes(TRACE)
    assert read(path)[0] == ["native a[1].jsonl"]


def test_standard_input_is_a_document() -> None:
    seen, _, log = read("-", "-", stdin=TRACE)
    assert seen == ["native <stdin>"]
    assert log.faults == []


def test_a_pipe_is_read_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TRACE,))
    writer.start()
    assert read(path)[0] == ["native pipe"]
    writer.join()


def test_a_pipe_that_only_fits_a_pattern_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    log = ReadLog()
    assert discover.documents([str(tmp_path / "*.jsonl")], log) == []
    assert [fault.code for fault in log.faults] == ["input/unreadable"]


def test_a_folder_without_traces_is_a_fault(tmp_path: Path) -> None:
    empty, notes = tmp_path / "empty", tmp_path / "notes"
    empty.mkdir()
    notes.mkdir()
    (notes / "a.txt").write_bytes(b"hello")
    for folder in (empty, notes):
        _, _, log = read(folder)
        assert codes(log) == ["input/no-traces"]
        assert "native" in log.faults[0].help


def test_an_empty_file_is_a_fault_where_a_trace_was_expected(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_bytes(b"")
    (tmp_path / "stderr.txt").write_bytes(b"")
    (tmp_path / "a.jsonl").write_bytes(TRACE)
    seen, ignored, log = read(tmp_path)
    assert (seen, ignored, codes(log)) == (["native a.jsonl"], ["stderr.txt"], ["input/empty-file"])
    assert codes(read(tmp_path / "stderr.txt")[2]) == ["input/empty-file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(TRACE)
    path.chmod(0)
    assert codes(read(path)[2]) == ["input/unreadable"]


def test_a_broken_link_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.symlink_to(tmp_path / "gone")
    assert codes(read(path)[2]) == ["input/unreadable"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello world", "text that is no JSON"),
        (b'{"score": 1, "who": 2}', "an object with `score`, `who`"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON Lines, the first one an object with `a`"),
        (b"[[1, 2]]", "a list whose first element is a list whose first element is a bare JSON value"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary data"),
        ("{}".encode("utf-16"), "text in UTF-16"),
        (gzip.compress(b"hello", mtime=0), "gzip data that unpack to no trace"),
    ],
)
def test_a_named_file_of_no_known_format_is_described(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(data)
    _, _, log = read(path)
    assert codes(log) == ["adapter/unknown-format"]
    assert words in log.faults[0].sentence
    assert "--format" in log.faults[0].help


def test_a_named_format_is_taken_at_its_word(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"score": 1}')
    assert codes(read(path, format="openai-chat")[2]) == ["input/no-traces"]
    with pytest.raises(OutstepError):
        read(path, format="opanai-chat")


def test_a_named_format_leaves_other_files_of_a_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(TRACE)
    (tmp_path / "b.json").write_bytes(CHAT)
    seen, ignored, log = read(tmp_path, format="openai-chat")
    assert (seen, ignored, log.faults) == (["openai-chat b.json"], ["a.jsonl"], [])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_trace_is_read_and_its_digest_is_that_of_the_file(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    (tmp_path / "a.jsonl.packed").write_bytes(pack(TRACE) + pack(TRACE))
    log = ReadLog()
    ((_, documents, batches),) = discover.streams(found(log, tmp_path), None, Options(), log)
    items = [item for batch in batches for item in batch]
    headers = [item for item in items if isinstance(item, Header)]
    assert len(items) == 4
    assert log.faults == []
    assert len(headers[0].sources[0].sha256) == 64
    assert headers[0].sources[0].sha256 != Document("x", data=documents[0].read()).uri


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_packed_trace_that_is_cut_off_is_a_fault_and_never_complete(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    path = tmp_path / "a.jsonl.packed"
    body = b"".join(b'{"type":"user.message","seq":%d,"text":"%d"}\n' % (n, n * n * n) for n in range(2, 30_000))
    path.write_bytes(pack(TRACE + body)[:-40])
    _, _, log = read(path)
    assert codes(log) == ["input/unreadable"]
    assert "cut off" in log.faults[0].sentence


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_file_that_unpacks_without_end_is_given_up(
    tmp_path: Path, pack: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(pack)
    monkeypatch.setattr(compressed, "FREE", 1 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(pack(TRACE + b'{"type":"user.message","seq":2,"text":"' + b" " * (1 << 23)))
    _, _, log = read(path)
    assert codes(log) == ["adapter/too-large"]


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outstep.adapters.records.LONGEST_LINE", 1 << 17)
    _, _, log = read("-", stdin=TRACE + b'{"type":"user.message","text":"' + b"x" * (1 << 19))
    assert codes(log) == ["adapter/too-large"]
    assert isinstance(TooLarge("x"), OSError)
