"""Names that rules and groups give to expressions (`let`), read where they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from outstep.contracts.bindings import Names
from outstep.contracts.reading import Piece, Reading, ordered
from outstep.contracts.report import Span
from outstep.contracts.selectors import Expr
from outstep.expr.nodes import names_of


class Let(Struct, frozen=True, kw_only=True):
    """One name of a `let`."""

    name: str
    key: Span
    piece: Piece | None
    expr: Expr | None
    """None after a mistake in its form."""
    beside: tuple[str, ...] = ()
    """Names of the same `let` and of those around it."""


def settle(
    lets: tuple[Let, ...],
    used: Iterable[str],
    checked: Iterable[str],
    reading: Reading,
    names: Callable[[tuple[str, ...]], Names],
) -> tuple[tuple[str, Expr], ...]:
    """Return the names that a rule needs, each behind those that it uses itself.

    Those, and the ones in `checked`, are held against what is bound where the rule reads them.
    """
    by_name = {let.name: let for let in lets}
    needs = {
        let.name: tuple(name for name in names_of(let.expr.node) if name in by_name) if let.expr is not None else ()
        for let in lets
    }
    order, looping = ordered(by_name, needs)
    for name in looping:
        reading.report.error("cycle", f"`{name}` in `let` needs its own value", by_name[name].key)
    wanted = _closure([name for name in used if name in by_name], needs)
    for name in wanted:
        reading.use("let", f"{by_name[name].key.file.index}:{by_name[name].key.start}")
    for name in dict.fromkeys((*wanted, *checked)):
        let = by_name[name]
        if let.expr is not None and let.piece is not None:
            reading.check(let.expr, let.piece, names(let.beside))
    return tuple((name, expr) for name in order if name in wanted and (expr := by_name[name].expr) is not None)


def _closure(names: list[str], needs: dict[str, tuple[str, ...]]) -> dict[str, None]:
    found: dict[str, None] = {}
    rest = list(names)
    while rest:
        name = rest.pop()
        if name not in found:
            found[name] = None
            rest.extend(needs[name])
    return found
