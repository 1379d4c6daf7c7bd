"""Which selectors pick everything that others pick: sound, and silent where the text does not settle it."""

from __future__ import annotations

from outstep.contracts.names import EFFECTS, glob_fits, is_glob
from outstep.contracts.selectors import Selector
from outstep.expr import logic
from outstep.expr.logic import NO_LETS


def picks_all_of(wide: Selector, narrow: Selector, *, with_results: bool = True) -> bool:
    """Return whether every event of `narrow` is one of `wide`, or (with results) the result of a call of it."""
    what = narrow.what.removeprefix("its ")
    if wide.what == what:
        if wide.outcome is not None and wide.outcome != narrow.outcome:
            return False
        if wide.where is not None and not _is_same(wide, narrow):
            return False
    elif not with_results or (wide.what, what) != ("call", "result") or wide.where is not None:
        return False
    return wide.by == narrow.by and names_cover(wide.names, narrow.names)


def names_cover(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """Return whether some names stand for every tool (or claim) that others stand for."""
    if not wide or "*" in wide:
        return True
    return bool(narrow) and all(any(_covers(one, name) for one in wide) for name in narrow)


def _covers(wide: str, name: str) -> bool:
    if wide == name:
        return True
    is_plain = not is_glob(name) and name[:1] != "@"
    return is_plain and is_glob(wide) and glob_fits(wide, name) and name not in EFFECTS


def _is_same(one: Selector, other: Selector) -> bool:
    if one.where is None or other.where is None:
        return one.where is other.where
    return bool(logic.shape(one.where.node, NO_LETS) == logic.shape(other.where.node, NO_LETS))
