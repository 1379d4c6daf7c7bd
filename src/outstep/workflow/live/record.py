"""The record of one live run: a run record that `outstep report` reads, with everything else that is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from outstep import codec
from outstep.containment.record import RecordedAction
from outstep.containment.report import Fate
from outstep.errors import Place, problem
from outstep.events import Event
from outstep.world.matching import every_deed

SCHEMA = "run/v1"
_FATES: dict[str, Fate] = {"ok": "succeeded", "failed": "executed", "unknown": "executed", "denied": "refused"}


class LiveRun(Struct, frozen=True, kw_only=True):
    """What is known of one run."""

    schema: str = SCHEMA
    scenario: str
    status: str
    reason: str = ""
    sentence: str = ""
    model: str
    harness: str = ""
    """The program that acted, as it names itself, with its version."""
    epoch: int
    seed: int
    actions: tuple[RecordedAction, ...] = ()
    turns: int = 0
    retries: int = 0
    usage: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = {}
    """As they were sent."""
    seconds: float = 0.0
    gate: str = ""
    """What its contracts say: pass, block, inconclusive, error; empty without any."""
    violated: tuple[str, ...] = ()
    """Rules of level block."""
    disagreements: int = 0
    """Between the agent's record and the world's."""
    files: Mapping[str, str] = {}
    """sha256 of each file."""


def actions_of(events: Sequence[Event]) -> tuple[RecordedAction, ...]:
    """Return what was attempted, and how far each attempt got."""
    return tuple(
        RecordedAction(
            tool=call.tool,
            args=call.args_raw if call.args_raw is not None else codec.loads(call.args) if bytes(call.args) else {},
            raw=call.args_raw or "",
            fate="attempted" if result is None else _FATES.get(result.outcome, "attempted"),
        )
        for call, result in ((deed.call, deed.result) for deed in every_deed(events))
    )


def read_run(file: str) -> LiveRun:
    """Return the record of a run; raises `OutstepError`."""
    try:
        with open(file, "rb") as opened:
            return msgspec.json.decode(opened.read(), type=LiveRun)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise problem(
            "run/no-record",
            f"`{file}` is no record of a run: {error}",
            place=Place(source=file),
            help="remove the folder of this run, and make it again with --resume",
        ) from None
