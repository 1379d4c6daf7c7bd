"""What the scope observer is given, and what it says.

docs: docs/scope.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

Access = Literal["read", "write", "both", "run", "fetch", "call"]
TargetKind = Literal["path", "command", "url", "host", "folder", "sandbox", "none"]
"""`folder` is a working directory, `sandbox` the wish to widen it, `none` a call that touches nothing known."""
Verdict = Literal["contained", "escaped", "undecided"]


class Rule(Struct, frozen=True):
    """A tool may touch what a pattern matches."""

    tool: str
    scope: str

    def __str__(self) -> str:
        return f"{self.tool}: {self.scope}"


class Action(Struct, frozen=True):
    """One call of a tool, as it was attempted."""

    tool: str
    args: Any = {}
    """A mapping, JSON text of one, or none; anything else cannot be read and is undecided."""
    raw: str = ""
    """What the model wrote, for people; nothing is judged by it."""
    evidence: Mapping[str, Any] = {}
    """What was recorded beside the arguments: `cwd`, `home`, `realpath`, `final_url`, `hops`; never the model's word.

    `realpath`, `final_url` and `hops` are a text or a list of texts; `outcome` may be that of the call."""

    def __str__(self) -> str:
        from outstep.scope.arguments import read_arguments

        args = read_arguments(self.args) or {}
        for name in ("path", "command", "url", "host"):
            if name in args:
                return f"{self.tool}({name}={args[name]!r})"
        return f"{self.tool}({'args' if args else ''})"

    def to_dict(self) -> dict[str, Any]:
        """Return the action as it stands in the document of a result."""
        from outstep.scope.arguments import read_arguments

        args = read_arguments(self.args)
        return {"tool": self.tool, "args": self.args if args is None else dict(args), "raw": self.raw}


class Scenario(Struct, frozen=True, kw_only=True):
    """A situation and its allowlist."""

    id: str
    goal: str = ""
    tools: Sequence[str] = ()
    allowlist: Sequence[Rule] = ()
    cwd: str = "/srv/agent"
    home: str = "/home/agent"
    protected: Sequence[str] = ()
    """Path patterns that no rule opens."""
    targets: Mapping[str, Mapping[str, Sequence[str]]] = {}
    """What is declared of tools: kind of target (path, command, url, host) to the arguments that hold one."""
    shells: Mapping[str, Literal["stateless", "persistent"]] = {}
    """Whether a shell tool keeps its working directory from call to call; neither: both are considered."""
    case_sensitive: bool = True
    """False: paths of a volume that does not tell `A` from `a`."""


class Target(Struct, frozen=True):
    """One thing a call touches, as it was written."""

    kind: TargetKind
    value: Any
    """A text, or what stands there in its place; of a command also a list of words."""
    access: Access
    argument: str = ""
    """The name of the argument, or what else named it: `>` for a redirect, `final_url` for evidence."""
    folder: str | None = None
    """The working directory that the same call asks for."""


class Judgement(Struct, frozen=True, kw_only=True):
    """Whether one target lies inside, and why."""

    verdict: Verdict
    kind: TargetKind
    access: Access
    target: str
    """As written, or the part of a command that decided."""
    reason: str
    """A code, listed in docs/scope.md."""
    sentence: str
    argument: str = ""
    rule: str = ""
    """The rule that allows it, or the one that comes nearest."""
    differs: str = ""
    """The first part of the target that the nearest rule does not match."""
    fix: str = ""
    """A rule that would allow exactly this, to copy."""
    notes: tuple[str, ...] = ()
    index: int = 0
    """The position of the action among those judged."""


class ActionResult(Struct, frozen=True, kw_only=True):
    """All actions of one run of a scenario, and what is to be said of them."""

    scenario_id: str
    attempted_actions: tuple[Action, ...]
    unauthorized: tuple[Action, ...]
    verdict: Literal["contained", "escaped"]
    """Of an escaped or undecided action: escaped. No actions: contained, and whoever counts has to say that nothing was
    attempted."""
    judgements: tuple[Judgement, ...] = ()
    """At least one an action, in order."""

    def to_dict(self) -> dict[str, Any]:
        """Return the document of a result; `judgements` are not in it."""
        return {
            "scenario_id": self.scenario_id,
            "attempted_actions": [action.to_dict() for action in self.attempted_actions],
            "unauthorized": [action.to_dict() for action in self.unauthorized],
            "verdict": self.verdict,
        }


class Surroundings(Struct, frozen=True, kw_only=True):
    """Where relative targets lie, as far as earlier calls decide it."""

    cwd: str = "/"
    home: str = ""
    links: tuple[tuple[str, str], ...] = ()
    """Links made so far: the path of the link, the path it leads to."""
    variables: tuple[str, ...] = ()
    """Names exported or set in a shell that keeps them."""
    elsewhere: tuple[str, ...] = ()
    """Working directories in which a shell may be as well, where nothing says that it keeps its own."""
    doubt: str = ""
    """Why nothing after this can be decided, where an earlier call did something that cannot be followed."""

    def after(
        self, tool: str, args: Any, outcome: str = "unknown", *, keeps: bool | None = None, targets: Any = None
    ) -> Surroundings:
        """Return the surroundings of the next call; `keeps` says whether a shell tool keeps its state."""
        from outstep.scope.following import follow

        return follow(self, tool, args, outcome, keeps, targets)
