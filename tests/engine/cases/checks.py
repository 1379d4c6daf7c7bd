"""What the cases of `python` ask: small functions of a trace, each as a person would write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def never_pay(trace: Any) -> Iterator[Any]:
    for event in trace.events:
        if event["type"] == "tool.call" and event["tool"] == "pay":
            yield "a payment was made", event


def calls_only(trace: Any) -> Any:
    return list(never_pay(trace))


calls_only.reads = ["tool.call"]  # type: ignore[attr-defined]


def no_state(trace: Any) -> Any:
    return ["there is a snapshot"] if any(event["type"] == "state" for event in trace.events) else []


no_state.reads = ("state",)  # type: ignore[attr-defined]


def pays_at_most(trace: Any) -> Any:
    paid = [event for event in trace.events if event["type"] == "tool.call" and event["tool"] == "pay"]
    total = sum(event["args"]["sum"] for event in paid)
    if total > trace.params["limit"]:
        return (f"{total} was paid", *paid)
    return None


def all_went_well(trace: Any) -> Iterator[Any]:
    calls = {event["seq"]: event for event in trace.events if event["type"] == "tool.call"}
    for event in trace.events:
        if event["type"] == "tool.result" and event["outcome"] != "ok":
            yield f"`{event['tool']}` ended {event['outcome']}", calls[event["call"]]["seq"], event


def finds_the_run(_: Any) -> str:
    return "something about the whole run"


def raises(trace: Any) -> Any:
    return trace.events[0]["no such member"]


def ends_the_process(_: Any) -> Any:
    raise SystemExit(0)


def returns_nonsense(_: Any) -> Any:
    return [17]


def returns_a_number(_: Any) -> Any:
    return 17


def names_an_event_that_is_not_there(_: Any) -> Any:
    return [("here", 999)]


def never_ends(_: Any) -> Iterator[str]:
    while True:
        yield "and another one"


def changes_the_trace(trace: Any) -> Any:
    trace.events.clear()


def reads_nonsense(_: Any) -> Any:
    return None


reads_nonsense.reads = "tool.call"  # type: ignore[attr-defined]
