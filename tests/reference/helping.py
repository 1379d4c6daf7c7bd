"""Short ways to ask the reference."""

from __future__ import annotations

from textwrap import indent

from outstep.contracts.loader import load
from outstep.contracts.model import Contract
from outstep.events import Event, Header
from outstep.tracetext import parse_trace

from .judging import evaluate
from .known import Trace
from .scene import Scene
from .verdicts import RuleOutcome
from .views import View


def contract_of(rule: str, head: str = "") -> Contract:
    """Return a contract with one rule, `R`, over the tools `a` and `b`."""
    tools = "" if "tools:" in head else "tools: {a: {effect: write}, b: {effect: read}}\n"
    text = f"outstep: contract/v1\nid: one\n{tools}{head}\nrules:\n  - id: R\n{indent(rule.strip(), '    ')}\n"
    checked, _ = load(text.encode())
    return checked


def outcome_of_rule(rule: str, trace: str, head: str = "") -> RuleOutcome:
    """Return what one rule comes to on a trace in text form."""
    return evaluate(contract_of(rule, head), *parse_trace(trace))["R"]


def said(outcome: RuleOutcome) -> str:
    """Return a verdict with its instances that do not hold, as `violated 2 5:"x"`; `run` where no event is the place.

    A `?` marks an inconclusive instance beside a violated one.
    """
    parts: list[str] = [outcome.verdict]
    for seq, key, verdict in outcome.findings:
        place = "run" if seq < 0 else str(seq)
        mark = "" if verdict == outcome.verdict else "?"
        parts.append(f"{place}{':' + key if key else ''}{mark}")
    return " ".join(parts)


def trace_of(text: str) -> Trace:
    """Return a trace in text form, with what the definitions ask of it."""
    return Trace(*parse_trace(text))


def fact_at(text: str, facts: str, name: str, seq: int) -> object:
    """Return a fact as the event with a `seq` may know it."""
    header, events = parse_trace(text)
    return read_fact(header, events, facts, name, seq)


def read_fact(header: Header, events: list[Event], facts: str, name: str, seq: int) -> object:
    """Return a fact of a contract with these facts at an event."""
    scene = Scene(contract_of("never: call a", f"facts:\n{indent(facts.strip(), '  ')}"), Trace(header, events))
    event = next(event for event in events if event.seq == seq)
    return scene.facts.read(name, View(event=event))
