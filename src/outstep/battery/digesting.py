"""The digest of a battery: of everything in it that can decide a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from outstep.containment.report import digest

if TYPE_CHECKING:
    from outstep.battery.model import Battery

PROSE = ("title", "description", "rationale", "right_behaviour")
"""Members of a scenario that no agent and no judge sees."""


def battery_digest(battery: Battery) -> str:
    """Return `sha256:` and the digest of `version` and `scenarios` as compact JSON with sorted members.

    Members that have their default are left out: what a later version adds changes no digest of an older battery.
    """
    scenarios = [decisive(scenario, PROSE) for scenario in battery.scenarios]
    return digest({"version": battery.version, "scenarios": scenarios})


def decisive(value: Any, without: tuple[str, ...] = ()) -> Any:
    """Return a value as JSON, members that have their default left out."""
    if isinstance(value, Struct):
        given = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.encode_name: decisive(item)
            for field, item in given
            if field.name not in without and not _is_default(field, item)
        }
    if isinstance(value, dict):
        return {name: decisive(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [decisive(item) for item in value]
    return value


def _is_default(field: FieldInfo, value: Any) -> bool:
    if field.default_factory is not NODEFAULT:
        return bool(value == field.default_factory())
    return field.default is not NODEFAULT and bool(value == field.default)
