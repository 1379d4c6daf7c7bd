"""What the verbs of `outstep contract` share: contracts by name, and their parameters."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli.arguments import Arguments, Given
from outstep.errors import problem


def parser(verb: str, description: str) -> Arguments:
    """Return the arguments of a verb that takes contracts and parameters."""
    made = Arguments(f"contract {verb}", description)
    made.words("contracts", metavar="FILE|PACK", help="contracts, or bundled packs by name")
    made.values("--param", metavar="NAME=VALUE", help="a parameter, as JSON")
    return made


def given(arguments: Arguments, words: Sequence[str]) -> Given:
    """Return what was given; at least one contract."""
    found = arguments.read(words)
    if not found.contracts:
        raise problem("usage/no-contract", "no contract was named", help="name a file or a pack")
    found.param = found.param or []
    return found
