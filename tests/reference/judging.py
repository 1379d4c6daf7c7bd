"""The verdict of every rule of a contract on a trace (SEMANTICS sections 3, 5 and 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Integrity, Needs, Never, Python, Require, Scope, Then
from outstep.contracts.model import Contract, Rule
from outstep.contracts.selectors import Expr, Selector
from outstep.events import Event, Header, RunEnd
from outstep.expr.nodes import names_of
from outstep.expr.values import Missing

from .counts import counts
from .integrity import integrity
from .kinds import has_opened, judged_cases, never
from .known import Trace
from .python import Functions, python
from .scene import Scene
from .scope import scope
from .verdicts import MISSING_EVIDENCE, NOT_RECORDED, UNFINISHED, Instance, RuleOutcome, outcome_of
from .views import View
from .windows import window_of


def evaluate(
    contract: Contract, header: Header, events: Sequence[Event], functions: Functions | None = None
) -> dict[str, RuleOutcome]:
    """Return what every rule of a contract comes to on a complete trace; `functions` are those of `python`, by rule."""
    scenes = {
        judge: Scene(contract, Trace(header, events, in_record=judge == "record"), functions=functions or {})
        for judge in ("run", "record")
    }
    return {rule.id: judged(scenes[rule.judge], rule) for rule in contract.rules}


def judged(scene: Scene, rule: Rule) -> RuleOutcome:
    """Return what one rule comes to."""
    outcome = _judged(scene, rule)
    reads_unrecorded = any(scene.is_unrecorded(selector) for selector in _selectors_of_facts(scene, rule))
    if outcome.verdict in ("satisfied", "vacuous") and reads_unrecorded and scene.applies() is True:
        # Would it still hold if what nothing records had happened all the same?
        doubtful = _judged(Scene(scene.contract, scene.trace, doubts_unrecorded=True), rule)
        if doubtful.verdict != outcome.verdict:
            return RuleOutcome("inconclusive", NOT_RECORDED, outcome.instances)
    return outcome


def _judged(scene: Scene, rule: Rule) -> RuleOutcome:
    applies = scene.applies()
    if isinstance(applies, Missing):
        return RuleOutcome("inconclusive", MISSING_EVIDENCE)
    if applies is False:
        return RuleOutcome("vacuous")
    if isinstance(rule.kind, Integrity):
        # These speak of the whole record: where there is nothing to ask of, nothing is wrong.
        return outcome_of([Instance(None, "", "satisfied"), *integrity(scene, rule.id)])
    instances = [_placed(scene, instance) for instance in _instances(scene, rule)]
    return outcome_of(
        instances, not_recorded=is_not_recorded(scene, rule), hidden_trigger=may_hide_trigger(scene, rule)
    )


def _instances(scene: Scene, rule: Rule) -> list[Instance]:
    if isinstance(rule.kind, Never):
        return never(scene, rule)
    if isinstance(rule.kind, AtMost | AtLeast | Exactly):
        return counts(scene, rule)
    if isinstance(rule.kind, Python):
        return python(scene, rule, scene.functions)
    if isinstance(rule.kind, Scope):
        return scope(scene, rule)
    if not isinstance(rule.kind, Require | Needs | Then):
        raise NotImplementedError(
            f"the reference does not judge `{rule.kind.__struct_config__.tag}`: it reads no sentence"
        )
    found = judged_cases(scene, rule)
    if _asks_final(rule) and rule.judge == "run" and scene.trace.end == "aborted" and not found:
        return [Instance(None, "", "inconclusive", UNFINISHED)]
    return found


def _asks_final(rule: Rule) -> bool:
    return any(selector.what == "final message" for selector in rule.triggers)


def _placed(scene: Scene, instance: Instance) -> Instance:
    """Return an instance whose place is the run where its event is an end that was never written."""
    if instance.seq is not None and instance.seq > scene.trace.last:
        return Instance(None, instance.key, instance.verdict, instance.reason)
    return instance


def may_hide_trigger(scene: Scene, rule: Rule) -> bool:
    """Return whether a gap may hide an instance."""
    plain = [selector for selector in rule.triggers if selector.what != "final message"]
    windows = [*rule.after, *rule.until]
    if isinstance(rule.kind, AtLeast) and not (rule.per or rule.per_turn):
        return bool(scene.holes_that_hide(windows))
    if isinstance(rule.kind, AtLeast | Exactly):
        return bool(scene.holes_that_hide([*plain, *windows]))
    if rule.until and window_of(scene, rule, View(event=RunEnd(seq=scene.trace.last + 1))).inside is False:
        # Whatever is hidden, the end comes last: no completion has one inside the window.
        plain = [selector for selector in plain if selector.what != "end"]
    if scene.holes_that_hide(plain):
        return True
    if isinstance(rule.kind, Never) and has_opened(scene, rule) is not True:
        return bool(scene.holes_that_hide(rule.after))
    return _asks_final(rule) and bool(scene.final_holes())


# What the format cannot hold


def is_not_recorded(scene: Scene, rule: Rule) -> bool:
    """Return whether a rule would hold, or be vacuous, for want of events that nothing records."""
    kind = rule.kind
    is_lower = isinstance(kind, AtLeast | Exactly)
    selectors = [*rule.after]
    if not isinstance(kind, AtLeast):
        selectors += rule.triggers
    if is_lower:
        selectors += rule.until
    if is_lower or isinstance(kind, Needs):
        selectors += rule.since
    return any(scene.is_unrecorded(selector) for selector in selectors)


def _selectors_of_facts(scene: Scene, rule: Rule) -> list[Selector]:
    """Return the selectors of every fact that the rule reads, itself or through another fact."""
    found: list[Selector] = []
    todo = _names(_exprs_of(rule))
    if rule.about is not None:
        todo.append(rule.about)
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen or name not in scene.facts.names:
            continue
        seen.add(name)
        fact = scene.facts.fact(name)
        exprs: list[Expr | None] = []
        for source in fact.sources:
            found += source.selectors
            exprs += [source.each, source.key, source.value, *(selector.where for selector in source.selectors)]
        for forget in fact.forget:
            found += forget.selectors
            exprs += [forget.key, *(selector.where for selector in forget.selectors)]
        todo += _names(exprs)
    return found


def _exprs_of(rule: Rule) -> list[Expr | None]:
    kind = rule.kind
    found: list[Expr | None] = [*rule.when, *(expr for _, expr in rule.let), rule.each, *rule.per, rule.total]
    selectors = [*rule.triggers, *rule.after, *rule.until, *rule.since]
    if isinstance(kind, Require):
        found += kind.all
    elif isinstance(kind, Needs | Then):
        selectors += kind.any
    elif isinstance(kind, AtMost | AtLeast | Exactly):
        found.append(kind.bound)
    return [*found, *(selector.where for selector in selectors)]


def _names(exprs: Iterable[Expr | None]) -> list[str]:
    return [name for expr in exprs if expr is not None for name in names_of(expr.node)]
