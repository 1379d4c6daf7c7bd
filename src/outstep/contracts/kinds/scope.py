"""`scope`: every target of every call lies in the patterns.

docs: docs/kinds/scope.md
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from outstep.contracts.kinds.base import Quiet
from outstep.findings import Touched

if TYPE_CHECKING:
    from outstep.contracts.model import Rule
    from outstep.scope.boundary import Boundary
    from outstep.scope.model import Judgement, Target

CALL, CONTEXT, RESULT = 0, 1, 2
"""What the monitor is told of besides the calls that it judges, by number of its listener."""
_VERBS = {"read": "read", "write": "write", "both": "read and write", "run": "run", "fetch": "fetch", "call": "use"}


class Scope(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="scope", tag_field="kind"):
    """Every target lies inside; a key that is absent does not restrict."""

    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    run: tuple[str, ...] | None = None
    fetch: tuple[str, ...] | None = None
    outside: tuple[str, ...] = ()
    """Which of the keys were written `{except: patterns}`: targets must lie outside them."""


class ScopeMonitor(Quiet):
    """Judges each call at once, at where the calls before it left its lane."""

    def __init__(self, index: int, rule: Rule, run: Any) -> None:
        super().__init__(index, rule, run)
        assert isinstance(rule.kind, Scope)
        self._boundary = boundary_of(rule.kind)

    def seen(self, slot: int, view: Any) -> None:
        """Follow where the lane goes, and what became of a call."""
        if slot == CALL:
            self.run.whereabouts.called(view)
        elif slot == CONTEXT:
            self.run.whereabouts.told(view.event)
        else:
            self.run.whereabouts.answered(view)

    def on(self, view: Any) -> None:
        """Judge a call whose conditions hold."""
        whereabouts = self.run.whereabouts
        targets = whereabouts.targets(view)
        if targets is None:
            touched = Touched(target=view.event.tool)
            is_sure = whereabouts.has_targets(view.event.tool)
            self._settle(view, "arguments-unreadable", "its arguments cannot be read", touched, is_sure=is_sure)
            return
        veiled = [target for target in targets if whereabouts.is_hidden(target)]
        hidden = [target for target in veiled if self._restricts(target)]
        open_ = [target for target in targets if target not in veiled]
        around = whereabouts.around(view.lane.id, is_shell=any(target.kind == "command" for target in targets))
        judged = self._boundary.judge(open_, around, whereabouts.base)
        failed = _once(judgement for judgement in judged if judgement.verdict != "contained")
        for judgement in failed:
            self._outside(view, judgement)
        for target in hidden:
            self._hidden(view, target)
        if not failed and not hidden:
            self.run.settle(self.index, "satisfied", view)

    def _outside(self, view: Any, judgement: Judgement) -> None:
        touched = Touched(
            kind=judgement.kind,
            access=judgement.access,
            target=judgement.target,
            argument=judgement.argument,
            rule=judgement.rule,
            differs=judgement.differs,
            fix=judgement.fix,
            because=judgement.reason,
        )
        verb = _VERBS[judgement.access]
        if judgement.verdict == "undecided":
            self._settle(view, judgement.reason, judgement.sentence, touched)
            return
        sentence = f"a call may not {verb} `{judgement.target}`: {judgement.sentence}"
        self.run.settle(self.index, "violated", view, sentence, key=_key(touched), touched=touched)

    def _settle(self, view: Any, because: str, sentence: str, touched: Touched, *, is_sure: bool = True) -> None:
        """Settle what cannot be decided: a violation of its own reason, or inconclusive by `missing`.

        `is_sure`: the call does touch something.
        """
        self.run.settle(
            self.index,
            "inconclusive" if self.rule.missing == "inconclusive" or not is_sure else "violated",
            view,
            f"it cannot be told whether `{touched.target}` is inside: {sentence}",
            reason="undecided-target",
            key=_key(touched),
            touched=replace(touched, because=because),
        )

    def _hidden(self, view: Any, target: Target) -> None:
        sentence = f"`args.{target.argument}` is hidden, and names what the call touches"
        touched = Touched(kind=target.kind, access=target.access, argument=target.argument, because="hidden")
        self.run.settle(
            self.index,
            "inconclusive",
            view,
            sentence,
            reason="hidden-evidence",
            key=target.argument,
            missing=(sentence,),
            touched=touched,
        )

    def _restricts(self, target: Target) -> bool:
        """Return whether the rule may have something to say of a target that is hidden."""
        scope = self.rule.kind
        assert isinstance(scope, Scope)
        if target.kind in ("path", "folder"):
            return scope.read is not None or scope.write is not None
        return scope.fetch is not None if target.kind in ("url", "host") else target.kind == "command"


def boundary_of(scope: Scope) -> Boundary:
    """Return what holds targets against the patterns of a rule."""
    from outstep.scope.boundary import Boundary  # few contracts ask for it

    return Boundary(read=scope.read, write=scope.write, run=scope.run, fetch=scope.fetch, outside=scope.outside)


def _once(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements, of several on one target in one call the first."""
    found: dict[tuple[str, str, str], Judgement] = {}
    for judgement in judgements:
        found.setdefault((judgement.access, judgement.target, judgement.reason), judgement)
    return list(found.values())


def _key(touched: Touched) -> str:
    return f"{_VERBS[touched.access]} {touched.target}" if touched.access else touched.target
