"""CEL, exact: parse, check, evaluate, compile (LANGUAGE section 7, SEMANTICS section 4).

`outstep.expr.parse.parse`, `outstep.expr.check.check` and `outstep.expr.evaluate.evaluate` are asked of their modules;
the names here are found when they are first used, so a run with a cached contract never loads the parser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outstep.expr.check import Scope
    from outstep.expr.compile import Bind, Constants, compile_truth, compile_value
    from outstep.expr.core import Env
    from outstep.expr.lex import ExprError
    from outstep.expr.nodes import Node, conjuncts, names_of, paths_of, walk
    from outstep.expr.parse import RESERVED
    from outstep.expr.values import (
        Absent,
        CutText,
        Duration,
        Hidden,
        Lookup,
        Maybe,
        Missing,
        Moment,
        TooCostly,
        Undecided,
        Value,
        equal,
        key_of,
        less,
        show,
    )
    from outstep.expr.written import text_of

__all__ = [
    "RESERVED",
    "Absent",
    "Bind",
    "Constants",
    "CutText",
    "Duration",
    "Env",
    "ExprError",
    "Hidden",
    "Lookup",
    "Maybe",
    "Missing",
    "Moment",
    "Node",
    "Scope",
    "TooCostly",
    "Undecided",
    "Value",
    "compile_truth",
    "compile_value",
    "conjuncts",
    "equal",
    "key_of",
    "less",
    "names_of",
    "paths_of",
    "show",
    "text_of",
    "walk",
]

_HOMES = {
    "check": ("Scope",),
    "compile": ("Bind", "Constants", "compile_truth", "compile_value"),
    "core": ("Env",),
    "lex": ("ExprError",),
    "nodes": ("Node", "conjuncts", "names_of", "paths_of", "walk"),
    "parse": ("RESERVED",),
    "values": (
        *("Absent", "CutText", "Duration", "Hidden", "Lookup", "Maybe", "Missing", "Moment", "TooCostly", "Undecided"),
        *("Value", "equal", "key_of", "less", "show"),
    ),
    "written": ("text_of",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the module of a public name."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(name)
    return getattr(import_module(f"outstep.expr.{home}"), name)
