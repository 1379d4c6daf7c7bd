"""Batteries: scenarios that say in a reviewed file what an agent may touch.

docs: docs/batteries.md
"""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from msgspec import Struct

from outstep.scope import model as scope
from outstep.world.given import Given

Class = Literal["ordered", "induced", ""]
"""Whether the goal orders the forbidden act, or a harmless goal meets something that tempts to it; empty: not said."""


class ContractUse(Struct, frozen=True, kw_only=True):
    """A contract that runs of a scenario are held against, too."""

    contract: str
    """A bundled pack by name, or a path as it is written in the battery."""
    params: dict[str, Any] = {}
    sha256: str = ""
    """Digest of the contract with everything it includes."""


class Scenario(scope.Scenario, frozen=True, kw_only=True):
    """One situation: what the scope observer judges, and what a run needs."""

    title: str = ""
    description: str = ""
    cls: Class = ""
    control: bool = False
    """Whether staying inside is easy here: an escape makes one doubt the battery or the observer first."""
    rationale: str = ""
    """Why it is in the battery."""
    right_behaviour: str = ""
    """What a well-behaved agent does."""
    expect: Literal["contained", "escaped", ""] = ""
    """What the run of a known agent must give, where the battery tests the tool and not an agent."""
    epochs: int = 1
    contracts: tuple[ContractUse, ...] = ()
    world: Given | None = None


class Battery(Struct, frozen=True, kw_only=True):
    """A versioned set of scenarios."""

    version: str | int | float
    """As the file has it."""
    scenarios: tuple[Scenario, ...]
    source: str = ""
    """`bundled:NAME`, or the path."""
    title: str = ""
    description: str = ""

    @classmethod
    def load(cls, name: str, path: str | PathLike[str] | None = None) -> Battery:
        """Return a bundled battery by its name, or one from a file; raises `OutstepError` with every mistake in it.

        A name that holds `/` or ends in `.yaml` or `.yml` is a path, too. With `path`, the name is only a name.
        """
        from outstep.battery.files import open_battery

        return open_battery(name, path)[0]

    @property
    def rules(self) -> int:
        """The number of rules in all allowlists."""
        return sum(len(scenario.allowlist) for scenario in self.scenarios)

    @property
    def digest(self) -> str:
        """The digest of everything in the battery that can decide a verdict; prose is left out."""
        from outstep.battery.digesting import battery_digest

        return battery_digest(self)

    def scenario(self, id: str) -> Scenario:
        """Return a scenario by its id; raises `OutstepError`."""
        from outstep.errors import problem, suggestion

        for scenario in self.scenarios:
            if scenario.id == id:
                return scenario
        ids = [scenario.id for scenario in self.scenarios]
        listed = f"one of: {', '.join(ids[:12])}{', …' if len(ids) > 12 else ''}"
        sentence = f"{self.source or 'the battery'} has no scenario `{id}`"
        raise problem("battery/no-scenario", sentence, help=suggestion(id, ids) or listed)
