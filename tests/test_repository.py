"""Laws of the repository as a whole: what no single module can promise."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from outstep import __version__, adapters, drivers, render
from outstep.cli import COMMANDS
from outstep.contracts import kinds, lints
from outstep.draft import miners
from tests.command_line import ROOT, needed, outstep

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

# DESIGN: the checking core; `tool.importlinter` keeps clocks, chance, network, process and environment out of it.
CORE = ("codec", "contracts", "engine", "errors", "events", "expr", "findings", "scope")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def written_here() -> Iterator[Path]:
    """Every text that people of this project wrote: code, configuration, docs; recorded data is someone else's."""
    yield from (ROOT / name for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-fuzz.lock"))
    yield from PAGES
    yield from sorted((ROOT / ".ci").iterdir())
    for folder in ("src", "tests", "tools", "benchmarks", "fuzz", "examples", "ci"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".sh"} or (folder == "src" and path.suffix in {".yaml", ".json", ".toml"}):
                yield path


# --- dependencies ---


def pinned(lock: str) -> dict[str, str]:
    """Return the packages of a lock with their lines, names normalised."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", (ROOT / lock).read_text("utf-8"), flags=re.MULTILINE)
    return {plain(block.split("==")[0]): block for block in blocks if "==" in block}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def wanted() -> list[tuple[str, str]]:
    project = PROJECT["project"]
    main = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    groups = [("requirements.lock", text) for text in main]
    groups += [("requirements-fuzz.lock", text) for text in PROJECT["dependency-groups"]["fuzz"]]
    return [(lock, plain(re.split(r"[<>=!~;\[ ]", text)[0])) for lock, text in groups]


@pytest.mark.parametrize(("lock", "package"), wanted())
def test_every_dependency_is_pinned(lock: str, package: str) -> None:
    assert package in pinned(lock), f"`{package}` is not in {lock}; run `make lock`"


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-fuzz.lock"])
def test_every_pin_has_hashes_and_no_address(lock: str) -> None:
    packages = pinned(lock)
    assert packages
    for name, block in packages.items():
        assert "--hash=sha256:" in block, f"{name} has no hash"
    assert "://" not in (ROOT / lock).read_text("utf-8")


def test_an_unpinned_tool_of_the_build_is_none() -> None:
    # `make install` builds without isolation: what builds the project must stand in the lock, too.
    for requirement in PROJECT["build-system"]["requires"]:
        assert plain(requirement) in pinned("requirements.lock")


# --- layers ---


def core_of_import_linter() -> set[str]:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    return {name for contract in contracts if contract["id"] == "core" for name in contract["source_modules"]}


def test_every_part_of_the_core_is_held_to_its_law() -> None:
    source = ROOT / "src" / "outstep"
    there = {f"outstep.{name}" for name in CORE if list(source.glob(f"{name}.py")) or list(source.glob(f"{name}/*.py"))}
    assert there - core_of_import_linter() == set(), "add it to `source_modules` in pyproject.toml"


def imports(path: Path) -> set[str]:
    """Return the absolute names that a module imports, wherever in it: `a.b` for `import a.b`, `from a import b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}:{node.lineno}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def core_modules() -> list[Path]:
    source = ROOT / "src" / "outstep"
    return sorted(path for name in CORE for path in [*source.glob(f"{name}.py"), *source.glob(f"{name}/**/*.py")])


def test_the_core_takes_nothing_but_parsing_from_urllib() -> None:
    # import-linter sees packages of the standard library whole.
    found = {name for path in core_modules() for name in imports(path) if name.split(".")[0] == "urllib"}
    assert {name for name in found if not name.startswith("urllib.parse")} == set()


FAMILIES = {
    "outstep.adapters": [f"outstep.adapters.{name.replace('-', '_')}" for name in adapters.NAMES],
    "outstep.contracts.kinds": [kind.__module__ for kind in get_args(kinds.Kind)],
    "outstep.contracts.lints": [lint.__name__ for lint in lints.LINTS],
    "outstep.draft.miners": [miner.__name__ for miner in miners.MINERS],
    "outstep.drivers": [f"outstep.drivers.{name.replace('-', '_')}" for name in drivers.NAMES],
    "outstep.render": [f"outstep.render.{name}" for name in render.NAMES],
}
"""Folders that grow, and their members; other modules in them are what the members share."""


@pytest.mark.parametrize("name", drivers.NAMES)
def test_every_driver_is_there_and_told_of(name: str) -> None:
    assert (ROOT / "src" / "outstep" / "drivers" / f"{name.replace('-', '_')}.py").is_file()
    assert f"| `{name}` |" in (ROOT / "docs" / "drivers.md").read_text("utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_members_of_a_family_do_not_know_each_other(family: str) -> None:
    members = FAMILIES[family]
    folder = ROOT / "src" / family.replace(".", "/")
    found = []
    for path in sorted(folder.rglob("*.py")):
        own = f"{family}.{path.relative_to(folder).parts[0].removesuffix('.py')}"
        known = {m for name in imports(path) for m in members if f"{name}.".startswith(f"{m}.")} - {own}
        if own in members and known:
            found.append(f"{relative(path)} imports {', '.join(sorted(known))}")
    assert found == [], "what two members need has a module of its own"


# --- texts ---


def test_no_text_names_a_machine_or_an_index() -> None:
    folders = "/(" + "|".join(("wo" + "rk", "ro" + "ot", "fa" + "rm")) + ")/"
    pattern = re.compile(f"{folders}|index-" + "url|extra-" + "index")
    found = [
        f"{relative(path)}:{number}: {line.strip()[:80]}"
        for path in written_here()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def links() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in target and not target.startswith(("#", "mailto:")):
                found.append((relative(page), target))
    return found


@pytest.mark.parametrize(("page", "target"), links())
def test_a_link_between_pages_leads_somewhere(page: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    linked = (ROOT / page).parent / path
    assert linked.exists(), f"{page} links to {target}"
    if anchor and linked.suffix == ".md":
        assert anchor in anchors(linked.read_text("utf-8")), f"{page} links to {target}"


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings} | set(named)


def shape(page: str) -> dict[str, object]:
    """Return what two translations of a page must share."""
    text = (ROOT / page).read_text("utf-8")
    return {
        "headings": [len(mark) for mark in re.findall(r"^(#+) ", text, re.MULTILINE)],
        "blocks": re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL),
        "first cells": [
            re.findall(r"`[^`]*`|\d", cell) for cell in re.findall(r"^\| (.*?)(?<!\\) \| ", text, re.MULTILINE)
        ],
        "links": [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("README")],
        "items": len(re.findall(r"^(?:- |\d\. )", text, re.MULTILINE)),
    }


def test_both_readmes_show_the_same_things() -> None:
    assert shape("README.md") == shape("README.zh.md")


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
@pytest.mark.parametrize("name", adapters.NAMES)
def test_the_readme_names_each_format_with_its_pinned_versions(page: str, name: str) -> None:
    rows = re.findall(rf"^\| `{name}` \|.*\| (.*) \|$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 1
    assert re.findall(r"[^`,、 ]+", rows[0]) == list(adapters.adapter(name).pinned)


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    pages = [path.name for path in sorted(folder.glob("0*.md"))]
    assert pages
    assert [name for name in pages if f"({name})" not in index] == []


def test_the_changelog_names_this_version() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


# --- commands ---


def test_the_list_of_make_targets_is_whole() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    documented = re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE)
    expected = {"install", "demo", "live", "test", "check", "bench", "fuzz", "lock", "packs", "clean", "help"}
    assert set(documented) == expected


def test_continuous_integration_runs_all_tests_and_all_static_checks() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = [line for line in script.read_text("utf-8").splitlines() if line.startswith("make ")]
    assert lines == ["make test || status=1", "make check-static || status=1"]


def test_continuous_integration_fails_when_either_half_fails(tmp_path: Path) -> None:
    fake = tmp_path / "make"
    for broken in ("test", "check-static"):
        fake.write_text(f'#!/bin/sh\necho "$1"\ntest "$1" != {broken}\n', "utf-8")
        fake.chmod(0o755)
        environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "CI": ""}
        done = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, check=False)
        assert done.returncode == 1
        assert done.stdout.split() == [b"test", b"check-static"]


@needed
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_equal_input_gives_equal_bytes_under_any_hash_seed(form: tuple[str, ...]) -> None:
    recordings = "examples/refund/recordings"
    words = ("check", recordings, "--contract", "examples/refund/dsh-refund.yaml", *form)
    first, *others = [outstep(*words, PYTHONHASHSEED=seed) for seed in ("0", "1", "4242")]
    assert first.returncode == 1, first.stderr.decode()
    assert first.stdout
    for other in others:
        assert (other.returncode, other.stdout, other.stderr) == (first.returncode, first.stdout, first.stderr)


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "docs/cli.md"])
def test_every_command_is_in_the_tables_of_commands(page: str) -> None:
    rows = "\n".join(re.findall(r"^\|.*$", (ROOT / page).read_text("utf-8"), re.MULTILINE))
    named = {words.removeprefix("outstep ").split()[0] for words in re.findall(r"`([^`]+)`", rows)}
    assert [name for name in COMMANDS if name not in named and name != "help"] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_nothing_is_kept_that_is_to_be_ignored() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    assert listed.stdout.decode().split() == []
