"""Case files: what a contract says of small traces, written beside it as its tests.

A file is a map of cases; the name of a case is the sentence it proves. docs/testing-contracts.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from outstep.contracts.fields import Fields, text_of
from outstep.contracts.located import Mapping, Node, Scalar, Sequence, decode, plain_value, read
from outstep.contracts.report import Report, Span
from outstep.errors import OutstepError, Place

SCHEMA = "cases/v1"

SHARED = ("outstep", "about", "contract", "params", "head")
"""Keys of a file that are no cases."""

SAYS = ("place", "witness", "reason", "key", "missing", "count")
"""What a case may say of the findings of a rule."""

KEYS = ("about", "contract", "params", "trace", "file", "id", "open", "verdict", "findings", "level", *SAYS)
_OF_A_FINDING = ("rule", "verdict", "place", "witness", "reason", "key", "missing")
VERDICTS = ("satisfied", "violated", "vacuous", "inconclusive")
_HEAD = "outstep: contract/v1\nid: case\n"
_ENDS = ("end", "complete")


class Expected(Struct, frozen=True):
    """One finding: `RULE`, or `[RULE, violated, 6]` with its verdict and the number of its event (null: the run)."""

    rule: str
    verdict: str = ""
    """Empty: any."""
    place: int | None = None
    has_place: bool = False
    details: dict[str, Any] = {}
    """What else is said of it, by the words in `SAYS`."""


class Case(Struct, frozen=True, kw_only=True):
    """One case: a contract, a trace, and what is to be said of it."""

    name: str
    file: str
    place: Place
    contract: str
    """A whole contract as text, or empty."""
    contract_name: str = ""
    """A file, as seen from the folder of the case file, or a pack; empty where the contract is a text."""
    params: dict[str, Any] = {}
    trace: str = ""
    trace_line: int = 0
    """Lines of the file above the first one of the trace."""
    trace_indent: int = 0
    """Columns of the file before the lines of the trace."""
    trace_file: str = ""
    """In place of a text: a file of recorded traces, as seen from the folder of the case file."""
    trace_id: str = ""
    """Which of them, where there are several."""
    verdicts: dict[str, str] = {}
    """By rule id; under `""` for the only rule."""
    findings: tuple[Expected, ...] | None = None
    """Exactly the findings, where the case says so."""
    expected: dict[str, dict[str, Any]] = {}
    """What is said of findings, by what and by rule id (`""`: the only rule)."""
    levels: dict[str, str] = {}

    @property
    def is_incomplete(self) -> bool:
        """Whether the record is meant to have holes: it has a gap, or no end of its own."""
        firsts = [line.split()[:2] for line in self.trace.splitlines()]
        has_end = any(words[:1] in (["end"], ["complete"]) for words in firsts)
        is_whole = has_end and not any(words[:1] == ["gap"] or words == ["end", "cut_off"] for words in firsts)
        return not self.trace_file and not is_whole


def is_case_file(data: bytes) -> bool:
    """Return whether a file reads as cases: a map in which some member has a `trace`, and no contract."""
    report = Report("case")
    file = decode(data, "", 0, report)
    root = read(file, report) if file is not None else None
    if not isinstance(root, Mapping):
        return False
    if (said := root.get("outstep")) is not None:
        return isinstance(said, Scalar) and said.text.startswith("cases/")
    return any(isinstance(value, Mapping) and _is_case(value) for _, value in root.entries)


def _is_case(value: Mapping) -> bool:
    says = any(value.get(key) is not None for key in ("verdict", "findings", "level"))
    return value.get("trace") is not None or (value.get("file") is not None and says)


def read_cases(data: bytes, name: str) -> list[Case]:
    """Return the cases of a file, in order; raises `OutstepError` with every mistake in it."""
    report = Report("case")
    file = decode(data, name, 0, report)
    root = read(file, report) if file is not None else None
    cases: list[Case] = []
    if isinstance(root, Mapping):
        cases = list(_cases(root, name, report))
        if not cases and not report.failed:
            report.error(
                "empty", f"`{name}` has no case", _first(root), "write a sentence as a key, and `trace:` below it"
            )
    elif file is not None and not report.failed:
        report.error("value", "a case file is a map of cases", Span(file, 0, 1), "write a sentence as a key")
    problems = report.problems("error")
    if problems:
        raise OutstepError(*problems)
    return cases


def _cases(root: Mapping, name: str, report: Report) -> Iterator[Case]:
    shared = {key.text: value for key, value in root.entries if key.text in SHARED}
    head = text_of(shared["head"], report, "`head`") if "head" in shared else ""
    contract = text_of(shared["contract"], report, "`contract`") if "contract" in shared else ""
    params = _params(shared.get("params"), report)
    if "outstep" in shared and text_of(shared["outstep"], report, "`outstep`") not in ("", SCHEMA):
        report.error("value", "this is no version of case files", _first(shared["outstep"]), f"write `{SCHEMA}`")
    for key, value in root.entries:
        if key.text in SHARED:
            continue
        if not isinstance(value, Mapping):
            report.unknown(
                "unknown-key", f"`{key.text}` is neither a case nor a key of the file", key.span, key.text, [*SHARED]
            )
            continue
        fields = Fields(value, report, f"the case `{key.text}`", KEYS)
        if "contract" in fields:
            contract = fields.text("contract")
        case = _case(key, fields, head, contract, {**params, **_params(fields.get("params"), report)}, name)
        if case is not None:
            yield case


def _case(key: Scalar, fields: Fields, head: str, contract: str, params: dict[str, Any], name: str) -> Case | None:
    report = fields.report
    trace = fields.get("trace")
    if trace is None and "file" not in fields:
        fields.need("trace", "spell what the agent did, one event a line: docs/testing-contracts.md")
        return None
    if trace is not None and "file" in fields:
        report.error("one-trace", f"`{key.text}` has two traces", fields.key("file"), "keep `trace` or `file`")
    if "id" in fields and "file" not in fields:
        report.error("one-trace", "`id` chooses a trace of a file, and there is no `file`", fields.key("id"))
    verdicts = _by_rule(fields.get("verdict"))
    for rule, verdict in verdicts.items():
        if verdict not in VERDICTS:
            at = fields.key("verdict")
            report.unknown(
                "value", f"`{verdict}` is no verdict{f' of `{rule}`' if rule else ''}", at, str(verdict), [*VERDICTS]
            )
    findings = _findings(fields.get("findings"), report) if "findings" in fields else None
    if not verdicts and findings is None and "level" not in fields:
        report.error(
            "asserts-nothing",
            f"the case `{key.text}` says nothing that could fail",
            key.span,
            "give `verdict:`, or `findings: []` for a trace without any",
        )
    if findings is not None:
        for what in ("verdict", *SAYS):
            if what in fields:
                sentence = f"`{what}` stands beside `findings`"
                help = "write it into the finding: `{rule: R, verdict: violated, place: 3}`"
                report.error("two-ways", sentence, fields.key(what), help)
    contract_text, contract_name = _contract(head, contract) if contract or head else ("", "")
    line, indent = _start(trace) if trace is not None else (0, 0)
    return Case(
        name=key.text,
        file=name,
        place=Place(source=name, line=key.span.spot.line, column=key.span.spot.column),
        contract=contract_text,
        contract_name=contract_name,
        params=params,
        trace=_ended(fields.text("trace"), is_open=fields.flag("open")) if trace is not None else "",
        trace_line=line,
        trace_indent=indent,
        trace_file=fields.text("file"),
        trace_id=fields.text("id"),
        verdicts=verdicts,
        findings=findings,
        expected={what: _by_rule(fields.get(what)) for what in SAYS if what in fields},
        levels={rule: str(level) for rule, level in _by_rule(fields.get("level")).items()},
    )


def _start(trace: Node) -> tuple[int, int]:
    """Return how many lines stand above the first one of a trace, and how many columns before its lines."""
    line, column = trace.file.line_column(trace.start)
    if not (isinstance(trace, Scalar) and trace.style in ("|", ">")):
        return line - 1, column - 1
    rows = trace.file.text.split("\n")[line:]
    return line, next((len(row) - len(row.lstrip(" ")) for row in rows if row.strip()), 0)


def _contract(head: str, contract: str) -> tuple[str, str]:
    """Return a contract as text, or the name of one."""
    if contract and "\n" not in contract and not contract.startswith(("-", "outstep:", "{", "#")):
        return "", contract
    if contract.startswith("outstep:"):
        return contract, ""
    if contract.startswith(("-", "#")):
        contract = "rules:\n" + contract
    # A section that the case brings replaces the one of the head.
    own = {line.split(":")[0] for line in contract.splitlines() if line[:1].isalpha()}
    return _HEAD + "".join(section for name, section in _sections(head) if name not in own) + contract, ""


def _sections(head: str) -> Iterator[tuple[str, str]]:
    lines: list[str] = []
    for line in head.splitlines(keepends=True):
        if line[:1].isalpha() and lines:
            yield lines[0].split(":")[0], "".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield lines[0].split(":")[0], "".join(lines)


def _ended(trace: str, *, is_open: bool) -> str:
    says = any(line.split()[:1] in ([word] for word in _ENDS) for line in trace.splitlines())
    return trace if says or is_open else f"{trace.rstrip()}\nend completed\n"


def _by_rule(node: Node | None) -> dict[str, Any]:
    """Return a value by rule id; one that is no map belongs to the only rule."""
    if node is None:
        return {}
    if isinstance(node, Mapping):
        return {key.text: plain_value(value) for key, value in node.entries}
    return {"": plain_value(node)}


def _findings(node: Node | None, report: Report) -> tuple[Expected, ...]:
    if node is None or (isinstance(node, Scalar) and node.kind == "null"):
        return ()
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(_finding(item, report) for item in items)


def _finding(node: Node, report: Report) -> Expected:
    details: dict[str, Any] = {}
    if isinstance(node, Mapping):
        fields = Fields(node, report, "a finding", _OF_A_FINDING)
        fields.need("rule")
        said = {name: plain_value(value) for name in fields if (value := fields.get(name)) is not None}
        details = {name: said.pop(name) for name in SAYS[1:] if name in said}
        values = [said.get("rule", ""), said.get("verdict", "")]
        values += [None if said["place"] == "run" else said["place"]] if "place" in said else []
    elif isinstance(node, Sequence):
        values = [plain_value(item) for item in node.items]
    else:
        return Expected(text_of(node, report, "a finding"))
    rule, verdict, place = [*values, *("", "", None)[len(values) :]][:3]
    is_place = place is None or (isinstance(place, int) and not isinstance(place, bool))
    if not rule or not isinstance(rule, str) or verdict not in ("", *VERDICTS) or not is_place or len(values) > 3:
        report.error("value", "a finding is a rule, or `[RULE, verdict, event]`", _first(node), "as `[R, violated, 6]`")
        return Expected("")
    return Expected(rule, str(verdict), place, len(values) == 3, details)


def _params(node: Node | None, report: Report) -> dict[str, Any]:
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        report.error("value", "`params` is a map of names", _first(node))
        return {}
    return {key.text: plain_value(value) for key, value in node.entries}


def _first(node: Node) -> Span:
    return Span(node.file, node.start, max(node.start + 1, min(node.end, node.start + 1)))
