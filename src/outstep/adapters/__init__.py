"""Adapters: one module a raw format, loaded by name when a document asks for it (docs/adapters/README.md)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from outstep.errors import problem, suggestion

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter

NAMES: tuple[str, ...] = ("native", "dsh", "anthropic-messages", "openai-chat", "qwen-code")
"""The formats read here, in the order in which they are asked whether a document is theirs."""

ENTRY_POINTS = "outstep.adapters"
"""Entry point group in which other packages offer adapters."""


def adapter(name: str) -> Adapter:
    """Return the adapter of a format; raises `OutstepError` for a name that nobody offers."""
    if name in NAMES:
        module = import_module(f"outstep.adapters.{name.replace('-', '_')}")
        return cast("Adapter", module.ADAPTER)
    offered = _third_parties()
    if name in offered:
        return _load(name, offered[name])
    known = (*NAMES, *sorted(offered))
    raise problem(
        "adapter/unknown-format",
        f"no adapter is called `{name}`",
        help=suggestion(name, known) or f"one of: {', '.join(known)}",
    )


def names() -> tuple[str, ...]:
    """Return every format that can be read, those of other packages last."""
    return (*NAMES, *(name for name in sorted(_third_parties()) if name not in NAMES))


@cache
def _third_parties() -> dict[str, str]:
    from importlib.metadata import entry_points  # slow, and seldom asked for

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def _load(name: str, where: str) -> Adapter:
    """Import `module` or `module:attribute`; what fails in it is reported by name."""
    module, _, attribute = where.partition(":")
    try:
        return cast("Adapter", getattr(import_module(module), attribute or "ADAPTER"))
    except Exception as error:
        raise problem(
            "adapter/broken",
            f"the adapter `{name}` of another package cannot be loaded from `{where}`: {error}",
            help="repair or remove the package that offers it",
        ) from error
