"""The table of functions; adding one is one entry in the family where it belongs."""

from __future__ import annotations

from outstep.expr import evidence, lists, standard, strings
from outstep.expr.function import Function

TABLE: dict[str, Function] = {
    function.name: function
    for family in (standard.FUNCTIONS, strings.FUNCTIONS, lists.FUNCTIONS, evidence.FUNCTIONS)
    for function in family
}

REFUSED = {
    "type": "types are not values here",
    "dyn": "types are not values here",
    "bytes": "bytes are not offered",
    "uint": "unsigned ints are not offered: ints are of any size",
    "now": "there is no clock: a verdict must not depend on when it is asked",
    "format": "`format` is not offered: join texts with `+`",
}
"""CEL functions that are left out on purpose, and why."""
