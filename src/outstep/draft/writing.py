"""The text of a draft: YAML that a person reads from top to bottom, its guesses marked as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from re import compile as linear_pattern
from typing import Any

from msgspec import Struct

from outstep import codec
from outstep.draft.candidates import Candidate, Fact
from outstep.draft.guesses import effect_of, schema_of
from outstep.draft.observed import FAILURE, Observed

_PLAIN = linear_pattern(r"[A-Za-z_][A-Za-z0-9_./*@|-]*(?: [A-Za-z0-9_./*@|=<>&\[\]().-]+)*")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off"))
WIDTH = 110


class Drafted(Struct, frozen=True, kw_only=True):
    """What goes into a draft."""

    id: str
    observed: Observed
    rules: tuple[Candidate, ...]
    held: Mapping[str, tuple[int, int]] = {}
    """By id of a rule: in how many runs it held, and in how many it was asked."""
    lowered: Mapping[str, int] = {}
    """Rules of `integrity` that some of these runs do not hold, and how many."""


def write(drafted: Drafted) -> str:
    """Return the text of the contract."""
    return "\n".join([*_head(drafted), *_tools(drafted.observed), *_facts(drafted.rules), *_rules(drafted)]) + "\n"


def _head(drafted: Drafted) -> Iterator[str]:
    runs, calls = len(drafted.observed.runs), sum(len(run.calls) for run in drafted.observed.runs)
    made = f"{_count(runs, 'run')} with {_count(calls, 'call')}"
    yield f"# A draft, made from {made}. Every rule held in all of them, and only observes."
    yield "# Strike out what is chance, correct what is guessed, then take `level: observe` away, rule by rule."
    yield "outstep: contract/v1"
    yield f"id: {quoted(drafted.id)}"
    if not drafted.rules:
        yield "include: [integrity]  # no other rule held in all of these runs; this one is always on"
    levels = {"ARGUMENTS_FIT": "the schemas below are read off these calls; `block` once they are right"}
    levels.update({rule: f"not so in {_count(number, 'run')} of these" for rule, number in drafted.lowered.items()})
    yield "levels:"
    yield from (f"  {rule}: observe  # {why}" for rule, why in levels.items())


def _tools(observed: Observed) -> Iterator[str]:
    if not observed.tools:
        return
    yield ""
    yield "tools:"
    if not observed.is_flagged:
        yield "  # guessed: these records do not say whether a call failed; adapt this to how your tools tell it"
        yield '  "*":'
        yield f"    fails_when: text.matches(r'{FAILURE}')"
    for tool, recorded in observed.tools.items():
        calls = observed.of(tool)
        runs = len({act.run for act in calls})
        yield f"  {quoted(tool)}:  # {_count(len(calls), 'call')} in {_count(runs, 'run')}"
        if recorded:
            yield f"    names: [{', '.join(quoted(name) for name in recorded)}]"
        if effect := effect_of(tool):
            yield f"    effect: {effect}  # guessed from its name"
        yield "    args:"
        yield from _schema(schema_of([act.args for act in calls]), "      ")


def _schema(schema: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in schema.items():
        if key == "properties":
            yield f"{indent}properties:"
            for name, inner in value.items():
                line = f"{indent}  {quoted(name)}: {_flow(inner)}"
                if len(line) <= WIDTH:
                    yield line
                else:
                    yield f"{indent}  {quoted(name)}:"
                    yield from _schema(inner, f"{indent}    ")
        elif key == "items" and len(_flow(value)) + len(indent) > WIDTH - 10:
            yield f"{indent}items:"
            yield from _schema(value, f"{indent}  ")
        elif isinstance(value, list) and len(line := f"{indent}{key}: {_flow(value)}") > WIDTH:
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_flow(item)}" for item in value)
        else:
            yield f"{indent}{key}: {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else codec.encode(value).decode()


def _facts(rules: Sequence[Candidate]) -> Iterator[str]:
    facts = list(dict.fromkeys(fact for rule in rules for fact in rule.facts))
    if not facts:
        return
    yield ""
    yield "# What earlier results said, by the id that rules ask for."
    yield "facts:"
    for fact in facts:
        yield f"  {fact.name}: {{{', '.join(f'{key}: {_text(value)}' for key, value in _keys(fact))}}}"


def _keys(fact: Fact) -> Iterable[tuple[str, str]]:
    pairs = (("from", fact.source), ("each", fact.each), ("key", fact.key), ("value", fact.value))
    return ((key, value) for key, value in pairs if value)


def _rules(drafted: Drafted) -> Iterator[str]:
    if not drafted.rules:
        return
    yield ""
    yield "rules:"
    about: str | None = None
    for rule in drafted.rules:
        if about is not None and rule.about != about:
            yield ""
        about = rule.about
        held, asked = drafted.held.get(rule.id, (0, 0))
        where = "" if rule.of_run or not rule.about else f" with {rule.about}"
        yield f"  # held in {held} of {_count(asked, 'run')}{where}: {rule.says}"
        yield f"  - id: {rule.id}"
        yield "    level: observe"
        for key, value in rule.keys:
            yield f"    {key}: {_text(value) if key != 'per' or value[0] != '[' else value}"


def _text(value: str) -> str:
    """Return an expression or a selector as YAML, quoted where it needs to be."""
    if value in ("true", "1", "3") or value.isdigit():
        return value
    needs = value[0] in "!\"'[{*&#%@`>|-?" or ": " in value or " #" in value or any(sign in value for sign in "[]{},")
    return codec.encode(value).decode() if needs and '"' not in value else f"'{value}'" if needs else value


def quoted(text: str) -> str:
    """Return a text as YAML: plain where that is safe."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(sign if _is_plain(sign) else f"\\U{ord(sign):08x}" for sign in text) + '"'


def _is_plain(sign: str) -> bool:
    return sign.isprintable() and sign not in '"\\'


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
