"""Findings, faults and the report: plain data that every renderer shares (schema `report/v1`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from outstep.errors import Place, Problem
from outstep.events import Metric

Verdict = Literal["satisfied", "violated", "vacuous", "inconclusive"]
Level = Literal["block", "warn", "observe"]

SCHEMA = "report/v1"


class Witness(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event that settles a verdict."""

    seq: int
    """Of the event in the normal form."""
    note: str = ""
    """What it is for: `this call`, `its result`, `the newest verification`."""
    type: str = ""
    quote: str = ""
    """The event on one line, cut; hostile text, escaped where it is shown."""
    place: Place | None = None
    raw_seq: int | None = None
    """The raw format's own sequence number."""


class Touched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a call touches, and that a rule of the kind `scope` does not let it."""

    kind: str = ""
    """`path`, `command`, `url`, `host`, `folder`."""
    access: str = ""
    """`read`, `write`, `both`, `run`, `fetch`."""
    target: str = ""
    """As written, or the part of a command that decided."""
    argument: str = ""
    """The argument that names it."""
    because: str = ""
    """A code of docs/scope.md, as `path-outside`."""
    rule: str = ""
    """The pattern that comes nearest."""
    differs: str = ""
    """The first part of the target that the nearest pattern does not match."""
    fix: str = ""
    """A pattern that would allow exactly this."""
    outcome: str = ""
    """What became of the call: `ok`, `failed`, `denied` (refused by the harness), `unknown`, `unanswered`."""


class Ruling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A verdict on one instance of one rule, as the engine gives it."""

    rule: int
    """Index of the rule in the checked contract."""
    verdict: Verdict
    reason: str = ""
    """`hidden-evidence`, `hidden-trigger`, `not-recorded`, `missing-evidence`, …; empty for a plain violation."""
    sentence: str
    seq: int | None = None
    """Place: `seq` of the offending event; none when the run itself is the place."""
    key: str = ""
    """The instance beyond its event, as text: the key of a count, the element of `each`."""
    values: tuple[str, ...] = ()
    """The values compared, as `3500 > 3000`."""
    missing: tuple[str, ...] = ()
    """Evidence that was missing or hidden, as ``verified["C-7"]: …``."""
    witness: tuple[Witness, ...] = ()
    message: str = ""
    """The rule's own message with its values filled in."""
    match: str = ""
    """Claims: the sentence."""
    touched: Touched | None = None
    """`scope`: what the call touches."""


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ruling on one rule and one trace, with its places; reads without its trace."""

    rule: str
    level: Level
    cls: str = ""
    verdict: Verdict
    reason: str = ""
    message: str
    """The rule's own message, else the sentence."""
    sentence: str
    trace: str
    event: int | None = None
    """1-based index of the offending event in its trace."""
    of: int | None = None
    """Events in the trace."""
    seq: int | None = None
    raw_seq: int | None = None
    turn: int | None = None
    agent: str = ""
    call_id: str = ""
    key: str = ""
    values: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    witness: tuple[Witness, ...] = ()
    place: Place | None = None
    contract: str = ""
    """Id of the contract."""
    contract_place: Place | None = None
    fingerprint: str = ""
    waived: str = ""
    """Owner and reason of the waiver that covers it; a waived finding does not gate."""
    help: str = ""
    touched: Touched | None = None
    """`scope`: what the call touches, and what became of the call."""


class TraceSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read of one trace, and its verdicts counted."""

    id: str
    sources: tuple[str, ...] = ()
    format: str = ""
    version: str = ""
    sha256: tuple[str, ...] = ()
    unpinned: bool = False
    subject: dict[str, str] = {}
    """What acted, as far as the record tells: `harness`, `model`, digests of `prompt`, `skills`, `tools`, `config`."""
    events: int = 0
    calls: int = 0
    unanswered: int = 0
    records: int = 0
    skipped: dict[str, int] = {}
    """Skipped kinds of raw records, counted."""
    end: str = ""
    """`completed`, `aborted`, `cut_off`, or `inferred` when only the adapter says that the record is whole."""
    order: str = ""
    """`turns`, or `log` when the format has no responses and file order is all there is."""
    satisfied: int = 0
    violated: int = 0
    inconclusive: int = 0
    vacuous: int = 0
    metrics: tuple[Metric, ...] = ()
    """Scores that people or models gave the run: trends, never a gate."""
    verdicts: tuple[dict[str, Verdict] | None, ...] = ()
    """By contract, in the order of the report: the rules that are not satisfied; the other rules of the contract are.
    None: the contract could not be held against this trace."""


class RuleSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One rule over all traces: how many traces had which verdict."""

    rule: str
    level: Level
    cls: str = ""
    contract: str = ""
    pack: str = ""
    """The pack that the rule comes from; empty for a rule of the contract itself."""
    satisfied: int = 0
    violated: int = 0
    inconclusive: int = 0
    vacuous: int = 0


class Trend(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One metric over all traces; of a trace that several scored, their mean counts."""

    name: str
    traces: int
    """Traces that have it."""
    mean: float
    least: float
    most: float


class ContractSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Identity of a contract that judged."""

    id: str
    title: str = ""
    source: str = ""
    sha256: str = ""
    stage: str = "gate"


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything one check found: no clock, host or duration inside, so equal input gives equal bytes."""

    schema: str
    tool: str = ""
    """`outstep <version>`."""
    gate: Literal["pass", "block", "error", "inconclusive"] = "pass"
    exit_code: int = 0
    fail_on: Level = "block"
    """The lowest level that gates: `block`, or `warn` when warnings fail, too."""
    contracts: tuple[ContractSummary, ...] = ()
    traces: tuple[TraceSummary, ...] = ()
    rules: tuple[RuleSummary, ...] = ()
    metrics: tuple[Trend, ...] = ()
    findings: tuple[Finding, ...] = ()
    faults: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    allowed: tuple[str, ...] = ()
    """Reasons accepted by `--allow`."""

    def gates(self, finding: Finding) -> bool:
        """Return whether a finding stands against the release."""
        return gates(finding, self.fail_on, self.allowed)

    @property
    def passed(self) -> bool:
        """Whether the gate lets a release pass."""
        return self.gate == "pass"


def gates(finding: Finding, fail_on: Level, allowed: Sequence[str]) -> bool:
    """Return whether a finding stands against the release; `allowed` are accepted reasons of being undecided."""
    if finding.waived or finding.level not in ("block", fail_on):
        return False
    return finding.verdict != "inconclusive" or finding.reason not in allowed
