"""`python`: a pure function of the trace returns no finding.

docs: docs/kinds/python.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct

from outstep import codec
from outstep.contracts.kinds.base import Quiet, View
from outstep.events import EVENT_TYPES, Event, Gap, RunEnd, ToolCall, ToolResult
from outstep.expr.values import Hidden, Missing
from outstep.findings import Witness

if TYPE_CHECKING:
    from outstep.contracts.model import Rule

MOST_FINDINGS = 1000
"""Of one function on one trace; one that never ends is stopped here."""


class Python(Struct, frozen=True, kw_only=True, tag="python", tag_field="kind"):
    """`module:function`, called with the whole trace."""

    function: str


class SeenTrace(Struct, frozen=True, kw_only=True):
    """The trace as a function of the contract sees it: plain JSON values, a copy of its own."""

    header: dict[str, Any]
    """Every member of the header (docs/events.md#the-header)."""
    events: list[dict[str, Any]]
    """Every event with every member (docs/events.md), in order; tools and outcomes as the contract reads them."""
    params: dict[str, Any]
    """The parameters of the contract."""


Function = Callable[[SeenTrace], Any]


class PythonMonitor(Quiet):
    """Keeps the whole trace, and asks the function once it is closed."""

    has_deadline = True
    asks_outcomes = True

    def __init__(self, index: int, rule: Rule, run: Any) -> None:
        super().__init__(index, rule, run)
        assert isinstance(rule.kind, Python)
        self._name = rule.kind.function
        self._function: Function = run.function(rule)
        self._events: list[Event] = []
        self._results: dict[int, View] = {}

    def took(self, event: Event) -> None:
        """Keep any event."""
        self._events.append(event)

    def answered(self, view: Any) -> None:
        """Keep what the contract makes of a result."""
        self._results[view.event.seq] = view

    def close(self) -> None:
        """Ask the function, unless something that it reads is hidden."""
        reads = self._reads()
        if reads is None:
            return
        unrecorded = [name for name in reads if name not in self.run.header.records and name not in ("gap", "run.end")]
        hidden = self._hidden(reads)
        if hidden:
            self.run.settle(self.index, "inconclusive", None, hidden, reason="hidden-evidence", missing=(hidden,))
        elif unrecorded and getattr(self._function, "reads", None) is not None:
            sentence = f"the record cannot hold `{unrecorded[0]}`"
            self.run.settle(self.index, "inconclusive", None, sentence, reason="not-recorded")
        else:
            self._ask()

    def restart(self) -> None:
        """Forget the trace."""
        self._events = []
        self._results = {}

    def _reads(self) -> Sequence[str] | None:
        """Return the event types that the function says it reads, else all; none where that says nothing."""
        reads = getattr(self._function, "reads", None)
        if reads is None:
            return EVENT_TYPES
        if isinstance(reads, str) or not isinstance(reads, Sequence) or not set(reads) <= set(EVENT_TYPES):
            self._broke("says in `reads` something else than event types", f"event types: {', '.join(EVENT_TYPES)}")
            return None
        return reads

    def _hidden(self, reads: Sequence[str]) -> str:
        """Return what hides something that the function reads, or an empty text."""
        for gap, _ in () if self.rule.judge == "record" else self.run.gaps.all:
            if any(gap.can_hide(name) for name in reads):
                return (
                    f"a gap may hide what the function reads: {gap.reason}" if gap.reason else "a gap may hide events"
                )
        for event in self._events:
            tag = event.__struct_config__.tag
            if not isinstance(event, Gap | RunEnd) and event.hidden and tag in reads:
                return f"a value that the function reads is hidden: `{event.hidden[0]}` of a `{tag}`"
        return ""

    def _ask(self) -> None:
        seen = SeenTrace(
            header=_members(self.run.header),
            events=[self._seen(event) for event in self._events],
            params=codec.loads(codec.encode(self.run.contract.params)),
        )
        before = codec.encode(seen)
        try:
            found = self._function(seen)
            told = [found] if isinstance(found, str | tuple | dict) else list(islice(found or (), MOST_FINDINGS + 1))
        except (Exception, SystemExit) as error:
            self._broke(f"raised {_worded(error)}", "a function that finds nothing returns none, or an empty list")
            return
        if _encoded(seen) != before:
            self._broke("changed the trace that it was given", "a rule only reads: copy what you want to change")
        elif len(told) > MOST_FINDINGS:
            self._broke(f"returned more than {MOST_FINDINGS:,} findings", "return one for each thing that is wrong")
        else:
            self._settle(told)

    def _settle(self, told: list[Any]) -> None:
        """Settle what was found, once all of it is known to make sense."""
        seqs = {event.seq: event for event in self._events}
        findings: list[tuple[str, list[int]]] = []
        for one in told:
            sentence, places = _read(one)
            if not sentence or any(place not in seqs for place in places):
                shown = _same_everywhere(repr(one))[:80]
                help = "a finding is a sentence, or a sentence and the events that prove it: `yield text, event`"
                self._broke(f"returned `{shown}`, which is no finding", help)
                return
            findings.append((sentence, places))
        for sentence, places in findings:
            view = self.run.view_of(seqs[places[0]]) if places else None
            witness = tuple(Witness(seq=seq) for seq in places)
            self.run.settle(self.index, "violated", view, sentence, witness=witness)
        if not findings:
            self.run.settle(self.index, "satisfied", None)

    def _broke(self, what: str, help: str) -> None:
        """Note that the function is no check of this trace: a fault, and nothing is decided."""
        sentence = f"`{self._name}` {what}"
        self.run.broke(self.rule, sentence, help)
        self.run.settle(self.index, "inconclusive", None, sentence, reason="broken-check")

    def _seen(self, event: Event) -> dict[str, Any]:
        members = _members(event)
        if isinstance(event, ToolCall):
            members["recorded"], members["tool"] = event.tool, self.run.canonical(event.tool)
        elif isinstance(event, ToolResult):
            view: Any = self._results.get(event.seq)
            members["tool"] = None
            members["call"] = None
            if view is not None:
                data = view.lookup("data")
                members["tool"] = self.run.canonical(view.call.event.tool)
                members["call"] = view.call.event.seq
                members["outcome"] = view.outcome
                members["data"] = None if isinstance(data, Missing | Hidden) else data
        return members


def _members(part: Struct) -> dict[str, Any]:
    """Return a part of the normal form as plain values, those members written out that have their default."""
    written: dict[str, Any] = codec.loads(codec.encode(part))
    config = part.__struct_config__
    members: dict[str, Any] = {config.tag_field or "type": config.tag}
    for name in part.__struct_fields__:
        value = written.get(name, getattr(part, name))
        members[name] = None if isinstance(value, Raw) else list(value) if isinstance(value, tuple) else value
    return members


def _read(one: Any) -> tuple[str, list[int]]:
    """Return the sentence of a finding and the places of its events; no sentence where it is none."""
    if isinstance(one, str):
        return one.strip(), []
    if not isinstance(one, tuple | list) or not one or not isinstance(one[0], str):
        return "", []
    places = [event.get("seq") if isinstance(event, dict) else event for event in one[1:]]
    numbers = [place for place in places if type(place) is int]
    return (one[0].strip(), numbers) if len(numbers) == len(places) else ("", [])


def _encoded(seen: SeenTrace) -> bytes:
    try:
        return codec.encode(seen)
    except (TypeError, ValueError, RecursionError):
        return b""  # something that is no JSON was put into it


def _worded(error: BaseException) -> str:
    """Return an error on one line, with where it was raised; the same one at every run."""
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename != __file__:
            name = code.co_filename.replace("\\", "/").rpartition("/")[2]
            place = f" ({name}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    try:
        said = str(error)
    except Exception:
        said = ""
    said = _same_everywhere(" ".join(said.split())[:200])
    return f"`{type(error).__name__}{f': {said}' if said else ''}`{place}"


def _same_everywhere(text: str) -> str:
    """Return a text without addresses in memory, which differ from run to run."""
    import re  # only on the way to a fault

    return re.sub("0x[0-9a-fA-F]+", "0x…", text)
