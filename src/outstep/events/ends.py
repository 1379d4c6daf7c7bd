"""Events of one family: where a record has holes, and how it ends."""

from typing import Literal

from msgspec import Struct

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class Gap(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="gap", tag_field="type"):
    """A place where events may be hidden: lost, cut off or damaged records (SEMANTICS section 7)."""

    seq: int
    turn: int | None = None
    """None: whole decisions may be hidden here; a number: events of that turn."""
    agent: str | None = None
    """None: every lane."""
    may_hide: tuple[str, ...] = ()
    """Event types; empty: any."""
    reason: str = ""
    """Why something may be missing here, shown to people."""

    def can_hide(self, *types: str) -> bool:
        """Return whether an event of one of `types` may be hidden here."""
        return not self.may_hide or any(type_ in self.may_hide for type_ in types)


class RunEnd(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="run.end", tag_field="type"):
    """How the run ended: by itself, stopped from outside, or the record stops."""

    seq: int
    time: float | None = None
    end: Literal["completed", "aborted", "cut_off"] = "completed"
    reason: str = ""
