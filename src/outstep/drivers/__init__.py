"""Drivers: what makes an agent act in a world.

docs: docs/drivers.md
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from outstep.drivers.base import Driver, Ending, Limits, Status, Task
from outstep.errors import problem

NAMES = ("openai", "openai-responses", "anthropic", "command", "python")


class Model:
    """A model as it was named: `provider:name`."""

    def __init__(self, given: str) -> None:
        self.provider, _, self.name = given.partition(":")
        if not self.provider or not self.name:
            raise problem(
                "driver/no-provider",
                f"`{given}` does not say whose model it is",
                help="write --model PROVIDER:MODEL, as openai:gpt-5, deepseek:deepseek-chat or llamacpp:any",
            )


def open_driver(model: Model, environment: Mapping[str, str], *, base_url: str = "", connections: int = 64) -> Driver:
    """Return a driver for a model; raises `OutstepError` where a key or a library is missing."""
    from outstep.drivers.providers import provider as find

    provider = find(model.provider, environment)
    if provider.driver not in NAMES:
        raise problem(
            "driver/unknown-driver",
            f"`{model.provider}` wants the driver `{provider.driver}`, which does not exist",
            help=f"one of: {', '.join(NAMES)}",
        )
    module = import_module(f"outstep.drivers.{provider.driver.replace('-', '_')}")
    if provider.driver == "python":
        named: Driver = module.DRIVER.named(model.name)
        return named
    if provider.driver == "command" and provider.program is None:
        raise problem(
            "driver/no-program",
            f"`{model.provider}` says of no program how it is run",
            help="give it a table `program` with a `command`; docs/drivers.md shows one",
        )
    key = provider.key_in(environment)
    if not key and provider.needs_key and not base_url:
        raise problem(
            "driver/no-key",
            f"`{model.provider}` needs a key, and the environment holds none",
            help=f"set {' or '.join(provider.key) or 'its key'}; keys are read from the environment only",
        )
    try:
        driver: Driver = module.DRIVER(provider, base_url or provider.base_url, key, connections)
    except ImportError as error:
        raise problem(
            "driver/no-library",
            f"live runs against `{model.provider}` need a library that is not there: {error.name}",
            help="pip install 'outstep[live]'",
        ) from None
    return driver


__all__ = [
    "NAMES",
    "Driver",
    "Ending",
    "Limits",
    "Model",
    "Status",
    "Task",
    "open_driver",
]
