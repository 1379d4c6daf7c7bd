"""The command as a process of its own: streams, signals, start-up, determinism."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SHOP
from tests.command_line import LAUNCHER, ROOT, outstep

BAD = ("check", "-c", "tests/cli/shop/refund.yaml", "tests/cli/shop/bad.jsonl", "tests/cli/shop/gap.jsonl")


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return outstep(*words, together=False, **environment)


def popen(*words: str, **streams: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    return subprocess.Popen([sys.executable, "-c", LAUNCHER, *words], cwd=SHOP, env=environment, **streams)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return {"OUTSTEP_CACHE_DIR": str(tmp_path / "cache")}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_equal_input_gives_equal_bytes_under_any_hash_seed_and_any_cache(
    form: tuple[str, ...], cache: dict[str, str]
) -> None:
    seeds = ("0", "1", "4242")
    first, *others = [run(*BAD, *form, **cache, PYTHONHASHSEED=seed) for seed in seeds]
    others.append(run(*BAD, *form, "--no-cache", **cache))
    assert first.returncode == 1
    for other in others:
        assert (other.returncode, other.stdout, other.stderr) == (first.returncode, first.stdout, first.stderr)


def test_two_processes_print_the_same_bytes_as_one(cache: dict[str, str]) -> None:
    one, two = [run(*BAD, "tests/cli/shop", "--json", "-j", jobs, **cache) for jobs in ("1", "2")]
    assert one.returncode == 2
    assert (two.returncode, two.stdout, two.stderr) == (one.returncode, one.stdout, one.stderr)


def test_the_module_runs_like_the_command(cache: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "outstep", *BAD],
        cwd=ROOT,
        env={**os.environ, **cache, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    same = run(*BAD, **cache)
    assert (done.returncode, done.stdout, done.stderr) == (same.returncode, same.stdout, same.stderr)


def test_a_reader_that_goes_away_changes_no_verdict() -> None:
    process = popen("check", "-c", "refund.yaml", "bad.jsonl", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    assert process.wait(60) == 1
    assert b"Traceback" not in error
    assert b"BrokenPipe" not in error


def test_a_timeline_cut_short_by_its_reader_is_no_crash(tmp_path: Path) -> None:
    long = tmp_path / "long.jsonl"
    lines = [f'{{"type":"user.message","seq":{seq},"text":"hello"}}' for seq in range(1, 50_000)]
    long.write_text("\n".join(['{"type":"trace","schema":"trace/v1","id":"long"}', *lines]) + "\n")
    process = popen("show", str(long), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read()
    process.wait(60)
    assert b"Traceback" not in error
    assert b"BrokenPipe" not in error


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("check", "-c", "refund.yaml", "bad.jsonl"), ("report", "--out", "json")])
def test_a_report_that_stdout_cannot_keep_is_told_as_missing(words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        process = popen(*words, stdout=full, stderr=subprocess.PIPE)
    assert process.stderr is not None
    error = process.stderr.read()
    assert process.wait(60) == 2
    assert b"error[output/unwritable]: stdout cannot be written" in error
    assert b"internal/crash" not in error


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interruption_ends_with_130_and_one_word() -> None:
    process = popen("check", "-c", "refund.yaml", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-1)
    assert process.stdin is not None
    process.stdin.write(b'{"type":"trace"')
    process.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("wait", [0.3, 1.0])
def test_an_interruption_of_many_processes_is_as_quiet(tmp_path: Path, wait: float) -> None:
    events = (SHOP / "bad.jsonl").read_bytes()
    for number in range(40):
        (tmp_path / f"{number:02}.jsonl").write_bytes(events * 2000)
    process = popen(
        *("check", "-c", "refund.yaml", str(tmp_path), "-j", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(wait)
    # A terminal sends it to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"interrupted\n")


def test_standard_input_is_a_document_like_any_other() -> None:
    with (SHOP / "bad.jsonl").open("rb") as file:
        process = popen("check", "-c", "refund.yaml", "-", stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"--> <stdin> line 5, event 4 of 7 (turn 2)" in out
    assert error == b"<stdin>: trace bad, 7 records, 7 events, 2 calls\n"


HEAVY = ("yaml", "zstandard", "tree_sitter", "difflib", "sqlite3", "zipfile", "tomllib", "multiprocessing", "shutil")

LOADED = """
import sys
from outstep.cli import main
code = main(sys.argv[1:])
print(code, *[name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("contract", ["refund.yaml", "refund"])
def test_a_warm_check_imports_nothing_heavy(contract: str, cache: dict[str, str]) -> None:
    environment = {**os.environ, **cache, "PYTHONPATH": str(ROOT / "src")}
    last = ""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", LOADED.format(heavy=HEAVY), "check", "--no-config", "-c", contract, "good.jsonl"],
            cwd=SHOP,
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        last = done.stderr.decode().splitlines()[-1]
    assert last.split()[1:] == []


def test_the_package_itself_imports_nothing() -> None:
    code = "import sys, outstep; print(*[name for name in sys.modules if name.startswith('outstep')])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"outstep\n"


def test_a_mistake_of_outstep_ends_with_2_and_not_with_a_traceback() -> None:
    code = (
        "import sys\nimport outstep.cli.check as check\n"
        "def broken(*_, **__): raise RuntimeError('no \\x1b[31m way')\n"
        "check.check_paths = broken\nfrom outstep.cli import main\nsys.exit(main())"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [sys.executable, "-c", code, "check", "-c", "refund.yaml", "good.jsonl"]
    done = subprocess.run(words, cwd=SHOP, env=environment, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error[internal/crash]: Outstep broke: RuntimeError: no \\x1b[31m way\n")
    assert b"Traceback" not in done.stderr
    asked = subprocess.run(
        words, cwd=SHOP, env={**environment, "OUTSTEP_TRACEBACK": "1"}, capture_output=True, check=False
    )
    assert asked.returncode == 2
    assert b"Traceback" in asked.stderr


def test_a_file_name_that_is_no_text_is_shown_and_nothing_breaks(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/bad\xff\x1b[31m.jsonl"
    Path(os.fsdecode(name)).write_bytes((SHOP / "bad.jsonl").read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for form in (b"terminal=-", b"json=-"):
        words = [os.fsencode(sys.executable), b"-c", LAUNCHER.encode(), b"check", b"-c", b"refund.yaml", name]
        done = subprocess.run(
            [*words, b"--output", form], cwd=SHOP, env=environment, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 1, done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        assert b"\\x1b[31m" in done.stderr
