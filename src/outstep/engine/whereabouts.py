"""Where relative targets lie while a trace goes on: working directories, links, and what a shell keeps.

Shared by all rules of the kind `scope`. The events before a call decide it, in the order of the log: every lane has its
own working directory, links are there for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from outstep.events import Context, ToolCall
from outstep.expr.values import CutText, Hidden, Missing
from outstep.scope.commands.judging import UNKNOWN
from outstep.scope.harnesses import TOOLS
from outstep.scope.model import Access, Surroundings, Target
from outstep.scope.targets import targets_of

if TYPE_CHECKING:
    from outstep.contracts.model import Tool
    from outstep.engine.run import Run
    from outstep.engine.views import View

_ACCESS: dict[str, Access] = {"command": "run", "url": "fetch", "host": "fetch"}


class _Veiled(str):
    """Stands in place of a value that is hidden."""

    __slots__ = ()


class Whereabouts:
    """The surroundings of every lane, and the targets of the call in hand."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.base = Surroundings(cwd=run.header.cwd)
        """Where relative patterns lie."""
        self.outcomes: dict[int, str] = {}
        """What became of the calls that were judged, by `seq`."""
        self._folders: dict[str, Surroundings] = {}
        self._lanes: dict[str, Surroundings] = {}
        self._moved: dict[str, tuple[int, Surroundings]] = {}
        """The newest call of a lane that changed something, with what was before."""
        self._links: tuple[tuple[str, str], ...] = ()
        self._place = -1
        self._targets: tuple[int, list[Target] | None] = (-1, None)

    def around(self, lane: str, *, is_shell: bool = True) -> Surroundings:
        """Return what surrounds the next call of a lane; a shell may have gone where other tools did not follow."""
        if not is_shell:
            return replace(self._folder(lane), links=self._links)
        found = self._lanes.get(lane)
        if found is None:
            found = self._lanes[lane] = self._folder(lane)
        return found if found.links == self._links else replace(found, links=self._links)

    def called(self, view: View) -> None:
        """Follow a call, as if it will go well."""
        event = view.event
        assert isinstance(event, ToolCall)
        if event.seq <= self._place:
            return
        self._place = event.seq
        before = self.around(event.agent)
        after = self._after(before, view, "ok")
        if after != before:
            self._moved[event.agent] = (event.seq, before)
            self._keep(event.agent, after)

    def answered(self, view: View) -> None:
        """Take what became of a call: one that did not go well may have changed nothing, or something else."""
        if view.seq <= self._place or view.call is None:
            return
        self._place = view.seq
        call = view.call.event
        if call.seq in self.outcomes:
            self.outcomes[call.seq] = view.outcome
        seq, before = self._moved.get(call.agent, (-1, None))
        if before is None or seq != call.seq or view.outcome == "ok":
            return
        self._links = before.links
        self._keep(call.agent, self._after(before, self._run.call_view(view.call), view.outcome))

    def told(self, event: Any) -> None:
        """Take a change of the working directory that the harness tells of."""
        if not isinstance(event, Context) or event.what != "cwd" or event.seq <= self._place or not event.name:
            return
        self._place = event.seq
        self._folders[event.agent] = Surroundings(cwd=event.name)
        self._keep(event.agent, replace(self.around(event.agent), cwd=event.name, elsewhere=(), doubt=""))
        if event.agent == "main":
            self.base = replace(self.base, cwd=event.name)

    def targets(self, view: View) -> list[Target] | None:
        """Return what a call touches; none when its arguments cannot be read."""
        if self._targets[0] != view.seq:
            self._targets = (view.seq, self._targets_of(view))
        return self._targets[1]

    def has_targets(self, recorded: str) -> bool:
        """Return whether a tool is known to touch something, whatever its arguments."""
        tool = self._run.parts.tools.get(self._run.canonical(recorded))
        return recorded in TOOLS or (tool is not None and bool(tool.targets or tool.effect))

    def is_hidden(self, target: Target) -> bool:
        """Return whether the value of a target is hidden."""
        value = target.value
        return any(isinstance(part, _Veiled) for part in (value if isinstance(value, list) else (value,)))

    def _folder(self, lane: str) -> Surroundings:
        """Return the working directory of a lane as recorded, else that of its parent."""
        found = self._folders.get(lane)
        if found is None:
            named = self._run.lane_named(lane)
            self._folders[lane] = found = Surroundings(cwd=self._run.header.cwd or UNKNOWN)
            if named is not None and (named.cwd or named.parent is not None):
                found = Surroundings(cwd=named.cwd) if named.cwd else self._folder(named.parent or "main")
                self._folders[lane] = found
        return found

    def _keep(self, lane: str, around: Surroundings) -> None:
        self._links = around.links
        self._lanes[lane] = around

    def _after(self, before: Surroundings, view: View, outcome: str) -> Surroundings:
        event = view.event
        assert isinstance(event, ToolCall)
        targets = self.targets(view)
        if not targets or any(map(self.is_hidden, targets)):
            return before
        return before.after(event.tool, {}, outcome, targets=targets)

    def _targets_of(self, view: View) -> list[Target] | None:
        event = view.event
        assert isinstance(event, ToolCall)
        tool: Tool | None = self._run.parts.tools.get(self._run.canonical(event.tool))
        args: Any = {}
        if event.args_raw is not None or bytes(event.args):
            args = view.lookup("args")
            if isinstance(args, Missing):
                return None
        if isinstance(args, Hidden):
            return [Target("command", _Veiled(""), "run", "*")]
        effect: Access | None = tool.effect if tool is not None else None
        bundled = targets_of(event.tool, _veiled(args), effect=effect)
        if tool is None or not tool.targets:
            return bundled
        known = TOOLS.get(event.tool)
        access = effect or (known.effect if known is not None else None) or "both"
        own = [target for kind in tool.targets for target in self._declared(tool, kind, access, view)]
        said = [target.value for target in own]
        rest = [target for target in bundled or () if target.value not in said]
        folder = next((target.value for target in rest if target.kind == "folder" and type(target.value) is str), None)
        return [Target(each.kind, each.value, each.access, each.argument, folder) for each in own] + rest

    def _declared(self, tool: Tool, kind: Any, access: Access, view: View) -> list[Target]:
        """Return the targets that the contract says a call has: those of the first expression that has a value."""
        for expr in tool.targets[kind]:
            value = _veiled(self._run.evidence(expr, view))
            if value is None or isinstance(value, Missing):
                continue
            reach = _ACCESS.get(kind, access)
            values = value if isinstance(value, list) and kind != "command" else [value]
            return [Target(kind, each, reach, expr.text.removeprefix("args.")) for each in values]
        return []


def _veiled(value: Any) -> Any:
    """Return a value with marks in place of what is hidden in it."""
    if isinstance(value, Hidden | CutText):
        return _Veiled("")
    if isinstance(value, dict):
        return {name: _veiled(part) for name, part in value.items()}
    return [_veiled(part) for part in value] if isinstance(value, list) else value


__all__ = ["Whereabouts"]
