"""Verdicts of instances and of rules (SEMANTICS section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from outstep.findings import Verdict

HIDDEN_EVIDENCE = "hidden-evidence"
HIDDEN_TRIGGER = "hidden-trigger"
MISSING_EVIDENCE = "missing-evidence"
UNDECIDED_CONDITION = "undecided-condition"
NOT_RECORDED = "not-recorded"
UNFINISHED = "unfinished-run"


class Instance(Struct, frozen=True, order=True):
    """One instance of a rule, named as a `Ruling` names it."""

    seq: int | None
    """Place: `seq` of the event of `for`; none when the run, or a key, is the place."""
    key: str
    verdict: Verdict
    reason: str = ""


class RuleOutcome(Struct, frozen=True):
    """What a rule came to on one trace."""

    verdict: Verdict
    reason: str = ""
    """Of a rule that no single instance makes inconclusive."""
    instances: tuple[Instance, ...] = ()

    @property
    def findings(self) -> tuple[tuple[int, str, str], ...]:
        """The violated and inconclusive instances as `(seq, key, verdict)`, sorted; -1 for the run."""
        found = [
            (-1 if instance.seq is None else instance.seq, instance.key, instance.verdict)
            for instance in self.instances
            if instance.verdict in ("violated", "inconclusive")
        ]
        return tuple(sorted(found))


def outcome_of(
    instances: Sequence[Instance], *, not_recorded: bool = False, hidden_trigger: bool = False
) -> RuleOutcome:
    """Return the verdict of a rule from its instances, in the order of SEMANTICS section 5."""
    verdicts = [instance.verdict for instance in instances]
    if "violated" in verdicts:
        return RuleOutcome("violated", "", tuple(instances))
    if "inconclusive" in verdicts:
        reasons = [instance.reason for instance in instances if instance.verdict == "inconclusive"]
        return RuleOutcome("inconclusive", reasons[0], tuple(instances))
    if not_recorded:
        return RuleOutcome("inconclusive", NOT_RECORDED, tuple(instances))
    if hidden_trigger:
        return RuleOutcome("inconclusive", HIDDEN_TRIGGER, tuple(instances))
    if "satisfied" in verdicts:
        return RuleOutcome("satisfied", "", tuple(instances))
    return RuleOutcome("vacuous", "", tuple(instances))


def first_of(instances: Iterable[Instance], verdict: str) -> Instance | None:
    """Return the first instance with a verdict."""
    return next((instance for instance in instances if instance.verdict == verdict), None)
