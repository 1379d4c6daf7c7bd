"""The checked contract as data: what comes back is what was kept, and nothing that a stranger wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from outstep import contract_cache
from outstep.contract_cache import ContractCache, open_contract
from outstep.contracts import packs
from outstep.contracts.bundled import compile_pack, load_pack
from outstep.contracts.cache import cache_key, decode_kept, encode_kept, is_fresh
from outstep.contracts.loader import load, load_kept
from outstep.contracts.model import Contract
from outstep.errors import OutstepError

TEXT = """outstep: contract/v1
id: cached
include: [./common.yaml]
params: {limit: 3, rate: 0.10, big: 123456789012345678901234567890, unused: [1, {a: null}]}
tools:
  pay: {args: {properties: {amount: {minimum: 0.01, maximum: 100000000000000000000}}}}
facts:
  total: {from: ok result pay, value: 'data.x + 1.50 + 123456789012345678901234567890'}
rules:
  - id: R
    for: call pay
    require:
      - args.x <= params.limit
      - total != null
      - known(args.y, "ok result pay")
      - args.z in [1, -2.5, "a", null, true]
    message: {en: 'over {args.x} {{x}}', zh: 超过}
  - {id: S, for: call pay, then: ok its result, within: 3 turns}
  - {id: T, scope: {read: ['./**'], write: {except: ['x']}}}
"""
COMMON = "rules: [{id: COMMON, never: call @read}]\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "common.yaml").write_text(COMMON)
    (tmp_path / "contract.yaml").write_text(TEXT)
    return str(tmp_path / "contract.yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "outstep"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.fixture
def no_loader(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """After it is called, a contract that is not in the cache cannot be had."""

    def forbid() -> None:
        monkeypatch.setattr("outstep.contracts.loader.load_kept", _refuse)

    return forbid


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("the contract was loaded anew")


def test_a_contract_comes_back_as_it_was_kept(path: str) -> None:
    kept = load_kept(path, read_file=lambda name: Path(name).read_bytes())
    again = decode_kept(encode_kept(kept))
    assert again == kept
    assert kept.warnings
    assert again is not None
    assert encode_kept(kept) == encode_kept(again)


@pytest.mark.parametrize("name", packs.NAMES)
def test_so_does_every_pack(name: str) -> None:
    kept = load_kept(packs.source(name) or b"", name=f"pack:{name}")
    assert decode_kept(encode_kept(kept)) == kept


def test_the_second_time_nothing_is_loaded(path: str, folder: Path, no_loader: Callable[[], None]) -> None:
    cache = ContractCache(folder)
    first = open_contract(path, cache=cache)
    no_loader()
    assert open_contract(path, cache=cache) == first


def test_without_a_cache_nothing_is_kept(path: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    open_contract(path)
    assert sorted(tmp_path.iterdir()) == before


def test_the_folder_and_its_entries_are_for_this_user_only(path: str, folder: Path) -> None:
    open_contract(path, cache=ContractCache(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    (entry,) = entries(folder)
    assert entry.stat().st_mode & 0o777 == 0o600


def test_other_text_parameters_name_or_version_are_other_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [
        cache_key("a.yaml", b"x", {}),
        cache_key("a.yaml", b"y", {}),
        cache_key("b.yaml", b"x", {}),
        cache_key("a.yaml", b"x", {"limit": 3}),
        cache_key("a.yaml", b"x", {"limit": "3"}),
    ]
    monkeypatch.setattr("outstep.contracts.cache.__version__", "99")
    keys.append(cache_key("a.yaml", b"x", {}))
    assert len(set(keys)) == len(keys)
    assert cache_key("a.yaml", b"x", {"a": 1, "b": 2}) == cache_key("a.yaml", b"x", {"b": 2, "a": 1})


def test_a_changed_included_file_makes_the_entry_stale(path: str, folder: Path) -> None:
    cache = ContractCache(folder)
    open_contract(path, cache=cache)
    Path(path).with_name("common.yaml").write_text(COMMON.replace("COMMON", "CHANGED"))
    assert "CHANGED" in [rule.id for rule in open_contract(path, cache=cache).contract.rules]
    Path(path).with_name("common.yaml").unlink()
    with pytest.raises(OutstepError):
        open_contract(path, cache=cache)


def test_a_contract_with_mistakes_is_never_kept(path: str, folder: Path) -> None:
    Path(path).write_text(TEXT.replace("call pay", "call pya"))
    for _ in range(2):
        with pytest.raises(OutstepError):
            open_contract(path, cache=ContractCache(folder))
    assert entries(folder) == []


def test_a_contract_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(OutstepError) as error:
        open_contract(str(tmp_path / "gone.yaml"))
    assert [problem.code for problem in error.value.problems] == ["contract/unreadable"]


@pytest.mark.parametrize(
    ("name", "words"), [(".", "folder"), (os.devnull, "neither a file nor a pipe"), ("big.yaml", "more than")]
)
def test_what_could_go_on_without_end_is_no_contract(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "big.yaml").write_bytes(b"#" * (contract_cache.LARGEST_FILE + 1))
    (tmp_path / "contract.yaml").write_text(f"outstep: contract/v1\ninclude: [{tmp_path / name}]\nrules: []\n")
    for path in (str(tmp_path / name), str(tmp_path / "contract.yaml")):
        with pytest.raises(OutstepError) as error:
            open_contract(path)
        assert words in error.value.problems[0].sentence


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8 there")
def test_a_name_that_is_no_text_cannot_be_kept_and_is_no_trouble(tmp_path: Path, folder: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.yaml")
    Path(path).write_text("outstep: contract/v1\nrules: [{id: R, never: message}]\n")
    for _ in range(2):
        assert open_contract(path, cache=ContractCache(folder)).contract.rules[0].id == "R"
    assert entries(folder) == []


def poison(folder: Path) -> bytes:
    """Let the one entry say that nothing is required, with a right digest."""
    (entry,) = entries(folder)
    kept = decode_kept(entry.read_bytes())
    assert kept is not None
    import msgspec

    harmless = msgspec.structs.replace(kept, contract=msgspec.structs.replace(kept.contract, rules=()))
    data = encode_kept(harmless)
    entry.write_bytes(data)
    return data


def rules_of(path: str, folder: Path) -> int:
    return len(open_contract(path, cache=ContractCache(folder)).contract.rules)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o722])
def test_a_folder_that_others_can_write_is_ignored(path: str, folder: Path, mode: int) -> None:
    right = rules_of(path, folder)
    poison(folder)
    assert rules_of(path, folder) == 0  # the owner can forge their own cache
    folder.chmod(mode)
    assert rules_of(path, folder) == right


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write_is_ignored(path: str, folder: Path, mode: int) -> None:
    right = rules_of(path, folder)
    poison(folder)
    entries(folder)[0].chmod(mode)
    assert rules_of(path, folder) == right


@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_belongs_to_someone_else_is_ignored(
    path: str, folder: Path, which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = rules_of(path, folder)
    poison(folder)
    foreign = (folder if which == "folder" else entries(folder)[0]).stat().st_ino
    real = os.fstat

    def stranger(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        if found.st_ino != foreign:
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, "fstat", stranger)
    assert rules_of(path, folder) == right


def test_a_link_is_not_followed(path: str, folder: Path, tmp_path: Path) -> None:
    right = rules_of(path, folder)
    data = poison(folder)
    (entry,) = entries(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(data)
    elsewhere.chmod(0o600)
    entry.unlink()
    entry.symlink_to(elsewhere)
    assert rules_of(path, folder) == right


def test_a_link_in_place_of_the_folder_is_not_followed(path: str, folder: Path, tmp_path: Path) -> None:
    right = rules_of(path, folder)
    poison(folder)
    moved = folder.rename(tmp_path / "moved")
    folder.symlink_to(moved)
    assert rules_of(path, folder) == right


@pytest.mark.parametrize("cut", [0, 1, 64, 65, 200, -1])
def test_a_cut_entry_is_ignored_and_written_anew(path: str, folder: Path, cut: int) -> None:
    right = rules_of(path, folder)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(whole[:cut])
    assert rules_of(path, folder) == right
    assert entry.read_bytes() == whole


def test_a_changed_entry_is_ignored(path: str, folder: Path) -> None:
    right = rules_of(path, folder)
    (entry,) = entries(folder)
    entry.write_bytes(entry.read_bytes().replace(b"block", b"warn "))
    assert rules_of(path, folder) == right


@pytest.mark.parametrize("payload", [b"", b"{}", b"null", b"\xff", b'{"contract":{},"files":[]}', b"[" * 100_000])
def test_an_entry_of_another_form_is_ignored(payload: bytes) -> None:
    from hashlib import sha256

    assert decode_kept(sha256(payload).hexdigest().encode() + b"\n" + payload) is None


def test_a_pipe_in_place_of_an_entry_does_not_hang(path: str, folder: Path) -> None:
    right = rules_of(path, folder)
    (entry,) = entries(folder)
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert rules_of(path, folder) == right


def test_a_folder_that_cannot_be_made_is_no_trouble(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert rules_of(path, tmp_path / "file" / "cache") > 0
    assert rules_of(path, tmp_path / "file") > 0


def test_a_leftover_of_a_broken_write_is_no_trouble(path: str, folder: Path) -> None:
    right = rules_of(path, folder)
    (entry,) = entries(folder)
    entry.rename(entry.with_name(f".{entry.name}.{os.getpid()}"))
    assert rules_of(path, folder) == right


def test_old_entries_are_cleared_away(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_cache, "MOST_ENTRIES", 4)
    for number in range(8):
        open_contract(path, params={"limit": number}, cache=ContractCache(folder))
    assert 2 <= len(entries(folder)) <= 4


def test_a_warm_run_imports_no_yaml_and_no_parser(path: str, folder: Path) -> None:
    open_contract(path, cache=ContractCache(folder))
    code = f"""
import sys
from pathlib import Path
from outstep.contract_cache import ContractCache, open_contract
from outstep.contracts.bundled import load_pack
open_contract({path!r}, cache=ContractCache(Path({str(folder)!r})))
load_pack("coding-agent")
heavy = {{"outstep.expr.parse", "outstep.expr.check", "outstep.contracts.loader", "yaml", "re2", "difflib"}}
print([name for name in sys.modules if name in heavy or name.split(".")[0] in ("yaml", "_yaml", "_re2")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "[]"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_equal_text_is_kept_as_equal_bytes_whatever_the_hash_seed(path: str, seed: str) -> None:
    code = f"""
import sys
from pathlib import Path
from outstep.contracts.cache import encode_kept
from outstep.contracts.loader import load_kept
sys.stdout.buffer.write(encode_kept(load_kept({path!r}, read_file=lambda name: Path(name).read_bytes())))
"""
    environ = {**environment(), "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environ)
    assert done.stdout == encode_kept(load_kept(path, read_file=lambda name: Path(name).read_bytes()))


# --- packs ---


@pytest.mark.parametrize("name", packs.NAMES)
def test_the_compiled_form_of_a_pack_is_up_to_date(name: str) -> None:
    assert packs.compiled(name) == compile_pack(name), "run `make packs`"


@pytest.mark.parametrize("name", packs.NAMES)
def test_a_compiled_pack_is_the_loaded_one_without_warnings(name: str) -> None:
    loaded = load(packs.source(name) or b"", name=f"pack:{name}")
    assert load_pack(name) == loaded
    assert loaded[1] == ()


def test_parameters_of_a_pack_may_be_replaced() -> None:
    assert load_pack("refund", {"refunds_expected": 1})[0].params["refunds_expected"] == 1
    found = load_pack("coding-agent", {"protected": ["./secret/**"]})[0]
    assert _scope(found, "PROTECTED_FILES") == ("./secret/**",)


def _scope(found: Contract, rule: str) -> tuple[str, ...] | None:
    return next(item.kind.write for item in found.rules if item.id == rule)  # type: ignore[union-attr]


@pytest.mark.parametrize(("name", "params"), [("refnd", {}), ("refund", {"refunds_expectd": 1})])
def test_a_mistyped_pack_or_parameter_is_told(name: str, params: dict[str, int]) -> None:
    with pytest.raises(OutstepError) as error:
        load_pack(name, params)
    assert error.value.problems[0].help in ("did you mean `refund`?", "did you mean `refunds_expected`?")


def test_a_stale_compiled_pack_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = (packs.source("integrity") or b"").replace(b"UNKNOWN_RECORD", b"STRANGE_RECORD")
    real = packs.source
    monkeypatch.setattr(packs, "source", lambda name: changed if name == "integrity" else real(name))
    assert "STRANGE_RECORD" in [rule.id for rule in load_pack("integrity")[0].rules]
    assert "STRANGE_RECORD" in [rule.id for rule in load_pack("refund")[0].rules]


def test_an_entry_lists_its_files_and_is_fresh_while_they_are_the_same(path: str) -> None:
    kept = load_kept(path, read_file=lambda name: Path(name).read_bytes())
    assert [Path(name).name for name, _ in kept.files] == ["contract.yaml", "common.yaml", "pack:integrity"]
    assert is_fresh(kept, lambda _: COMMON.encode())
    assert not is_fresh(kept, lambda _: b"")


@pytest.mark.parametrize("path", ["a.yaml", "./a.yaml", "x//y/./a.yaml", "/x/a.yaml", "../a.yaml", ".", "a/"])
def test_a_path_is_written_one_way(path: str) -> None:
    assert contract_cache._written(path) == PurePosixPath(path).as_posix()
