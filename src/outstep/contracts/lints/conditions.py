"""Conditions that exclude each other, or follow from each other: rules that always fail, never fail, never apply."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.contracts.contents import fact_selectors
from outstep.contracts.kinds import Needs, Require, Then
from outstep.contracts.lints.asking import contexts, known_of
from outstep.contracts.lints.base import Subject
from outstep.contracts.lints.picking import picks_all_of
from outstep.contracts.model import Rule
from outstep.contracts.selectors import Expr, Selector
from outstep.contracts.useless import lets_of
from outstep.expr import logic
from outstep.expr.logic import NO_LETS, Lets
from outstep.expr.nodes import And, Unary


def warn(subject: Subject) -> None:
    """Warn of rules and facts."""
    for rule in subject.rules():
        lets = lets_of(rule)
        if isinstance(rule.kind, Require):
            _warn_of_require(rule, rule.kind, lets, subject)
        if isinstance(rule.kind, Needs | Then):
            _warn_of_evidence(rule, rule.kind, lets, subject)
        for selector in (*rule.after, *rule.until, *rule.since):
            _warn_of_selector(selector, lets, subject)
        for selector in rule.triggers:
            _warn_of_trigger(rule, selector, lets, subject)
    for fact in subject.contract.facts:
        for selector in fact_selectors(fact):
            _warn_of_selector(selector, NO_LETS, subject)


def _warn_of_require(rule: Rule, kind: Require, lets: Lets, subject: Subject) -> None:
    wanted = [expr.node for expr in kind.all]
    if not wanted or not rule.triggers or all(logic.impossible(nodes, lets, known) for nodes, known in contexts(rule)):
        return
    if all(logic.impossible([*context, *wanted], lets, known) for context, known in contexts(rule)):
        first = kind.all[0]
        if len(kind.all) == 1 and logic.surely(first.node, lets) is False:
            sentence, help = f"`{rule.id}`: `require` is always false", "write `never` for what must not happen"
        else:
            sentence = f"`{rule.id}` fails at every event that it is asked of: {_exclusion(rule, kind.all, lets)}"
            help = "one of them says what is not meant"
        subject.tell_of("always-fails", sentence, first, first.node, help)
        return
    for expr in kind.all:
        denied = Unary(0, 0, "!", expr.node)
        if all(logic.impossible([*context, denied], lets, known) for context, known in contexts(rule)):
            alone = logic.impossible([denied], lets)
            why = "it is true of every value" if alone else "it follows from when the rule applies"
            sentence = f"`{expr.text}` fails only where a value is missing: {why}"
            help = "say what must not be, or ask with `has(…)` whether the value is there"
            subject.tell_of("never-fails", sentence, expr, expr.node, help)


def _exclusion(rule: Rule, wanted: Sequence[Expr], lets: Lets) -> str:
    """Return which two conditions exclude each other, where two do."""
    wheres = [selector.where for selector in rule.triggers if selector.where is not None]
    parts = [
        (expr.text[part.at : part.end], part)
        for expr in (*wheres, *rule.when, *wanted)
        for part in (expr.node.terms if isinstance(expr.node, And) else (expr.node,))
    ]
    for place, (text, part) in enumerate(parts):
        if logic.impossible([part], lets):
            return f"`{text}` is never true"
        for other, second in parts[place + 1 :]:
            if logic.impossible([part, second], lets):
                return f"`{text}` and `{other}` exclude each other"
    return "its conditions exclude each other"


def _warn_of_evidence(rule: Rule, kind: Needs | Then, lets: Lets, subject: Subject) -> None:
    word = "needs" if isinstance(kind, Needs) else "then"
    for selector in kind.any:
        _warn_of_selector(selector, lets, subject)
    is_bare = not (rule.when or rule.each or rule.about or rule.after or rule.until)
    if (
        is_bare
        and kind.any
        and all(any(picks_all_of(t, one, with_results=word == "needs") for t in rule.triggers) for one in kind.any)
    ):
        which, other = ("first", "earlier") if word == "needs" else ("last", "later")
        texts = " or ".join(f"`{selector.text}`" for selector in rule.triggers)
        sentence = f"`{rule.id}` fails in every run with {texts}: the {which} one has no {other} one"
        selector = kind.any[0]
        subject.tell(
            "always-fails", sentence, selector.spot, len(selector.text), f"let `{word}` ask for something else"
        )


def _warn_of_selector(selector: Selector, lets: Lets, subject: Subject) -> None:
    where = selector.where
    if where is not None and logic.impossible([where.node], lets, known_of(selector)):
        sentence = f"`{selector.text}` picks nothing: its `where` is never true"
        subject.tell("never-picks", sentence, selector.spot, len(selector.text), "one of its conditions is not meant")


def _warn_of_trigger(rule: Rule, selector: Selector, lets: Lets, subject: Subject) -> None:
    """Warn of one of several selectors that picks nothing, and of conditions that its outcome excludes."""
    conditions = [*([selector.where.node] if selector.where is not None else []), *(expr.node for expr in rule.when)]
    if conditions and logic.impossible(conditions, lets, known_of(selector)):
        sentence = f"`{selector.text}` and the conditions of `{rule.id}` exclude each other: it never applies"
        subject.tell("never-picks", sentence, selector.spot, len(selector.text), "one of them is not meant")
