"""From one set of runs to another: which cases and rules stand otherwise (docs/compare.md#transitions)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from outstep.compare.results import Outcome, Result, Results, has_several_models, worst
from outstep.compare.statistics import fall
from outstep.compare.versions import Difference, differences, short
from outstep.findings import Verdict

Change = Literal[
    "pass→fail",
    "fail for a new reason",
    "passes less often",
    "new finding",
    "became inconclusive",
    "gone",
    "new, fails",
    "became vacuous",
    "new",
    "decided",
    "fail→pass",
    "still fails",
    "same",
    "error",
]
"""What became of a case or a rule; those that are worse come first."""

WORSE: frozenset[str] = frozenset(
    {
        "pass→fail",
        "fail for a new reason",
        "passes less often",
        "new finding",
        "became inconclusive",
        "gone",
        "new, fails",
    }
)


class Transition(Struct, frozen=True, kw_only=True):
    """One case on both sides."""

    case: str
    model: str = ""
    """Where a side has several models."""
    change: Change
    before: Outcome | None = None
    after: Outcome | None = None
    passed: tuple[int, int] = (0, 0)
    """Passes and runs before; both sides are `passed` and `passes`."""
    passes: tuple[int, int] = (0, 0)
    new: tuple[str, ...] = ()
    """Rules that stand against it now, and did not before."""
    gone: tuple[str, ...] = ()
    """Rules that stood against it, and do not any more."""
    vacuous: tuple[str, ...] = ()
    """Rules that were exercised before, and are not any more."""

    @property
    def is_worse(self) -> bool:
        """Whether this stands worse than before."""
        return self.change in WORSE


class Comparison(Struct, frozen=True, kw_only=True):
    """Two sets of runs."""

    before: str
    after: str
    transitions: tuple[Transition, ...]
    obstacles: tuple[str, ...]
    """Why it is no comparison of like with like; then nothing green is said."""
    notes: tuple[str, ...]
    differs: tuple[Difference, ...] = ()
    """Parts of what acted that are not the same on both sides."""
    passes_less: bool = False
    """Whether, over all cases, runs pass less often than before, beyond chance."""

    @property
    def exit_code(self) -> int:
        """0 nothing worse, 1 something is, 2 not comparable."""
        if self.obstacles:
            return 2
        return int(self.passes_less or any(one.is_worse for one in self.transitions))


def compare(before: Results, after: Results, *, passes_less: bool = False) -> Comparison:
    """Return what became of each case; `passes_less` is what a test of all runs together says."""
    with_model = has_several_models(before, after)
    one, other = _by_case(before, with_model=with_model), _by_case(after, with_model=with_model)
    keys = list(dict.fromkeys([*one, *other]))
    transitions = [_transition(key, one.get(key, []), other.get(key, [])) for key in keys]
    unchanged = [at for at, told in enumerate(transitions) if told.change in ("same", "still fails")]
    pairs = [_discordant(one[keys[at]], other[keys[at]]) for at in unchanged]
    for at, is_fall in zip(unchanged, fall(pairs), strict=True):
        if is_fall:
            transitions[at] = replace(transitions[at], change="passes less often")
    differs = tuple(differences(before, after))
    return Comparison(
        before=before.name,
        after=after.name,
        differs=differs,
        transitions=tuple(transitions),
        obstacles=tuple(_obstacles(before, after, transitions, bool(one.keys() & other.keys()))),
        notes=(*_versions(differs), *_notes(before, after)),
        passes_less=passes_less,
    )


def _by_case(side: Results, *, with_model: bool) -> dict[tuple[str, str], list[Result]]:
    found: dict[tuple[str, str], list[Result]] = {}
    for run in side.runs:
        found.setdefault((run.case, run.model if with_model else ""), []).append(run)
    return found


def _transition(key: tuple[str, str], before: Sequence[Result], after: Sequence[Result]) -> Transition:
    was = worst([run.outcome for run in before]) if before else None
    now = worst([run.outcome for run in after]) if after else None
    stood = dict.fromkeys(rule for run in before for rule in run.findings)
    stand = dict.fromkeys(rule for run in after for rule in run.findings)
    new = tuple(rule for rule in stand if rule not in stood)
    return Transition(
        case=key[0],
        model=key[1],
        change=_change(was, now, has_new=bool(new)),
        before=was,
        after=now,
        passed=_passes(before),
        passes=_passes(after),
        new=new,
        gone=tuple(rule for rule in stood if rule not in stand),
        vacuous=tuple(_became_vacuous(before, after)),
    )


def _change(was: Outcome | None, now: Outcome | None, *, has_new: bool) -> Change:
    if was in ("error", "not_run") or now in ("error", "not_run"):
        return "error"
    if was is None:
        return "new" if now == "pass" else "new, fails"
    if now is None:
        return "gone"
    if now == "fail":
        return "pass→fail" if was != "fail" else "fail for a new reason" if has_new else "still fails"
    if now == "inconclusive" and was != "inconclusive":
        return "became inconclusive"
    if now == was:
        return "new finding" if has_new else "same"
    return {"fail": "fail→pass", "inconclusive": "decided"}.get(was, "same")  # type: ignore[return-value]


def _discordant(before: Sequence[Result], after: Sequence[Result]) -> tuple[int, int]:
    """Return how many epochs passed only before, and only after."""
    was = {run.epoch: run.outcome == "pass" for run in before}
    both = [(was[run.epoch], run.outcome == "pass") for run in after if run.epoch in was]
    return sum(a and not b for a, b in both), sum(b and not a for a, b in both)


def _passes(runs: Sequence[Result]) -> tuple[int, int]:
    return sum(run.outcome == "pass" for run in runs), len(runs)


def _became_vacuous(before: Sequence[Result], after: Sequence[Result]) -> Iterator[str]:
    if not before or not after:
        return
    rules = dict.fromkeys(rule for run in after for rule, verdict in run.rules.items() if verdict == "vacuous")
    for rule in rules:
        if _is_vacuous(rule, after) and not _is_vacuous(rule, before):
            yield rule


def _is_vacuous(rule: str, runs: Sequence[Result]) -> bool:
    verdicts: list[Verdict] = [run.rules.get(rule, "satisfied") for run in runs]
    return all(verdict == "vacuous" for verdict in verdicts)


def _obstacles(before: Results, after: Results, transitions: Sequence[Transition], has_common: bool) -> Iterator[str]:
    if not has_common:
        yield "the two sides have no case in common"
    broken = [one for one in transitions if one.change == "error"]
    if broken:
        named = ", ".join(f"`{one.case}`" for one in broken[:5])
        named += f" and {len(broken) - 5} more" if len(broken) > 5 else ""
        cases = "1 case" if len(broken) == 1 else f"{len(broken)} cases"
        yield f"{cases} did not run or could not be checked: {named}"
    if before.contracts and after.contracts and dict(before.contracts).keys() != dict(after.contracts).keys():
        yield "other contracts judged the two sides"


def _versions(differs: Sequence[Difference]) -> Iterator[str]:
    if len(differs) == 1:
        part = differs[0]
        was, now = (", ".join(map(short, values)) for values in (part.before, part.after))
        yield f"of what acted, only the {part.part} is recorded to differ: {was} → {now}"
    elif differs:
        parts = ", ".join(part.part for part in differs)
        yield f"several parts of what acted differ, and which of them made a difference cannot be told: {parts}"


def _notes(before: Results, after: Results) -> Iterator[str]:
    was, now = dict(before.contracts), dict(after.contracts)
    for contract, digest in now.items():
        if contract in was and was[contract] != digest:
            yield f"the contract `{contract}` has changed in between"
    lacking = [rule for rule in before.known_rules if rule not in after.known_rules]
    if lacking and after.known_rules:
        yield f"rules that judged before and do not any more: {', '.join(lacking)}"
