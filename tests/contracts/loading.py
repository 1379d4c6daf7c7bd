"""Short forms to load a contract in a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outstep.contracts.loader import load
from outstep.contracts.model import Contract, Rule
from outstep.errors import OutstepError, Problem

HEAD = "outstep: contract/v1\nid: test\n"
TOOLS = """tools:
  order.get: {effect: read}
  refund.create: {effect: write}
"""


def whole(text: str) -> str:
    """Return a contract, head, tools and rules added where the text has none; one with a head stays as it is."""
    if text.startswith("outstep:"):
        return text
    if "tools:" not in text:
        text += "" if text.endswith("\n") or not text else "\n"
        text = TOOLS + text
    if "rules:" not in text:
        text += "\nrules: [{id: ANY, for: message, require: text != ''}]\n"
    return HEAD + text


Files = Mapping[str, str]
"""Other files, by their names without `.yaml`."""


def contract(text: str, files: Files | None = None, params: Mapping[str, Any] | None = None) -> Contract:
    """Return a contract without mistakes."""
    return load(whole(text).encode(), params=params, read_file=reader(files or {}))[0]


def rule(text: str, more: str = "") -> Rule:
    """Return the one rule whose keys are given in flow form."""
    return contract(f"{more}\nrules:\n  - {{id: R, {text}}}\n").rules[0]


def problems(
    text: str | bytes, files: Files | None = None, params: Mapping[str, Any] | None = None
) -> tuple[Problem, ...]:
    """Return the mistakes of a contract."""
    data = text if isinstance(text, bytes) else whole(text).encode()
    try:
        load(data, params=params, read_file=reader(files or {}))
    except OutstepError as error:
        return error.problems
    return ()


def warnings(text: str, files: Files | None = None) -> tuple[Problem, ...]:
    """Return the warnings of a contract without mistakes."""
    return load(whole(text).encode(), read_file=reader(files or {}))[1]


def brief(problem: Problem) -> str:
    """Return code and underlined text of a problem."""
    first, last = problem.underline or (0, 0)
    return f"{problem.code.removeprefix('contract/')} {problem.excerpt[first:last]}"


def codes(text: str | bytes, files: Files | None = None) -> list[str]:
    """Return code and underlined text of each mistake."""
    return [brief(problem) for problem in problems(text, files)]


def rule_codes(text: str, more: str = "") -> list[str]:
    """Return the mistakes of one rule whose keys are given in flow form."""
    return codes(f"{more}\nrules:\n  - {{id: R, {text}}}\n")


def reader(files: Files) -> Any:
    """Return what opens the files."""

    def read(name: str) -> bytes:
        stem = name.removesuffix(".yaml")
        if stem not in files:
            raise FileNotFoundError(2, "No such file or directory", name)
        return files[stem].encode()

    return read
