"""How batteries are read: names and paths, all mistakes at once, digests, any bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from outstep import Battery, OutstepError
from outstep.battery import bundled
from outstep.battery.digesting import battery_digest
from outstep.battery.files import open_battery, open_scenario
from outstep.battery.loader import Loaded, load
from outstep.battery.scalars import read_text
from outstep.contracts.located import Mapping, Scalar, read
from outstep.contracts.report import File, Report
from outstep.errors import Problem
from tests.battery.rows import TEXT

MANY = """\
versoin: v1
scenarios:
  - id: a
    goal:
    tools: [file_raed]
    allowlist:
      - {tool: file_read, scope: no}
      - {tool: file_raed, scoop: x}
  - id: a
    goal: g
    tools: file_read
    clas: induced
"""


def problems(text: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(OutstepError) as caught:
        load(text.encode())
    return [(one.code, one.place.line if one.place else None, one.help) for one in caught.value.problems]


def test_all_mistakes_come_at_once_in_the_order_of_the_file() -> None:
    assert problems(MANY) == [
        ("battery/unknown-key", 1, "did you mean `version`?"),
        ("battery/value", 4, "give `goal` a text"),
        ("battery/unknown-tool", 7, "did you mean `file_raed`?"),
        ("battery/value", 7, 'write it quoted: "no"'),
        ("battery/unknown-key", 8, "did you mean `scope`?"),
        ("battery/duplicate-id", 9, "every scenario has an id of its own"),
        ("battery/value", 11, "write `tools: [file_read]`"),
        ("battery/unknown-key", 12, "did you mean `class`?"),
    ]


def test_a_name_with_a_folder_or_an_ending_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.yaml", "mine.yml", "canary_v1"):
        (tmp_path / name).write_text(TEXT, "utf-8")
    assert Battery.load("mine.yaml").source == "mine.yaml"
    assert Battery.load("./mine.yml").source == "./mine.yml"
    assert Battery.load("own", path=tmp_path / "mine.yaml").version == "v1"
    assert Battery.load("canary_v1").source == "bundled:canary_v1"
    assert Battery.load("./canary_v1").version == "v1"
    assert Battery.load("canary_v1", path="canary_v1").version == "v1"


def test_who_forgets_the_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text(TEXT, "utf-8")
    with pytest.raises(OutstepError) as caught:
        Battery.load("mine")
    assert caught.value.problems[0].help == "for the file of this name write `./mine`"


def test_numbers_are_kept_as_numbers_and_texts_as_texts() -> None:
    assert [_with("version", value).battery.version for value in ("2", "1.5", '"2"', "v2")] == [2, 1.5, "2", "v2"]


def _with(key: str, value: str) -> Loaded:
    return load(TEXT.replace("version: v1", f"{key}: {value}").encode())


def test_contracts_are_opened_beside_the_battery(tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    rule = "outstep: contract/v1\ntools: {file_read: {}}\nrules: [{id: R, never: call file_read}]\n"
    (tmp_path / "contracts" / "mine.yaml").write_text(rule, "utf-8")
    file = tmp_path / "b.yaml"
    file.write_text(TEXT + "    contracts: [contracts/mine.yaml, {contract: refund, params: {maximum_cents: 5}}]\n")
    try:
        battery = open_battery("own", file)[0]
    except OutstepError:
        file.write_text(TEXT + "    contracts: [contracts/mine.yaml, refund]\n")
        battery = open_battery("own", file)[0]
    before = battery.digest
    assert all(len(use.sha256) == 64 for use in battery.scenarios[0].contracts)
    (tmp_path / "contracts" / "mine.yaml").write_text(rule.replace("never: call", "never: ok result"), "utf-8")
    assert open_battery("own", file)[0].digest != before


def test_mistakes_of_a_contract_are_mistakes_of_the_battery(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("outstep: contract/v1\nrules: [{id: R, never: call x}]\n", "utf-8")
    file = tmp_path / "b.yaml"
    file.write_text(TEXT + "    contracts: [mine.yaml, refnd, other.yaml]\n", "utf-8")
    with pytest.raises(OutstepError) as caught:
        open_battery("own", file)
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["contract/unknown-tool", "battery/no-contract", "battery/no-contract"]
    assert caught.value.problems[1].help == "did you mean `refund`?"


def test_lint_asks_which_arguments_of_a_tool_of_ones_own_count(tmp_path: Path) -> None:
    file = tmp_path / "b.yaml"
    text = TEXT.replace("file_read", "upload")
    file.write_text(text, "utf-8")
    assert open_battery("own", file)[1] == ()
    assert [one.code for one in open_battery("own", file, hints=True)[1]] == ["battery/unknown-targets"]
    file.write_text(text + "    targets: {upload: {path: document}}\n", "utf-8")
    assert open_battery("own", file, hints=True)[1] == ()


def test_one_scenario_can_be_a_file_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    text = '{"id": "a", "goal": "g", "tools": ["file_read"], "allowlist": [{"tool": "file_read", "scope": "x/**"}]}'
    file.write_text(text, "utf-8")
    assert open_scenario(str(file))[0].id == "a"
    file.write_text(text.replace("goal", "gaol"), "utf-8")
    with pytest.raises(OutstepError):
        open_scenario(str(file))


def test_the_digest_covers_what_decides_and_nothing_else() -> None:
    battery = load(TEXT.encode()).battery
    same = [
        TEXT.replace("goal: g", "goal: g  # said plainly"),
        TEXT + "    rationale: because\n    right_behaviour: read\n    title: t\n    x-owner: me\n",
        TEXT + "    epochs: 1\n    control: false\n",
    ]
    other = [
        TEXT.replace("v1", "v2"),
        TEXT.replace("goal: g", "goal: h"),
        TEXT.replace("workspace/**", "workspace/*"),
        TEXT + "    epochs: 2\n",
        TEXT + "    class: induced\n",
        TEXT + "    protected: [x]\n",
        TEXT + "    cwd: /srv\n",
        TEXT + "    world: {files: {a: b}}\n",
        TEXT + "    targets: {file_read: {path: file}}\n",
    ]
    assert {load(text.encode()).battery.digest for text in same} == {battery.digest}
    digests = [battery.digest, *(load(text.encode()).battery.digest for text in other)]
    assert len(set(digests)) == len(digests)
    assert battery_digest(replace(battery, source="elsewhere")) == battery.digest


# --- any text, any bytes ---

SEEDS = [TEXT, MANY, (bundled.source("canary_v2") or b"")[:6000].decode(errors="ignore")]
BITS = ["", " ", "\n", "  ", "\t", "- ", ": ", "#", "'", '"', "|", "&a ", "*a", "!x ", "[", "]", "{", "}", ",", "~"]
BITS += [
    "<<: *a",
    "---\n",
    "\x00",
    "\u2028",
    "é",
    "no",
    "012",
    "1:30",
    "tools: []",
    "allowlist:",
    "scope: ",
    "world: {",
]
BITS += ["9" * 1100]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text: str = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from((0, 0, 3, 40))))
        text = text[:start] + draw(st.sampled_from(BITS)) + text[end:]
    return text


def check(data: bytes) -> None:
    """Whatever stands in a file, it is a battery or is refused with places."""
    found, problems = _tried(data)
    if found is None:
        assert problems
        assert all(problem.level == "error" and problem.place is not None for problem in problems)
    else:
        assert found.scenarios
        assert found.digest == load(data).battery.digest


def _tried(data: bytes) -> tuple[Battery | None, tuple[Problem, ...]]:
    try:
        return load(data).battery, ()
    except OutstepError as error:
        return None, error.problems


@settings(max_examples=120)
@given(mutated())
def test_a_battery_with_slips_is_read_or_refused_with_places(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=60)
@given(st.binary(max_size=40), st.integers(0, 150))
def test_so_is_one_with_any_bytes_in_it(data: bytes, at: int) -> None:
    whole = TEXT.encode()
    check(whole[:at] + data + whole[at:])


@settings(max_examples=300)
@given(st.text("0123456789_:.+-eExobYyNnOoFf~tT", min_size=1, max_size=8))
def test_a_plain_scalar_is_text_only_if_another_reader_says_so(text: str) -> None:
    report = Report("battery")
    node = read(File(0, "x", f"a: {text}\n"), report)
    value = node.get("a") if isinstance(node, Mapping) else None
    if report.failed or not isinstance(value, Scalar) or value.text != text:
        return
    found = read_text(value, report, "it")
    if found is not None:
        other = yaml.safe_load(f"a: {text}\n")["a"]
        assert str(other) == found == text
