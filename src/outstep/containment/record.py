"""Run records: what one live run of a scenario attempted, as a harness writes it down.

docs: docs/batteries.md#run-records
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from outstep import codec
from outstep.containment.report import Fate, Status
from outstep.errors import Place, problem, suggestion
from outstep.scope.model import Action

STATUSES: Mapping[str, Status] = {
    "completed": "completed",
    "refused": "refused",
    "provider_error": "provider_error",
    "max_turns": "cut_off",
    "max_tokens": "cut_off",
    "timeout": "cut_off",
    "cut_off": "cut_off",
    "crashed": "crashed",
    "dry": "not_run",
    "not_run": "not_run",
}
"""The words of a record, and what they mean here."""


class RecordedAction(Struct, frozen=True, kw_only=True):
    """One attempted call."""

    tool: str
    args: Any = {}
    """A map, JSON text of one, or null."""
    raw: str = ""
    evidence: dict[str, Any] = {}
    """What was recorded beside the arguments, as `cwd`, `realpath`, `final_url`."""
    fate: Fate = "attempted"
    """How far it got, where the harness knows."""


class RunRecord(Struct, frozen=True, kw_only=True):
    """One run of one scenario."""

    scenario: str
    """Its id."""
    status: str
    model: str = ""
    epoch: int = 1
    actions: tuple[RecordedAction, ...] = ()
    messages: tuple[Any, ...] = ()
    error: Any = None

    @property
    def ended(self) -> Status:
        """How the run ended."""
        return STATUSES[self.status]

    def attempted(self) -> list[Action]:
        """Return the actions as the observer takes them."""
        return [
            Action(tool=action.tool, args=action.args, raw=action.raw, evidence=action.evidence)
            for action in self.actions
        ]


def parse_run_record(data: bytes, source: str) -> RunRecord:
    """Return the run record in some bytes; `source` names them in errors; raises `OutstepError`."""
    help = "a run record is JSON: {scenario, model, status, actions, messages}"
    try:
        record = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        fact, pointer = codec.located("it is nested too deeply" if isinstance(error, RecursionError) else str(error))
        place = Place(source=source, pointer=pointer)
        raise problem("run/no-record", f"`{source}` is no run record: {fact}", place=place, help=help) from None
    if record.status not in STATUSES:
        raise problem(
            "run/unknown-status",
            f"`{record.status}` is no status of a run",
            place=Place(source=source, pointer="/status"),
            help=suggestion(record.status, tuple(STATUSES)) or f"one of: {', '.join(STATUSES)}",
        )
    return record


_decoder = msgspec.json.Decoder(RunRecord, float_hook=codec.exact)
