"""The tools of a world file, carried out: the first case that fits answers, and its `set` gives the next state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from outstep import codec
from outstep.errors import OutstepError, Place, Problem
from outstep.expr.values import Value
from outstep.world.expressions import is_true, shaped, value_of
from outstep.world.model import Case, MockTool, WorldFile
from outstep.world.paths import put, removed
from outstep.world.tools import Reply, Tool
from outstep.world.world import Around


class MockActor:
    """Acts as a world file says."""

    def __init__(self, file: WorldFile) -> None:
        self._file = file
        self._tools = {mock.tool.name: mock for mock in file.tools}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What an agent may be told of."""
        return tuple(mock.tool for mock in self._file.tools)

    def key(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> str | None:
        """Return the idempotency key of a call, or none."""
        mock = self._tools[tool]
        if mock.key is None:
            return None
        key = value_of(mock.key, _Names(mock, state, args, around))
        return None if key is None else codec.encode(key).decode()

    def act(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> tuple[Reply, Any]:
        """Return the reply to a call, and the state after it."""
        mock = self._tools[tool]
        names = _Names(mock, state, args, around)
        # The last case has no `when`: the loader sees to it.
        case = next(case for case in mock.cases if case.when is None or is_true(case.when, names))
        return self._answer(case, state, names)

    def _answer(self, case: Case, state: Any, names: _Names) -> tuple[Reply, Any]:
        after = state
        for path, shape in case.set:
            after = put(after, path, shaped(shape, names), names)
        for path in case.remove:
            after = removed(after, path, names)
        refusal = self._broken_move(state, after)
        if refusal is not None:
            return refusal, state
        self._hold_schema(after)
        answer = shaped(case.reply, names)
        seconds = case.seconds
        if isinstance(answer, str):
            return Reply(outcome=case.outcome, text=answer, seconds=seconds), after
        return Reply(outcome=case.outcome, data=answer, seconds=seconds), after

    def _broken_move(self, before: Any, after: Any) -> Reply | None:
        for machine in self._file.machines:
            for id, old, new in _moves(before, after, machine.of, machine.field):
                if new not in machine.moves.get(old, ()):
                    message = f"{machine.name} {id} is {old} and cannot become {new}"
                    return Reply(outcome="failed", data={"error": "illegal-state", "message": message})
        return None

    def _hold_schema(self, state: Any) -> None:
        if self._file.schema is None:
            return
        from outstep.world.arguments import misfit

        if sentence := misfit(state, self._file.schema):
            raise OutstepError(
                Problem(
                    code="world/state",
                    sentence=f"a call leaves a state that its schema forbids: {sentence}",
                    place=Place(source=self._file.source) if self._file.source else None,
                    help="mend `set` of the case, or `schema`",
                )
            )


def _moves(before: Any, after: Any, of: str, field: str) -> Iterator[tuple[str, str, str]]:
    """Yield every entity whose field changed: its id, the old value and the new one."""
    for id, entity in after[of].items():
        old = before[of].get(id)
        if isinstance(old, dict) and isinstance(entity, dict) and old.get(field) != entity.get(field):
            yield id, str(old.get(field)), str(entity.get(field))


class _Names(Mapping[str, Value]):
    """The names of one call; a `let` is worked out when it is asked for."""

    def __init__(self, mock: MockTool, state: Any, args: dict[str, Any], around: Around) -> None:
        self._lets = dict(mock.lets)
        self._values: dict[str, Value] = {"state": state, "args": args, "now": around.moment, "call": around.nth}

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = value_of(self._lets[name], self)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._values
        yield from (name for name in self._lets if name not in self._values)

    def __len__(self) -> int:
        return len(self._values.keys() | self._lets.keys())
