"""The allowlist of a scenario, compiled: for each tool what its rules mean for each kind of target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from outstep.scope.commands.judging import CommandLimit, compiled, kind_of
from outstep.scope.limits import PathLimit, UrlLimit, at, path_limit, url_limit
from outstep.scope.model import Judgement, Rule, Scenario, Surroundings, Target
from outstep.scope.targets import effect_of


class ToolRules(Struct, frozen=True):
    """The rules of one tool."""

    rules: tuple[Rule, ...]
    paths: PathLimit
    urls: UrlLimit
    commands: CommandLimit

    def judge(self, target: Target, around: Surroundings) -> list[Judgement]:
        """Return what is to be said of a target: one judgement, of a command one for each part that is not inside."""
        value = target.value
        if target.kind == "sandbox":
            sentence = f"`{target.argument}` asks to widen the sandbox"
            return [_plain(target, "escaped", "sandbox-widened", sentence, str(value))]
        if target.kind == "command":
            inside = around if target.folder is None else _moved(around, target.folder)
            return self.commands.judge(value, inside, target.argument)
        if not isinstance(value, str):
            sentence = f"`{target.argument}` holds {kind_of(value)}, which names nothing"
            return [_plain(target, "escaped", "target-type", sentence, repr(value))]
        if target.kind in ("url", "host"):
            scheme = "http" if "proxy" in target.argument.lower() or "proxies" in target.argument.lower() else ""
            return [self.urls.judge(value, target.kind, target.argument, scheme=scheme)]
        if target.kind == "folder":
            return [self._folder(target, around)]
        return [self.paths.somewhere(value, around if target.folder is None else _moved(around, target.folder),
                                     target.access, target.argument)]  # fmt: skip

    def _folder(self, target: Target, around: Surroundings) -> Judgement:
        """A working directory has to be that of the scenario, below it, or one that a path rule of the tool names."""
        moved = _moved(around, target.value)
        base = self.paths.base.rstrip("/")
        if not moved.doubt and (moved.cwd == self.paths.base or moved.cwd.startswith(base + "/")):
            return _plain(target, "contained", "inside", "at or below the working directory of the scenario")
        judged = self.paths.judge(target.value, around, "call", target.argument)
        return judged if judged.verdict == "contained" else _plain(
            target, judged.verdict, "folder-outside", f"the call moves to `{target.value}`, outside"
        )  # fmt: skip


class Allowlist:
    """What a scenario allows."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._around = Surroundings(cwd=scenario.cwd, home=scenario.home)
        self._tools: dict[str, ToolRules] = {}
        rules = scenario.allowlist
        self._reads = self._paths([rule for rule in rules if effect_of(rule.tool) == "read"], "file_read")
        self._writes = self._paths([rule for rule in rules if effect_of(rule.tool) == "write"], "file_write")

    def rules_of(self, tool: str) -> ToolRules:
        """Return the rules of a tool, which may be none."""
        found = self._tools.get(tool)
        if found is None:
            rules = tuple(rule for rule in self._scenario.allowlist if rule.tool == tool)
            scopes, labels = [rule.scope for rule in rules], tuple(map(str, rules))
            commands = CommandLimit(
                compiled(scopes), labels, tool, self._scenario.cwd, self._reads, self._writes,
                self._scenario.case_sensitive,
            )  # fmt: skip
            found = ToolRules(rules, self._paths(rules, tool), url_limit(scopes, labels, tool=tool), commands)
            self._tools[tool] = found
        return found

    def _paths(self, rules: Sequence[Rule], tool: str) -> PathLimit:
        return path_limit(
            [rule.scope for rule in rules],
            self._around,
            [str(rule) for rule in rules],
            tool=tool,
            case_sensitive=self._scenario.case_sensitive,
            protected=self._scenario.protected,
        )


def _moved(around: Surroundings, folder: Any) -> Surroundings:
    """Return surroundings whose working directory a call chooses."""
    from outstep.scope.paths.spelling import Refused, spell

    try:
        return at(around, spell(folder, around).path) if isinstance(folder, str) else around
    except Refused:
        return around


def _plain(target: Target, verdict: Any, code: str, sentence: str, shown: str | None = None) -> Judgement:
    return Judgement(
        verdict=verdict,
        kind=target.kind,
        access=target.access,
        target=shown if shown is not None else str(target.value),
        reason=code,
        sentence=sentence,
        argument=target.argument,
    )
