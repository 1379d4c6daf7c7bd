"""Instances settle here: they are counted, and what does not hold becomes a ruling (SEMANTICS section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds import AtLeast, Exactly, Integrity, Never
from outstep.contracts.model import Rule, Text
from outstep.contracts.selectors import Expr, Selector
from outstep.engine.plan import asked
from outstep.engine.views import View
from outstep.events import RunEnd
from outstep.expr.values import Hidden, Missing, show
from outstep.findings import Ruling, Touched, Verdict, Witness

if TYPE_CHECKING:
    from outstep.engine.run import Run

MOST_ALIKE = 1000
"""Combinations of counts whose verdicts are kept in mind."""

SATISFIED, VIOLATED, INCONCLUSIVE = 0, 1, 2
_SLOT: dict[Verdict, int] = {"satisfied": SATISFIED, "violated": VIOLATED, "inconclusive": INCONCLUSIVE}


class Settled:
    """One settled instance, kept back until it is sure that it counts."""

    __slots__ = ("ruling", "verdict")

    def __init__(self, verdict: Verdict, ruling: Ruling | None) -> None:
        self.verdict = verdict
        self.ruling = ruling


class Rulings:
    """The part of a run that settles instances and gives each rule its verdict."""

    def __init__(self) -> None:
        run = self._run()
        self._integrity = {
            rule.id: index for index, rule in enumerate(run.contract.rules) if isinstance(rule.kind, Integrity)
        }
        self._no_tallies = [0] * (3 * len(run.contract.rules))
        self.restart_rulings()

    def restart_rulings(self) -> None:
        """Forget everything, for the next trace."""
        self.tallies: list[int] = self._no_tallies.copy()
        """For each rule in turn: satisfied, violated and inconclusive instances."""
        self.verdicts: tuple[Verdict, ...] = ()
        """By rule, once the trace is closed."""
        self.costly: list[Expr] = []
        """Expressions that went over their step limit."""
        self.broken: list[tuple[Rule, str, str]] = []
        """Rules that could not be checked, with what happened and what to do."""
        self._out: list[Ruling] = []
        self._kept_back: list[Settled] | None = None
        self._unfavourable: dict[int, None] = {}
        """Rules with an instance that does not hold."""

    def take(self) -> list[Ruling]:
        """Return the rulings settled since the last call."""
        if not self._out:
            return []
        out, self._out = self._out, []
        return out

    def too_costly(self, expr: Expr) -> None:
        """Note an expression that went over its step limit."""
        if expr not in self.costly:
            self.costly.append(expr)

    def settle(
        self,
        rule: int,
        verdict: Verdict,
        view: View | None,
        sentence: str = "",
        *,
        reason: str = "",
        key: str = "",
        values: Sequence[str] = (),
        missing: Sequence[str] = (),
        witness: Sequence[Witness] = (),
        touched: Touched | None = None,
    ) -> None:
        """Settle one instance of a rule; violated and inconclusive ones become rulings."""
        ruling = None
        if verdict != "satisfied":
            ruling = Ruling(
                rule=rule,
                verdict=verdict,
                reason=reason,
                sentence=sentence,
                seq=self._place(view),
                key=key or _element(view),
                values=tuple(values),
                missing=tuple(missing),
                witness=tuple(witness),
                message=self.message(rule, view),
                match=view.claim.sentence if view is not None and view.claim is not None else "",
                touched=touched,
            )
            if touched is not None and view is not None:
                self._run().whereabouts.outcomes.setdefault(view.event.seq, "unanswered")
        if self._kept_back is not None:
            self._kept_back.append(Settled(verdict, ruling))
            return
        self.emit(rule, verdict, ruling)

    def broke(self, rule: Rule, sentence: str, help: str) -> None:
        """Note that a rule could not be checked on this trace: a fault."""
        self.broken.append((rule, sentence, help))

    def _place(self, view: View | None) -> int | None:
        if view is None:
            return None
        if isinstance(view.event, RunEnd):
            end = self._run().end
            return end.seq if end is not None else None
        return view.event.seq

    def emit(self, rule: int, verdict: Verdict, ruling: Ruling | None) -> None:
        """Count an instance, and give out its ruling."""
        self.tallies[3 * rule + _SLOT[verdict]] += 1
        if verdict != "satisfied":
            self._unfavourable[rule] = None
        if ruling is not None:
            self._out.append(ruling)

    def keep_back(self) -> None:
        """Keep back what settles from here on."""
        self._kept_back = []

    def kept_back(self) -> list[Settled]:
        """Stop keeping back, and return what settled meanwhile."""
        kept, self._kept_back = self._kept_back or [], None
        return kept

    def remark(
        self,
        rule: str,
        sentence: str,
        seq: int | None,
        *,
        verdict: Verdict = "violated",
        reason: str = "",
        witness: tuple[Witness, ...] = (),
        key: str = "",
    ) -> None:
        """Settle a rule of the pack `integrity`, if the contract has it."""
        index = self._integrity.get(rule)
        if index is None or self._run().applies is not True:
            return
        self.tallies[3 * index + _SLOT[verdict]] += 1
        self._unfavourable[index] = None
        self._out.append(
            Ruling(rule=index, verdict=verdict, reason=reason, sentence=sentence, seq=seq, witness=witness, key=key)
        )

    def message(self, rule: int, view: View | None) -> str:
        """Return the rule's own message with its values filled in, in the language of the parts."""
        texts = self._run().contract.rules[rule].message
        if not texts:
            return ""
        text = texts.get("en") or next(iter(texts.values()))
        return self.fill(text, view)

    def fill(self, text: Text, view: View | None) -> str:
        """Fill the values of a message in; what cannot be read shows as *(missing)* or *(hidden)*."""
        run = self._run()
        return "".join(
            part if isinstance(part, str) else _shown(run.evidence(part, view) if view is not None else None)
            for part in text.parts
        )

    def finish(self, applies: bool | Missing) -> None:
        """Give every rule its verdict, once everything has settled."""
        run = self._run()
        if applies is True and not run.gaps.all and run.records_all:
            self._finish_plainly()
            return
        verdicts: list[Verdict] = []
        for index, rule in enumerate(run.contract.rules):
            if applies is False:
                verdicts.append("vacuous")
            elif applies is not True:
                self.settle(
                    index,
                    "inconclusive",
                    None,
                    "`applies_when` cannot be decided for this trace",
                    reason="undecided-applies-when",
                    missing=(applies.reason,),
                )
                verdicts.append("inconclusive")
            else:
                verdicts.append(self._verdict(index, rule))
        self.verdicts = tuple(verdicts)

    def _finish_plainly(self) -> None:
        """Give the verdicts of a trace in which nothing can be hidden; where all holds, most traces are alike."""
        run = self._run()
        if self._unfavourable or run.plan.unusual:
            self.verdicts = self._plain_verdicts()
            return
        satisfied = tuple(self.tallies[::3])
        known = run.parts.verdicts.get(satisfied)
        if known is None:
            known = self._plain_verdicts()
            if len(run.parts.verdicts) < MOST_ALIKE:
                run.parts.verdicts[satisfied] = known
        self.verdicts = known

    def _plain_verdicts(self) -> tuple[Verdict, ...]:
        run = self._run()
        tallies = self.tallies
        verdicts: list[Verdict] = run.plan.quiet_verdicts.copy()
        for index, slot in run.plan.judged:
            if tallies[slot]:
                verdicts[index] = "satisfied"
        for index in run.plan.unusual:
            verdicts[index] = self._verdict(index, run.contract.rules[index])
        for index in self._unfavourable:
            verdicts[index] = "violated" if tallies[3 * index + VIOLATED] else "inconclusive"
        return tuple(verdicts)

    def _verdict(self, index: int, rule: Rule) -> Verdict:
        satisfied, violated, inconclusive = self.tallies[3 * index : 3 * index + 3]
        if violated:
            return "violated"
        if inconclusive:
            return "inconclusive"
        if isinstance(rule.kind, Integrity):
            return "satisfied"
        doubt = self._doubt(index, rule)
        if doubt is not None:
            self.emit(index, "inconclusive", doubt)
            return "inconclusive"
        if satisfied:
            return "satisfied"
        speaks_of_run = isinstance(rule.kind, Never | AtLeast | Exactly)
        return "satisfied" if speaks_of_run and self._run().ever_inside(index) else "vacuous"

    def _doubt(self, index: int, rule: Rule) -> Ruling | None:
        run = self._run()
        if rule.judge == "run" and run.may_hide_trigger(index, rule):
            return Ruling(
                rule=index,
                verdict="inconclusive",
                reason="hidden-trigger",
                sentence=f"a gap may hide {_quoted(rule.triggers)}",
                witness=tuple(
                    Witness(seq=place, note=gap.reason or "a gap")
                    for gap, place in run.gaps.all[:1]
                    if place <= run.last_seq
                ),
            )
        if not run.is_recorded(asked(rule)):
            return Ruling(
                rule=index,
                verdict="inconclusive",
                reason="not-recorded",
                sentence=f"the record cannot hold {_quoted(rule.triggers)}",
            )
        return None

    def _run(self) -> Run:
        return self  # type: ignore[return-value]


def _element(view: View | None) -> str:
    """Return the element of `each` or `about` that an instance is for."""
    return show(view.extra["it"]) if view is not None and view.extra else ""


def _quoted(selectors: Sequence[Selector]) -> str:
    return " or ".join(f"`{selector.text}`" for selector in selectors)


def _shown(value: Any) -> str:
    if isinstance(value, Missing):
        return "(missing)"
    if isinstance(value, Hidden):
        return "(hidden)"
    return value if type(value) is str else show(value)
