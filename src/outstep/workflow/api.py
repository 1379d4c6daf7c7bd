"""What `import outstep` offers: a check in one call (docs/cli.md#from-python)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outstep import codec
from outstep.adapters import discover
from outstep.adapters.base import Document, ReadLog
from outstep.adapters.discover import Group
from outstep.contracts.model import Contract
from outstep.errors import Problem, problem, suggestion
from outstep.events import Event, Header
from outstep.findings import Level, Report
from outstep.workflow.checking import CheckOptions, check_groups, check_paths
from outstep.workflow.contracts import open_contracts
from outstep.workflow.gating import ALLOWABLE
from outstep.workflow.traces import InMemory, Trace

if TYPE_CHECKING:
    from datetime import date

AnyPath = str | Path
ChatMessage = Mapping[str, Any]
"""A message as a chat API takes and gives it: OpenAI Chat Completions or Anthropic Messages."""
Traces = AnyPath | Trace | Iterable[AnyPath | Trace | Header | Event | ChatMessage]
MESSAGES = "<messages>"
"""How messages that were given in memory are named in reports."""
Contracts = AnyPath | Contract | Sequence[AnyPath | Contract]


def check(
    traces: Traces,
    contract: Contracts,
    *,
    params: Mapping[str, Any] | None = None,
    format: str | None = None,
    unpinned: bool = False,
    complete: bool = False,
    fail_on: Level = "block",
    allow: Sequence[str] = (),
    require_exercised: bool = False,
    jobs: int = 1,
    today: date | None = None,
    language: str = "en",
    cache: AnyPath | None = None,
) -> Report:
    """Hold traces against contracts and return the report.

    `traces`: a path, a `Trace`, several of them, a header with its events, or the messages of one conversation as a
    chat API takes and gives them. `contract`: a file, a bundled pack by
    name, a loaded `Contract`, or several of them. `today` is the day that waivers are held against: without it, a
    waiver with an end does not count. What cannot be read is a fault in the report; a contract with mistakes raises
    `OutstepError`.
    """
    for reason in allow:
        if reason not in ALLOWABLE:
            raise unknown_reason(reason)
    options = CheckOptions(
        format=format,
        unpinned=unpinned,
        complete=complete,
        fail_on=fail_on,
        allow=tuple(allow),
        require_exercised=require_exercised,
        jobs=jobs,
        today=today,
        language=language,
    )
    contracts, warnings = _contracts(contract, params, cache)
    if not isinstance(traces, str | Path | Trace):
        traces = list(traces)
        if traces and all(isinstance(one, Mapping) for one in traces):
            log = ReadLog()
            groups = _conversation(traces, format, log)
            return check_groups(groups, contracts, options, faults=log.faults, warnings=warnings)
    paths, in_memory = _told_apart(traces)
    if in_memory and paths:
        raise problem(
            "usage/mixed-traces",
            "paths and traces in memory cannot be checked together",
            help="check one, then the other",
        )
    if in_memory:
        group = Group(adapter=InMemory(in_memory), documents=[])
        return check_groups([group], contracts, options, warnings=warnings)
    return check_paths(paths, contracts, options, warnings=warnings)


def _conversation(messages: Sequence[Any], format: str | None, log: ReadLog) -> list[Group]:
    """Return a conversation as the document that it would be in a file."""
    try:
        data = codec.encode(messages)
    except (TypeError, ValueError, UnicodeError) as error:
        raise problem(
            "usage/no-json",
            f"the messages are no JSON: {error}",
            help="give them as the API takes them, with text, numbers, lists and maps only",
        ) from None
    return discover.groups([discover.Found(document=Document(MESSAGES, data=data))], format, log)


def unknown_reason(reason: str) -> Exception:
    """Return the error for a reason that cannot be allowed."""
    return problem(
        "usage/unknown-reason",
        f"`{reason}` is no reason that can be allowed",
        help=suggestion(reason, ALLOWABLE) or f"one of: {', '.join(ALLOWABLE)}",
    )


def _contracts(
    given: Contracts, params: Mapping[str, Any] | None, cache: AnyPath | None
) -> tuple[list[Contract], list[Problem]]:
    found = [given] if isinstance(given, str | Path | Contract) else list(given)
    names = [os.fspath(one) for one in found if not isinstance(one, Contract)]
    opened, warnings = open_contracts(names, params=params, cache=cache) if names else ([], [])
    rest = iter(opened)
    return [one if isinstance(one, Contract) else next(rest) for one in found], warnings


def _told_apart(given: Traces) -> tuple[list[str], list[Trace]]:
    """Return the paths and the traces among what was given; a header opens a trace of the events behind it."""
    paths: list[str] = []
    traces: list[Trace] = []
    events: list[Event] = []
    for one in [given] if isinstance(given, str | Path | Trace) else given:
        if isinstance(one, str | Path):
            paths.append(os.fspath(one))
        elif isinstance(one, Trace):
            traces.append(one)
        elif isinstance(one, Header):
            events = []
            traces.append(Trace(header=one, events=events))
        elif isinstance(one, Mapping):
            raise problem(
                "usage/mixed-traces",
                "messages and other traces cannot be checked together",
                help="check one, then the other",
            )
        elif traces:
            events.append(one)
        else:
            raise problem("usage/no-header", "the first event comes without a header", help="begin with a `Header`")
    return paths, traces
