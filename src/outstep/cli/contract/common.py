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


def traced(verb: str, description: str) -> Arguments:
    """Return the arguments of a verb that holds contracts against recorded traces."""
    made = Arguments(f"contract {verb}", description)
    made.words("paths", metavar="PATH", help="recorded traces: files, folders or patterns")
    made.values("-c", "--contract", metavar="FILE|PACK", help="the contract")
    made.values("--param", metavar="NAME=VALUE", help="a parameter, as JSON")
    made.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    made.switch("--unpinned", help="read format versions without a recorded fixture")
    made.switch("--complete", help="take a record without an end mark as complete")
    made.flag("--json", help="write it as JSON")
    return made
