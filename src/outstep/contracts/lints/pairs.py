"""`contradiction`: two rules that no run with such an event can both satisfy."""

from __future__ import annotations

from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Needs, Never, Require, Then
from outstep.contracts.lints.asking import contexts
from outstep.contracts.lints.base import Subject
from outstep.contracts.lints.picking import picks_all_of
from outstep.contracts.model import Rule
from outstep.contracts.useless import lets_of, number
from outstep.expr import logic
from outstep.expr.logic import NO_LETS, Lets, Ways

MOST_RULES = 1000
"""Each is held against each other; a contract with more rules is let be from there on."""


def warn(subject: Subject) -> None:
    """Warn of each pair once, at the later rule."""
    # A rule that only observes may ask what another one denies: it counts.
    rules = [rule for rule in subject.rules() if not (rule.after or rule.until) and rule.level != "observe"]
    rules = rules[:MOST_RULES]
    _warn_of_requires([rule for rule in rules if isinstance(rule.kind, Require)], subject)
    _warn_of_counts(rules, subject)
    _warn_of_bans(rules, subject)
    _warn_of_order(rules, subject)


def _tell(rule: Rule, other: Rule, sentence: str, subject: Subject) -> None:
    subject.tell(
        "contradiction", f"`{rule.id}` and `{other.id}`: {sentence}", rule.spot, 1, "one of the two is not meant"
    )


def _warn_of_requires(rules: list[Rule], subject: Subject) -> None:
    by_place: dict[object, list[tuple[Rule, list[Ways]]]] = {}
    for rule in rules:
        if rule.each is None and rule.about is None and (found := _ways(rule)) is not None:
            lets = lets_of(rule)
            when = tuple(sorted(logic.shape(expr.node, lets) for expr in rule.when))
            by_place.setdefault((_events(rule, lets), when), []).append((rule, found))
    for group in by_place.values():
        for place, (rule, found) in enumerate(group):
            for earlier, others in group[:place]:
                if all(logic.exclude(one, other) for one, other in zip(others, found, strict=True)):
                    texts = " or ".join(f"`{selector.text}`" for selector in rule.triggers)
                    _tell(rule, earlier, f"no {texts} satisfies both", subject)
                    break


def _ways(rule: Rule) -> list[Ways] | None:
    """Return in which ways a rule may be satisfied, for each selector; none where it cannot be told, or never is."""
    wanted = [expr.node for expr in rule.kind.all] if isinstance(rule.kind, Require) else []
    lets = lets_of(rule)
    found = [logic.ways([*context, *wanted], lets, known) for context, known in contexts(rule)]
    told = [one for one in found if one]
    return told if told and len(told) == len(found) else None


def _events(rule: Rule, lets: Lets = NO_LETS) -> tuple[object, ...]:
    """Return which events a rule looks at, so that rules for the same ones can be told."""
    return tuple(
        (one.what, one.outcome, one.names, one.by, None if one.where is None else logic.shape(one.where.node, lets))
        for one in rule.triggers
    )


def _warn_of_counts(rules: list[Rule], subject: Subject) -> None:
    """Warn of a lower bound above an upper one for the same events."""
    counts = [rule for rule in rules if isinstance(rule.kind, AtMost | AtLeast | Exactly) and _is_plain_count(rule)]
    for place, rule in enumerate(counts):
        for earlier in counts[:place]:
            if _events(rule) != _events(earlier):
                continue
            least = max(_least(rule), _least(earlier))
            most = min((bound for bound in (_most(rule), _most(earlier)) if bound is not None), default=None)
            if most is not None and least > most:
                _tell(rule, earlier, f"one asks for {least:g} or more, the other allows {most:g}", subject)


def _is_plain_count(rule: Rule) -> bool:
    is_bare = not (rule.when or rule.per or rule.per_turn or rule.since or rule.each or rule.in_a_row)
    return is_bare and rule.total is None and rule.counting == "attempts"


def _least(rule: Rule) -> float:
    bound = number(rule.kind.bound) if isinstance(rule.kind, AtLeast | Exactly) else None
    return float(bound or 0)


def _most(rule: Rule) -> float | None:
    bound = number(rule.kind.bound) if isinstance(rule.kind, AtMost | Exactly) else None
    return None if bound is None else float(bound)


def _warn_of_bans(rules: list[Rule], subject: Subject) -> None:
    """Warn where a rule asks for what another one forbids."""
    bans = [rule for rule in rules if not rule.when and _is_ban(rule)]
    for rule in rules:
        if isinstance(rule.kind, Needs | Then):
            asked, told = rule.kind.any, "asks for"
        elif isinstance(rule.kind, AtLeast | Exactly) and _is_plain_count(rule) and _least(rule) > 0:
            asked, told = rule.triggers, "asks for"
        else:
            continue
        for ban in bans:
            is_told = isinstance(ban.kind, AtMost) and _events(ban) == _events(rule)
            if (
                ban is not rule
                and not is_told
                and asked
                and all(any(picks_all_of(b, one) for b in ban.triggers) for one in asked)
            ):
                texts = " or ".join(f"`{selector.text}`" for selector in asked)
                _tell(rule, ban, f"the one {told} {texts}, which the other forbids", subject)
                break


def _is_ban(rule: Rule) -> bool:
    if isinstance(rule.kind, Never):
        return True
    return isinstance(rule.kind, AtMost) and _is_plain_count(rule) and _most(rule) == 0


def _warn_of_order(rules: list[Rule], subject: Subject) -> None:
    """Warn of events each of which has to come before the other."""
    ordered = [
        rule
        for rule in rules
        if isinstance(rule.kind, Needs) and not (rule.when or rule.each or rule.about) and len(rule.triggers) == 1
    ]
    for place, rule in enumerate(ordered):
        for earlier in ordered[:place]:
            if _waits_for(rule, earlier) and _waits_for(earlier, rule):
                texts = f"`{earlier.triggers[0].text}` and `{rule.triggers[0].text}`"
                _tell(rule, earlier, f"{texts} each need the other first, so neither can come", subject)


def _waits_for(rule: Rule, other: Rule) -> bool:
    """Return whether everything that a rule needs is an event at which the other rule is asked."""
    assert isinstance(rule.kind, Needs)
    return bool(rule.kind.any) and all(picks_all_of(other.triggers[0], one) for one in rule.kind.any)
