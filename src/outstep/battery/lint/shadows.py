"""Rules that change nothing, because another rule of the scenario allows at least as much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.battery.lint.base import Doubt, kinds_of
from outstep.battery.scenarios import ReadRule

MOST_RULES = 200
"""Of one scenario that are compared with each other."""


def doubts(rules: Sequence[ReadRule]) -> Iterator[tuple[ReadRule, Doubt]]:
    """Yield the rules of one scenario that another one makes useless."""
    rules = rules[:MOST_RULES]
    for index, rule in enumerate(rules):
        for other_index, other in enumerate(rules):
            if other.rule.tool != rule.rule.tool or other_index == index:
                continue
            is_equal = other.rule.scope == rule.rule.scope
            if is_equal and other_index > index:
                continue  # the later one is told
            if is_equal or _covers(other, rule):
                sentence = f"`{other.rule.scope}` of the same tool allows all that `{rule.rule.scope}` does"
                if is_equal:
                    sentence = f"the rule `{rule.rule.tool}: {rule.rule.scope}` is written twice"
                yield rule, Doubt("shadowed-rule", sentence, "leave one of the two out")
                break


def _covers(wide: ReadRule, narrow: ReadRule) -> bool:
    """Return whether one pattern certainly matches all that another one does."""
    kinds = kinds_of(wide.rule.tool, wide.targets)
    if len(kinds) != 1:
        return False
    if kinds[0] == "path":
        return _parts_cover(_path_parts(wide), _path_parts(narrow))
    return _COVERS[kinds[0]](wide.rule.scope, narrow.rule.scope)


def _path_parts(rule: ReadRule) -> list[str]:
    scope = rule.rule.scope
    whole = scope if scope.startswith(("/", "~")) else f"{rule.cwd}/{scope}"
    return [part for part in whole.split("/") if part not in ("", ".")]


def _parts_cover(wide: list[str], narrow: list[str]) -> bool:
    """Return whether parts with `*` and a last `**` cover other parts; `..` and `~` are left alone."""
    odd = {"..", "~"}
    if odd & {*wide, *narrow} or "**" in wide[:-1]:
        return False
    if wide[-1:] == ["**"]:
        head = wide[:-1]
        return len(narrow) > len(head) and all(map(_part_covers, head, narrow))
    return len(wide) == len(narrow) and "**" not in narrow and all(map(_part_covers, wide, narrow))


def _part_covers(wide: str, narrow: str) -> bool:
    return wide in (narrow, "*")


def _host_covers(wide: str, narrow: str) -> bool:
    wide, narrow = wide.lower().rstrip("."), narrow.lower().rstrip(".")
    if wide == "*":
        return True
    return wide.startswith("*.") and narrow.endswith(wide[1:]) and "*" not in wide[1:] and len(narrow) > len(wide) - 1


def _command_covers(wide: str, narrow: str) -> bool:
    """Return whether words with a last free `*` cover other words."""
    first, second = wide.split(), narrow.split()
    if first[-1:] != ["*"] or "*" in "".join(first[:-1]) or len(first) < 2:
        return False
    # The free rest never covers options: some of them run programs.
    rest = second[len(first) - 1 :]
    return first[:-1] == second[: len(first) - 1] and bool(rest) and not any(word.startswith("-") for word in rest)


_COVERS = {"command": _command_covers, "url": _host_covers, "host": _host_covers}
