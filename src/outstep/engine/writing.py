"""Lines of generated code: how blocks are put together, and what a function keeps at hand."""

from __future__ import annotations

from collections.abc import Sequence

Lines = list[str]

_AT_HAND = (
    ("tables[", "tables = lane.tables"),
    ("epoch", "epoch = lane.epoch"),
    ("tallies[", "tallies = run.tallies"),
)
"""What the code of a function may name, and the line that binds it."""


def indented(lines: Lines) -> Lines:
    """Return lines one level deeper."""
    return [f"    {line}" for line in lines]


def proven(test: str, holds: Lines, slow: Lines) -> Lines:
    """Return lines that do one thing if a test is proven, else the other."""
    return [
        "try:",
        f"    ok = {test}",
        "except Exception:",
        "    ok = False",
        "if ok:",
        *indented(holds),
        "else:",
        *indented(slow),
    ]


def attempted(lines: Lines, slow: str) -> Lines:
    """Return lines that end the function the slow way if one of them raises."""
    return ["try:", *indented(lines), "except Exception:", f"    {slow}", "    return"]


def conjoined(start: str, tests: Sequence[str]) -> Lines:
    """Return the conjunction of tests, one a line, behind the start of a statement."""
    first, *others = tests
    return [f"{start}(", f"    {first}", *(f"    and {test}" for test in others), ")"]


def function(head: str, promise: str, lines: Lines) -> str:
    """Return a function with its promise."""
    promise = promise.replace("\\", "").replace('"', "")
    kept = [line for name, line in _AT_HAND if any(name in each for each in lines)]
    return "\n".join([f"def {head}:", f'    """{promise}"""', *indented([*kept, *lines] or ["return"])])
