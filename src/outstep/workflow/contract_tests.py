"""Cases run against their contracts: what was expected, what came out, and which rules no case exercises.

docs: docs/testing-contracts.md
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from outstep.casefiles import Case, Expected, is_case_file, read_cases
from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract
from outstep.engine.monitor import judge
from outstep.errors import OutstepError, Place, Problem, problem
from outstep.events import Event, Header, RunEnd
from outstep.findings import Ruling, Verdict
from outstep.render.wording import count
from outstep.tracetext import event_lines, parse_trace
from outstep.workflow.contracts import is_pack, open_contract
from outstep.workflow.functions import ready
from outstep.workflow.traces import load_traces

ENDINGS = (".yaml", ".yml")
OF_CASES = (".cases", "_cases", "-cases")
OF_THE_END = frozenset({"INCOMPLETE_TRACE", "MISSING_TOOL_RESULT"})
"""Rules about the record that a gap or an open end breaks, which most cases with one are not about."""


class Outcome(Struct, frozen=True, kw_only=True):
    """One case, and what came of it."""

    case: Case
    differences: tuple[str, ...] = ()
    """Sentences; empty: as expected."""
    rulings: tuple[tuple[str, Ruling], ...] = ()
    """Rule id and ruling: everything that was found."""
    verdicts: dict[str, Verdict] = {}
    """Of the contract's own rules."""
    contract: str = ""
    """What tells contracts apart: a file, a pack, or the text itself."""
    problems: tuple[Problem, ...] = ()
    """Why the case could not be run."""
    lines: tuple[tuple[int, str], ...] = ()
    """Of a case that came out otherwise: its events as text, with `seq`."""


class Idle(Struct, frozen=True, kw_only=True):
    """A rule that the cases show from one side only, or not at all."""

    contract: str
    rule: str
    lacks: str
    """`violated`, `satisfied`, or `any case`."""


def case_files(paths: Sequence[str]) -> list[str]:
    """Return the case files among files and folders; raises `OutstepError` where there is none."""
    found: list[str] = []
    problems: list[Problem] = []
    for path in paths:
        if os.path.isdir(path):
            found += [file for file in _below(path) if _is_case_file(file)]
        elif os.path.exists(path):
            found.append(path)
        else:
            problems.append(
                Problem(
                    code="input/not-found",
                    sentence=f"`{path}` does not exist",
                    place=Place(source=path),
                    help="give case files, or folders that hold them",
                )
            )
    if problems:
        raise OutstepError(*problems)
    if not found:
        raise problem(
            "case/empty",
            f"there is no case file in {', '.join(f'`{path}`' for path in paths)}",
            help="write cases beside the contract, as refund.cases.yaml: docs/testing-contracts.md",
        )
    return list(dict.fromkeys(found))


def run_cases(files: Iterable[str]) -> Iterator[Outcome]:
    """Yield the outcome of every case; raises `OutstepError` with every mistake of every file first."""
    contents: list[list[Case]] = []
    problems: list[Problem] = []
    for file in files:
        try:
            contents.append(read_cases(_bytes(file), file))
        except OutstepError as error:
            problems += error.problems
    if problems:
        raise OutstepError(*problems)
    opener = _Opener()
    for cases in contents:
        for case in cases:
            yield _run(case, opener)


def run_text(data: bytes, file: str) -> list[Outcome]:
    """Return the outcome of every case in the text of a case file that stands, or will stand, at `file`."""
    opener = _Opener()
    return [_run(case, opener) for case in read_cases(data, file)]


def idle_rules(outcomes: Iterable[Outcome]) -> list[Idle]:
    """Return the rules of named contracts that no case shows both satisfied and violated."""
    seen: dict[tuple[str, str], set[str]] = {}
    for outcome in outcomes:
        if outcome.case.contract_name or not outcome.case.contract:
            for rule, verdict in outcome.verdicts.items():
                seen.setdefault((outcome.contract, rule), set()).add(verdict)
    found: list[Idle] = []
    for (contract, rule), verdicts in seen.items():
        if not verdicts & {"satisfied", "violated", "inconclusive"}:
            found.append(Idle(contract=contract, rule=rule, lacks="any case"))
            continue
        for verdict in ("violated", "satisfied"):
            if verdict not in verdicts:
                found.append(Idle(contract=contract, rule=rule, lacks=verdict))
    return found


class _Opener:
    """Opens each contract once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], Contract] = {}

    def open(self, case: Case) -> tuple[Contract, str]:
        """Return the contract of a case, and what it is called; raises `OutstepError`."""
        if case.contract:
            from outstep.contracts.loader import load

            key = (case.contract, "", repr(sorted(case.params.items())))
            if key not in self._known:
                self._known[key] = load(case.contract.encode(), name=case.file, params=case.params)[0]
            return self._known[key], case.contract
        name = case.contract_name or _beside(case.file)
        path = name if is_pack(name) else os.path.normpath(os.path.join(os.path.dirname(case.file), name))
        key = ("", path, repr(sorted(case.params.items())))
        if key not in self._known:
            self._known[key] = open_contract(path, params=case.params)[0]
        return self._known[key], path


def _beside(file: str) -> str:
    """Return the contract that a case file without `contract:` is about: the file of the same name beside it."""
    folder, name = os.path.split(file)
    stem, ending = os.path.splitext(name)
    for mark in OF_CASES:
        if stem.endswith(mark):
            for other in (ending, *ENDINGS):
                beside = stem.removesuffix(mark) + other
                if os.path.exists(os.path.join(folder, beside)):
                    return beside
    raise problem(
        "case/no-contract",
        f"`{file}` does not say which contract it is about",
        place=Place(source=file, line=1),
        help="begin it with `contract: FILE`, or call it like the contract: refund.yaml, refund.cases.yaml",
    )


def _run(case: Case, opener: _Opener) -> Outcome:
    try:
        contract, name = opener.open(case)
        header, events = _trace(case)
        compiled = ready(contract)
        judged = next(judge(compiled, [_batch(header, events)]))
    except OutstepError as error:
        return Outcome(case=case, problems=tuple(_moved(one, case) for one in error.problems))
    ids = [rule.id for rule in contract.rules]
    own = [rule.id for rule in contract.rules if not isinstance(rule.kind, Integrity)]
    # As in reports: by their place, those about the run as a whole first.
    ordered = sorted(judged.rulings, key=lambda ruling: (-1 if ruling.seq is None else ruling.seq, ruling.key))
    rulings = tuple((ids[ruling.rule], ruling) for ruling in ordered)
    verdicts = dict(zip(ids, judged.verdicts, strict=True))
    try:
        differences = tuple(_differences(case, contract, own, verdicts, rulings))
    except _UnknownRuleError as error:
        return Outcome(case=case, problems=(error.problem,))
    return Outcome(
        case=case,
        differences=differences,
        rulings=rulings,
        verdicts={rule: verdicts[rule] for rule in own},
        contract=name,
        lines=tuple(event_lines(events)) if differences else (),
    )


def _trace(case: Case) -> tuple[Header, Sequence[Event]]:
    """Return the trace of a case, written in it or recorded; raises `OutstepError`."""
    if not case.trace_file:
        header, events = parse_trace(case.trace, source=case.file)
        if not [event for event in events if not isinstance(event, RunEnd)]:
            raise problem(
                "case/no-events", f"the trace of `{case.name}` is empty", place=case.place, help="write events"
            )
        return header, events
    path = os.path.normpath(os.path.join(os.path.dirname(case.file), case.trace_file))
    traces = list(load_traces(path))
    chosen = [trace for trace in traces if case.trace_id in ("", trace.id)]
    if len(chosen) == 1:
        return chosen[0].header, chosen[0].events
    found = f"no trace `{case.trace_id}`" if not chosen and case.trace_id else count(len(chosen), "trace")
    raise problem(
        "case/which-trace",
        f"`{path}` holds {found}",
        place=case.place,
        help=f"name one of them as `id`: {', '.join(trace.id for trace in traces[:12])}",
    )


def _batch(header: Header, events: Sequence[Event]) -> list[Event | Header]:
    return [header, *events]


def _moved(found: Problem, case: Case) -> Problem:
    """Return a mistake in a trace with its place in the file."""
    if found.code != "trace/text" or found.place is None or found.place.line is None:
        return found
    from msgspec.structs import replace

    column = (found.place.column or 1) + case.trace_indent
    return replace(found, place=Place(source=case.file, line=case.trace_line + found.place.line, column=column))


class _UnknownRuleError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.sentence)
        self.problem = problem


def _differences(
    case: Case,
    contract: Contract,
    own: Sequence[str],
    verdicts: dict[str, Verdict],
    rulings: Sequence[tuple[str, Ruling]],
) -> Iterator[str]:
    """Yield where a case and what came out differ."""
    expected = {_rule(name, own, case, verdicts): verdict for name, verdict in case.verdicts.items()}
    for rule, verdict in expected.items():
        if verdicts[rule] != verdict:
            yield f"`{rule}` is {verdicts[rule]}, not {verdict}"
    found = list(dict.fromkeys(rule for rule, _ in rulings))
    if case.findings is not None:
        wanted = [(one, _rule(one.rule, own, case, verdicts)) for one in case.findings]
        named = {rule for _, rule in wanted}
        yield from _unlike(wanted, [found for found in rulings if found[0] in named or _counts(found[0], case)])
    else:
        # What a case does not speak of must hold: it could else pass by accident.
        for rule in found:
            if rule not in expected and _counts(rule, case):
                yield f"`{rule}` is {verdicts[rule]}, and the case does not say so"
    for what, by_rule in case.expected.items():
        for name, value in by_rule.items():
            rule = _rule(name, own, case, verdicts)
            says = _SAYS[what]([ruling for found_rule, ruling in rulings if found_rule == rule])
            asked = value if what == "count" else value if isinstance(value, list) else [value]
            if says != asked:
                yield f"`{rule}`: {what} is {says}, not {asked}"
    levels = {rule.id: rule.level for rule in contract.rules}
    for rule, level in case.levels.items():
        if levels.get(rule, "off") != level:
            yield f"`{rule}` has level {levels.get(rule, 'off')}, not {level}"


def _counts(rule: str, case: Case) -> bool:
    """Return whether a finding that a case does not name fails it; cases that write their own rules are about these."""
    return rule != "UNDECLARED_TOOL" and not (rule in OF_THE_END and (case.is_incomplete or bool(case.contract)))


def _unlike(wanted: Sequence[tuple[Expected, str]], rulings: Sequence[tuple[str, Ruling]]) -> Iterator[str]:
    """Yield which findings of a list are not there, and which are there and not in it."""
    left = list(rulings)
    only_names = all(not one.verdict and not one.details for one, _ in wanted)
    for one, rule in wanted:
        fits = next((found for found in left if found[0] == rule and _fits(one, found[1])), None)
        if fits is None:
            yield f"no finding [{_told(one, rule)}]"
        elif not only_names:
            left.remove(fits)
        for what, value in one.details.items():
            says = _SAYS[what]([fits[1]] if fits is not None else [])
            if fits is not None and says != (value if isinstance(value, list) else [value]):
                yield f"`{rule}`: {what} is {says}, not {value}"
    if only_names:
        names = {rule for _, rule in wanted}
        left = [found for found in left if found[0] not in names]
    for rule, ruling in left:
        place = "the run" if ruling.seq is None else f"event {ruling.seq}"
        yield f"`{rule}` is {ruling.verdict} at {place}, and the case does not expect it"


def _fits(one: Expected, ruling: Ruling) -> bool:
    return (not one.verdict or one.verdict == ruling.verdict) and (not one.has_place or one.place == ruling.seq)


def _told(one: Expected, rule: str) -> str:
    place = ["the run" if one.place is None else f"event {one.place}"] if one.has_place else []
    return ", ".join([rule, *([one.verdict] if one.verdict else []), *place])


_SAYS: dict[str, Any] = {
    "place": lambda rulings: ["run" if ruling.seq is None else ruling.seq for ruling in rulings],
    "witness": lambda rulings: [step.seq for ruling in rulings for step in ruling.witness],
    "reason": lambda rulings: list(dict.fromkeys(ruling.reason for ruling in rulings)),
    "key": lambda rulings: [ruling.key for ruling in rulings],
    "missing": lambda rulings: [text for ruling in rulings for text in ruling.missing],
    "count": len,
}


def _rule(name: str, own: Sequence[str], case: Case, verdicts: dict[str, Verdict]) -> str:
    """Return the rule that a case means; an empty name means the only one, or the only one that it names."""
    if name in verdicts:
        return name
    named = [other for other in case.verdicts if other]
    only = named or list(own)
    if not name and len(only) == 1:
        return only[0]
    from outstep.errors import suggestion

    known = tuple(verdicts)
    sentence = (
        f"the contract of `{case.name}` has no rule `{name}`"
        if name
        else f"`{case.name}` does not name its rule, and its contract has {len(own)}"
    )
    help = (suggestion(name, known) if name else "") or f"rules: {', '.join(own)}"
    raise _UnknownRuleError(Problem(code="case/unknown-rule", sentence=sentence, place=case.place, help=help))


def _below(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(path, name) for name in sorted(names) if name.endswith(ENDINGS))


def _is_case_file(file: str) -> bool:
    try:
        return is_case_file(_bytes(file))
    except OutstepError:
        return True  # it is told when it is read


def _bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "case/unreadable", f"`{file}` cannot be read: {reason}", place=Place(source=file), help="give a case file"
        ) from None
