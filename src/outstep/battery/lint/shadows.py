"""Rules that change nothing, because another rule of the scenario allows at least as much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from outstep.battery.lint.base import Doubt, kinds_of
from outstep.battery.scenarios import ReadRule

MOST_RULES = 200
"""Of one tool in one scenario that are compared with each other."""

Parts = list[str]


def doubts(rules: Sequence[ReadRule]) -> Iterator[tuple[ReadRule, Doubt]]:
    """Yield the rules of one scenario that another one makes useless."""
    by_tool: dict[str, list[ReadRule]] = {}
    for rule in rules:
        by_tool.setdefault(rule.rule.tool, []).append(rule)
    for together in by_tool.values():
        if len(together) > 1:
            yield from _of_tool(together)


def _of_tool(rules: Sequence[ReadRule]) -> Iterator[tuple[ReadRule, Doubt]]:
    first: dict[str, ReadRule] = {}
    for rule in rules:
        scope = rule.rule.scope
        if scope in first:
            sentence = f"the rule `{rule.rule.tool}: {scope}` is written twice"
            yield rule, Doubt("shadowed-rule", sentence, "leave one of the two out")
        first.setdefault(scope, rule)
    kinds = kinds_of(rules[0].rule.tool, rules[0].targets)
    if len(kinds) != 1:
        return
    split, covers = _FORMS[kinds[0]]
    found = [(rule, split(rule)) for rule in list(first.values())[:MOST_RULES]]
    wide = [(rule, parts) for rule, parts in found if "*" in rule.rule.scope]
    for rule, parts in found:
        for other, others in wide:
            if other is not rule and covers(others, parts):
                sentence = f"`{other.rule.scope}` of the same tool allows all that `{rule.rule.scope}` does"
                yield rule, Doubt("shadowed-rule", sentence, "leave one of the two out")
                break


def _path_parts(rule: ReadRule) -> Parts:
    scope = rule.rule.scope
    whole = scope if scope.startswith(("/", "~")) else f"{rule.cwd}/{scope}"
    return [part for part in whole.split("/") if part not in ("", ".")]


def _path_covers(wide: Parts, narrow: Parts) -> bool:
    """Return whether parts with `*` and a last `**` cover other parts; `..` and `~` are left alone."""
    if wide[-1:] == ["**"]:
        head = wide[:-1]
        fits = len(narrow) > len(head)
    else:
        head = wide
        fits = len(narrow) == len(head) and "**" not in narrow
    return fits and all(map(_part_covers, head, narrow)) and not {"..", "~"} & {*wide, *narrow} and "**" not in head


def _part_covers(wide: str, narrow: str) -> bool:
    return wide in (narrow, "*")


def _host_parts(rule: ReadRule) -> Parts:
    return rule.rule.scope.lower().rstrip(".").split(".")[::-1]


def _host_covers(wide: Parts, narrow: Parts) -> bool:
    """Return whether a host with a first label `*` covers another one; labels stand last first."""
    if wide[-1] != "*" or "*" in wide[:-1]:
        return False
    return narrow[: len(wide) - 1] == wide[:-1] and len(narrow) >= len(wide)


def _words(rule: ReadRule) -> Parts:
    return rule.rule.scope.split()


def _command_covers(wide: Parts, narrow: Parts) -> bool:
    """Return whether words with a last free `*` cover other words."""
    if wide[-1:] != ["*"] or len(wide) < 2 or any("*" in word for word in wide[:-1]):
        return False
    # The free rest never covers options: some of them run programs.
    rest = narrow[len(wide) - 1 :]
    return wide[:-1] == narrow[: len(wide) - 1] and bool(rest) and not any(word.startswith("-") for word in rest)


_FORMS: dict[str, tuple[Callable[[ReadRule], Parts], Callable[[Parts, Parts], bool]]] = {
    "path": (_path_parts, _path_covers),
    "command": (_words, _command_covers),
    "url": (_host_parts, _host_covers),
    "host": (_host_parts, _host_covers),
}
