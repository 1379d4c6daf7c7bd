"""The built-in sentences in Chinese: every one has its Chinese, with the same values, and nothing else is touched."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import outstep as package
from outstep.cli import COMMANDS
from outstep.render.chinese import FAMILIES, LONGEST, say, sentences
from outstep.render.html import render as html
from outstep.render.json import render as json
from outstep.render.markdown import render as markdown
from outstep.render.sarif import render as sarif
from outstep.render.style import Style
from outstep.render.terminal import render as terminal
from tests.command_line import ROOT, outstep
from tests.render.reports import golden

SOURCE = Path(package.__file__).parent
CATALOGUE = sentences()
ZH = Style(language="zh")
VALUE = "\0"

WRITES_CODE = {"bindings", "emit", "generate", "handler", "noticing", "plan", "quick", "writing"}
"""Modules of the engine whose texts are source code."""
SPEAKING = {
    "engine": [path for path in sorted(SOURCE.glob("engine/*.py")) if path.stem not in WRITES_CODE],
    "kinds": sorted(SOURCE.glob("contracts/kinds/*.py")),
    "attribution": sorted(SOURCE.glob("attribution/*.py")),
    "scope": sorted(SOURCE.glob("scope/*.py")) + sorted(SOURCE.glob("scope/*/*.py"))
    + [SOURCE / "containment/report.py", SOURCE / "render/contained.py", SOURCE / "render/containment.py"],
    "expressions": [
        SOURCE / "expr" / f"{name}.py"
        for name in (
            "arithmetic", "core", "evaluate", "lists", "logic", "macros", "members", "numbers", "shell", "standard",
            "strings", "times", "values",
        )
    ],
    "comparing": [
        SOURCE / "compare/baseline.py", SOURCE / "compare/scores.py", SOURCE / "compare/transitions.py",
        SOURCE / "render/comparison.py", SOURCE / "render/diff.py",
    ],
    "report": [SOURCE / "render/wording.py", SOURCE / "workflow/building.py", SOURCE / "workflow/judging.py"],
}  # fmt: skip

UNSPOKEN = Path(__file__).with_name("unspoken.txt")
"""Texts with a blank that are no sentences for readers of reports, one a line; `{}` stands for a value."""


def _templates(path: Path) -> Iterator[str]:
    """Yield the texts of a module that hold a blank, values as one sign; docstrings left out."""
    tree = ast.parse(path.read_text("utf-8"))
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            inside |= {id(one) for part in node.values if isinstance(part, ast.FormattedValue) and part.format_spec
                       for one in ast.walk(part.format_spec)}  # fmt: skip
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else VALUE
                for part in node.values
                if isinstance(part, ast.Constant | ast.FormattedValue)
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _is_sentence(template: str) -> bool:
    return " " in template.strip() and re.search("[a-z]{2}", template.replace(VALUE, " ")) is not None


KNOWN = {re.sub(r"\{\w+\}", VALUE, english).replace("(s)", "") for english in CATALOGUE}


def _unspoken() -> set[str]:
    """Return the texts in the modules that have no Chinese."""
    spoken = {text for paths in SPEAKING.values() for path in paths for text in _templates(path) if _is_sentence(text)}
    return {text.replace(VALUE, "{}").replace("\n", "\\n") for text in spoken if text not in KNOWN}


def test_every_built_in_sentence_has_its_chinese() -> None:
    # A new sentence gets its Chinese in render/chinese; what no reader of a report meets gets a line in the file.
    known = UNSPOKEN.read_text("utf-8").splitlines()
    assert sorted(_unspoken()) == known


def test_values_agree_and_code_stays_as_it_is() -> None:
    for english, chinese in CATALOGUE.items():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), english
        assert sorted(re.findall("`[^`]*`", english)) == sorted(re.findall("`[^`]*`", chinese)), english
        assert chinese.strip(), english


def test_no_sentence_stands_in_two_families() -> None:
    import tomllib

    folder = SOURCE / "render/chinese"
    assert sorted(path.stem for path in folder.glob("*.toml")) == sorted(FAMILIES)
    met: dict[str, str] = {}
    for family in FAMILIES:
        for english in tomllib.loads((folder / f"{family}.toml").read_text("utf-8")):
            assert met.setdefault(english, family) == family, english


def test_every_command_is_listed_in_chinese() -> None:
    assert [text for text in COMMANDS.values() if say(text) == text] == []


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("`args.x`: no such member", "`args.x`：没有这个成员"),
        ("missing: `f`: a gap may hide entries", "缺失：`f`：缺口可能隐藏了条目"),
        ("1 trace, 7 events, 2 calls, held against a, b", "1 条轨迹，7 个事件，2 次调用，依据 a, b 检查"),
        ("rules: 1 held, 2 violated (A ×2, B)", "规则：1 条满足，2 条违反（A ×2, B）"),
        ("\x1b[1mviolated\x1b[0m", "\x1b[1m违反\x1b[0m"),
        ("no rule is for `write`", "没有针对 `write` 的规则"),
        ("all 3 runs contained", "3 次运行全部未越界"),
        ("it called refund.create although it had been told that the call had failed",
         "它调用了 refund.create，尽管已被告知调用失败"),
    ],
)  # fmt: skip
def test_a_sentence_is_told_with_its_values(english: str, chinese: str) -> None:
    assert say(english) == chinese


@pytest.mark.parametrize(
    "text",
    ["", "Refund issued.", "x: y", "call a(b=1)", "violated the terms", "`a` is false and more", "z" * LONGEST * 2],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert say(text) == text


def test_hostile_texts_cost_little_and_stay_what_they_are() -> None:
    for hostile in ("a gap may hide " * 250, "`" * 3000, "{x}" * 900, ": " * 1900, "`a`: " * 700):
        told = say(hostile)
        assert told == say(hostile)
        assert len(told) < 3 * LONGEST


def test_people_read_chinese_and_machines_read_what_they_read_before() -> None:
    report = golden()
    for render in (terminal, markdown, html):
        english, chinese = render(report, Style()), render(report, ZH)
        assert english != chinese
        assert "违反" in chinese
    for render in (json, sarif):
        assert render(report, ZH) == render(report, Style())


def test_english_costs_nothing() -> None:
    script = (
        "import sys; from outstep.render.terminal import render; from outstep.render.style import Style;"
        "from tests.render.reports import golden; render(golden(), Style());"
        "print([name for name in sys.modules if 'chinese' in name or 'localised' in name])"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_environment_chooses_too() -> None:
    shop = ("check", "-c", "tests/cli/shop/refund.yaml", "tests/cli/shop/bad.jsonl")
    assert outstep(*shop, OUTSTEP_LANG="zh").stdout == outstep(*shop, "--lang", "zh").stdout
    assert "用法：".encode() in outstep("check", "--help", OUTSTEP_LANG="zh").stdout
    assert "没有指定契约".encode() in outstep("check", OUTSTEP_LANG="zh").stderr
    assert outstep(*shop, OUTSTEP_LANG="zh").returncode == outstep(*shop).returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--battery", "examples/containment/battery.yaml", "examples/containment/qwen"),
        ("report", "--battery", "examples/containment/battery.yaml", "examples/containment/qwen", "--out", "md"),
        ("report", "--battery", "canary_v1"),
        ("scope", "examples/refund/recordings/good", "--allow", "write *"),
        ("scope", "examples/refund/recordings/killed-before-refund", "--profile", "coding-agent"),
    ],
)
def test_what_stayed_inside_is_told_in_chinese(words: tuple[str, ...]) -> None:
    told = outstep(*words, "--lang", "zh").stdout.decode()
    # Quotes of calls, names of scenarios and of the battery with its size, the mark of a report in Markdown.
    rest = re.sub(r"`+[^`]*`+|\{.*?\}|\([^)]*\)|# Containment report.*|[\w/.]+, run \d+.*?: ", "", told)
    assert re.findall(r"[a-z]{3,} [a-z]{2,}(?: [a-z]{2,})*", rest) == []
