"""Renderers: one module a report format, report in and text out, loaded by name (docs/cli.md#output)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from outstep.errors import problem, suggestion

if TYPE_CHECKING:
    from outstep.findings import Report
    from outstep.render.style import Style
    from outstep.render.timelines import Timeline

NAMES: tuple[str, ...] = ("terminal", "json", "markdown", "junit", "sarif", "github", "gitlab", "html")
"""The formats in which a report can be written."""
SHOWING: tuple[str, ...] = ("html",)
"""Those that also show what happened: their `render` takes timelines besides (`render/timelines.py`)."""


class Renderer(Protocol):
    """One format. A module `render/<name>.py` offers `render`."""

    def render(self, report: Report, style: Style) -> str:
        """Return the whole report as text, hostile parts escaped for the place where they appear."""
        ...


def rendered(name: str, report: Report, style: Style, timelines: Sequence[Timeline] = ()) -> Iterable[str]:
    """Return a report in a format, in parts where it may be large; `timelines` are for those that show a run."""
    if name == "html":
        from outstep.render import html

        return html.parts(report, style, timelines)
    if name == "json":
        from outstep.render import json

        return json.parts(report)
    return (renderer(name).render(report, style),)


def renderer(name: str) -> Renderer:
    """Return the renderer of a format; raises `OutstepError` for a name that nobody offers."""
    if name not in NAMES:
        raise problem(
            "usage/unknown-output",
            f"no report format is called `{name}`",
            help=suggestion(name, NAMES) or f"one of: {', '.join(NAMES)}",
        )
    return cast("Renderer", import_module(f"outstep.render.{name}"))
