"""What is known of providers, as data: endpoints, keys, quirks.

docs: docs/drivers.md#providers
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from outstep.drivers.program import Program
from outstep.errors import Place, problem, suggestion


class Provider(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider."""

    driver: str
    base_url: str = ""
    key: tuple[str, ...] = ()
    """Environment variables that may hold the key, the first that is set counts."""
    needs_key: bool = True
    rename: dict[str, str] = {}
    """Parameters that it knows by another name."""
    drop: tuple[str, ...] = ()
    """Parameters that it refuses, and that are not sent."""
    ignored: tuple[str, ...] = ()
    """Parameters that it accepts without effect."""
    send_back: tuple[str, ...] = ()
    """Members of its messages that must be sent back to it."""
    empty_content: bool = False
    """Whether a message with calls and no text must say `""` and not `null`."""
    mend_arguments: bool = False
    """Whether arguments that are no JSON break the next request, and are sent back as text in an object."""
    program: Program | None = None
    """What is run, where the agent is a program (driver `command`)."""
    model_failures: tuple[str, ...] = ()
    """Parts of messages that tell a failure of the model as one of the server: asking again would draw anew."""

    def parameters(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that are sent."""
        return {self.rename.get(name, name): value for name, value in asked.items() if name not in self.drop}

    def key_in(self, environment: Mapping[str, str]) -> str:
        """Return the key, or an empty text."""
        return next((environment[name] for name in self.key if environment.get(name)), "")


def provider(name: str, environment: Mapping[str, str]) -> Provider:
    """Return a provider by its name; raises `OutstepError`."""
    known = _bundled()
    if file := environment.get("OUTSTEP_PROVIDERS", ""):
        try:
            with open(file, "rb") as opened:
                own = tomllib.load(opened)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise problem(
                "driver/providers",
                f"`{file}` cannot be read: {error}",
                place=Place(source=file),
                help="OUTSTEP_PROVIDERS names a TOML file, docs/drivers.md shows one",
            ) from None
        known = {**known, **_checked(own, file)}
    if name not in known:
        raise problem(
            "driver/unknown-provider",
            f"there is no provider `{name}`",
            help=suggestion(name, list(known)) or f"one of: {', '.join(known)}; write --model PROVIDER:MODEL",
        )
    return known[name]


def _bundled() -> dict[str, Provider]:
    text = files("outstep.drivers").joinpath("providers.toml").read_text("utf-8")
    return _checked(tomllib.loads(text), "providers.toml")


def _checked(entries: Mapping[str, Any], source: str) -> dict[str, Provider]:
    try:
        return msgspec.convert(entries, dict[str, Provider])
    except msgspec.ValidationError as error:
        raise problem(
            "driver/providers",
            f"`{source}` is no list of providers: {error}",
            place=Place(source=source),
            help="docs/drivers.md says which keys a provider has",
        ) from None
