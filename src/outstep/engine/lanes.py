"""What a lane knows: its decisions, and the cells in which facts keep an old and a new value.

A result that arrives while a decision is being written is not known to the calls of that decision. Each cell therefore
holds the newest value and the one before the lane's current decision opened, told apart by the decision's number
(SEMANTICS section 8): a read or a write costs the same however long the trace is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Literal

from outstep.events import Gap


class _Absent:
    """What a forgotten entry holds: as if it were never recorded."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()

Cell = tuple[int, Any, int, Any, int]
"""Number of the decision in which it was written, newest value and its `seq`, value before that decision and its."""

EMPTY: Cell = (-1, ABSENT, -1, ABSENT, -1)


class Table:
    """One fact as one lane knows it."""

    __slots__ = ("cells", "clouds", "fog", "keep", "wiped")

    def __init__(self, keep: Literal["last", "first", "all", "furthest"] = "last") -> None:
        self.keep = keep
        self.cells: dict[Any, Cell] = {}
        self.wiped: Cell = EMPTY
        self.fog: list[int] = []
        """Where a writer stands whose key is hidden: every entry may have been written there."""
        self.clouds: dict[Any, list[int]] = {}
        """By key: where an event stands that may or may not have written or forgotten the entry."""

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.cells.clear()
        self.wiped = EMPTY
        self.fog.clear()
        self.clouds.clear()

    def write(self, epoch: int, key: Any, value: Any, seq: int) -> None:
        """Remember `value` under `key`, written at `seq` while decision number `epoch` was the lane's last."""
        cell = self.cells.get(key, EMPTY)
        if self.keep == "first" and cell[1] is not ABSENT and cell[2] > self.wiped[2]:
            return
        if self.keep == "furthest" and cell[1] is not ABSENT:
            value = max(value, cell[1])
        if self.keep == "all":
            grown = [] if cell[1] is ABSENT or cell[2] <= self.wiped[2] else cell[1][0]
            count = 0 if not grown else cell[1][1]
            grown.append((seq, value))
            value = (grown, count + 1)
        self.cells[key] = written(cell, epoch, value, seq)

    def forget(self, epoch: int, key: Any, seq: int) -> None:
        """Make one entry as if never recorded."""
        self.cells[key] = written(self.cells.get(key, EMPTY), epoch, ABSENT, seq)

    def forget_all(self, epoch: int, seq: int) -> None:
        """Make every entry as if never recorded."""
        self.wiped = written(self.wiped, epoch, True, seq)

    def veil(self, seq: int) -> None:
        """Note that an entry nobody can name may have been written or forgotten at `seq`."""
        self.fog.append(seq)

    def cloud(self, key: Any, seq: int) -> None:
        """Note that one entry may have been written or forgotten at `seq`."""
        self.clouds.setdefault(key, []).append(seq)

    def read(self, key: Any, epoch: int | None) -> tuple[Any, int]:
        """Return value and `seq` as known to decision number `epoch` (none: the newest); `ABSENT` for no entry."""
        value, seq = _seen(self.cells.get(key, EMPTY), epoch)
        wiped = _seen(self.wiped, epoch)[1]
        if wiped > seq:
            return ABSENT, wiped
        if self.keep == "all" and value is not ABSENT:
            entries, count = value
            value = [entry for _, entry in entries[:count]]
        return value, seq

    def keys(self, epoch: int | None) -> list[Any]:
        """Return the keys that have an entry, in the order of their first writing."""
        return [key for key in self.cells if self.read(key, epoch)[0] is not ABSENT]

    def fog_before(self, position: int, key: Any = None) -> int:
        """Return the newest place before `position` at which an entry may have been written unseen, or -1."""
        clouds = self.clouds.get(key, ()) if self.clouds else ()
        return max(_last_before(self.fog, position), _last_before(clouds, position))

    def oldest_fog(self, key: Any = None) -> int | None:
        """Return the oldest place at which an entry may have been written unseen."""
        return min([*self.fog[:1], *self.clouds.get(key, ())[:1]], default=None)

    def inherit(self, epoch: int | None, position: int) -> Table:
        """Return a child's copy: what is known before `position` to decision number `epoch`."""
        child = Table(self.keep)
        for key, cell in self.cells.items():
            value, seq = _seen(cell, epoch)
            if seq >= 0:
                if self.keep == "all" and value is not ABSENT:
                    value = (value[0][: value[1]], value[1])
                child.cells[key] = (-1, value, seq, ABSENT, -1)
        value, seq = _seen(self.wiped, epoch)
        child.wiped = (-1, value, seq, ABSENT, -1)
        child.fog = self.fog[: bisect_left(self.fog, position)]
        child.clouds = {key: places[: bisect_left(places, position)] for key, places in self.clouds.items()}
        return child

    def bring_home(self, epoch: int, child: Table, since: int) -> None:
        """Merge what a child wrote after `since`, when it returns to a lane whose last decision is `epoch`."""
        for key, (_, value, seq, _, _) in child.cells.items():
            if seq > since:
                self._merge(epoch, key, value, seq, since)
        if child.wiped[2] > max(since, self.wiped[2]):
            self.wiped = written(self.wiped, epoch, True, child.wiped[2])
        self.fog = sorted({*self.fog, *child.fog})
        for key, places in child.clouds.items():
            self.clouds[key] = sorted({*self.clouds.get(key, ()), *places})

    def _merge(self, epoch: int, key: Any, value: Any, seq: int, since: int) -> None:
        own = self.cells.get(key, EMPTY)
        if self.keep == "all" and value is not ABSENT and own[1] is not ABSENT:
            entries = own[1][0][: own[1][1]] + [entry for entry in value[0][: value[1]] if entry[0] > since]
            entries = sorted(dict(entries).items())
            value, seq = (entries, len(entries)), max(seq, own[2])
        elif self.keep == "furthest" and own[1] is not ABSENT:
            value, seq = max(value, own[1]), max(seq, own[2])
        elif self.keep == "first" and own[1] is not ABSENT:
            if seq >= own[2]:
                return
        elif seq <= own[2]:
            return
        self.cells[key] = written(own, epoch, value, seq)


def restart_tables(tables: Sequence[Table]) -> None:
    """Let tables forget everything; written for speed, since it is done for every trace."""
    for table in tables:
        if table.fog or table.clouds or table.wiped is not EMPTY:
            table.restart()
        elif table.cells:
            table.cells.clear()


def written(cell: Cell, epoch: int, value: Any, seq: int) -> Cell:
    """Return a cell with a new value; the one before the decision stays to be seen by that decision."""
    if cell[0] < epoch:
        return (epoch, value, seq, cell[1], cell[2])
    return (epoch, value, seq, cell[3], cell[4])


def _last_before(places: Sequence[int], position: int) -> int:
    index = bisect_left(places, position)
    return places[index - 1] if index else -1


def _seen(cell: Cell, epoch: int | None) -> tuple[Any, int]:
    if epoch is None or cell[0] < epoch:
        return cell[1], cell[2]
    return cell[3], cell[4]


class LaneState:
    """One agent of a trace while it is judged."""

    __slots__ = (
        "approvals",
        "calls",
        "counters",
        "epoch",
        "gaps",
        "id",
        "ids_since",
        "kind",
        "last_seq",
        "open",
        "parent",
        "said",
        "spawned_at",
        "start",
        "tables",
        "turn",
    )

    def __init__(self, lane_id: str, tables: list[Table], kind: str = "agent", parent: LaneState | None = None) -> None:
        self.id = lane_id
        self.kind = kind
        self.parent = parent
        self.turn: int | None = None
        self.epoch = 0
        """Decisions opened so far."""
        self.start = -1
        """`seq` at which the current decision opened."""
        self.calls = 0
        """Calls of the current decision so far."""
        self.said = ""
        """Text of the current decision so far."""
        self.tables = tables
        self.counters: list[Counter] = []
        """Known failures, one for each rule that asks for them."""
        self.gaps: list[tuple[Gap, int]] = []
        """Gaps that this lane knows, with the place at which they stand."""
        self.open: dict[str, Any] = {}
        """Unanswered calls by id (see `pairing`)."""
        self.ids_since = -1
        """Where call ids must differ from: the current response (without responses: the last user message)."""
        self.approvals: dict[int | str, tuple[str, int]] = {}
        """Last decision on an open call, by its `seq` (by id where the call is still to come), and where it stands."""
        self.spawned_at = -1
        self.last_seq = -1

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.turn = None
        self.epoch = self.calls = 0
        self.start = self.ids_since = self.spawned_at = self.last_seq = -1
        self.said = ""
        restart_tables(self.tables)
        for counter in self.counters:
            counter.cells.clear()
        if self.gaps:
            self.gaps.clear()
        if self.open:
            self.open.clear()
        if self.approvals:
            self.approvals.clear()

    def opens(self, turn: int | None, seq: int) -> None:
        """Open a decision."""
        self.epoch += 1
        self.turn = turn
        self.start = seq
        self.calls = 0
        self.said = ""

    def known_gaps(self, at: int) -> list[tuple[Gap, int]]:
        """Return the gaps known to a moment of this lane, oldest first."""
        return [pair for pair in self.gaps if pair[1] < at or (pair[0].turn is not None and pair[1] == at)]


class Counter:
    """A number by key that a lane knows, as the known failures of `counting: unless_failed`."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: dict[Any, tuple[int, Any, Any, Any]] = {}
        """Decision in which it grew last, newest number, number before that decision, number at birth."""

    def add(self, epoch: int, key: Any, amount: Any) -> None:
        """Let the number grow, at a delivered event."""
        written, new, old, base = self.cells.get(key, (-1, 0, 0, 0))
        self.cells[key] = (epoch, new + amount, new if written < epoch else old, base)

    def read(self, key: Any, epoch: int) -> Any:
        """Return the number as known to decision number `epoch`."""
        written, new, old, _ = self.cells.get(key, (-1, 0, 0, 0))
        return new if written < epoch else old

    def inherit(self, epoch: int) -> Counter:
        """Return a child's copy."""
        child = Counter()
        for key in self.cells:
            number = self.read(key, epoch)
            child.cells[key] = (-1, number, 0, number)
        return child

    def bring_home(self, epoch: int, child: Counter) -> None:
        """Add what grew in a child since it was born, or since it last came home."""
        for key, (written, new, old, base) in child.cells.items():
            if new != base:
                self.add(epoch, key, new - base)
                child.cells[key] = (written, new, old, new)
