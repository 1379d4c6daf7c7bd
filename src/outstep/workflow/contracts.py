"""Contracts by name: a file, or a pack that comes with Outstep."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from outstep.contracts import packs
from outstep.contracts.model import Contract
from outstep.errors import OutstepError, Problem, problem, suggestion


def open_contract(
    name: str, *, params: Mapping[str, Any] | None = None, cache: str | os.PathLike[str] | None = None
) -> tuple[Contract, tuple[Problem, ...]]:
    """Return a checked contract and its warnings; raises `OutstepError` with every mistake in it.

    `name` is a path, or a pack by its name; `cache` is a directory in which checked contracts are kept.
    """
    if is_pack(name):
        from outstep.contracts.bundled import load_pack

        return load_pack(name, params)
    if not os.path.exists(name):
        raise problem(
            "contract/not-found",
            f"there is no contract `{name}`",
            help=suggestion(name, packs.NAMES) or f"give a file, or a pack: {', '.join(packs.NAMES)}",
        )
    from outstep import contract_cache

    store = contract_cache.ContractCache(cache) if cache is not None else None
    kept = contract_cache.open_contract(name, params=params, cache=store)
    return kept.contract, kept.warnings


def open_contracts(
    names: Sequence[str], *, params: Mapping[str, Any] | None = None, cache: str | os.PathLike[str] | None = None
) -> tuple[list[Contract], list[Problem]]:
    """Return several checked contracts and their warnings; raises `OutstepError` with every mistake in all of them.

    Each contract takes those of `params` that it has; a parameter that none of them has is a mistake.
    """
    contracts: list[Contract] = []
    warnings: list[Problem] = []
    problems: list[Problem] = []
    unclaimed = dict.fromkeys(params or ())
    for name in names:
        own = params
        try:
            if params and len(names) > 1:
                known = open_contract(name, cache=cache)[0].params
                own = {param: value for param, value in params.items() if param in known}
            contract, more = open_contract(name, params=own, cache=cache)
        except OutstepError as error:
            problems += error.problems
            continue
        for param in own or ():
            unclaimed.pop(param, None)
        contracts.append(contract)
        warnings += more
    if not problems:
        problems += [_unknown_param(param, contracts) for param in unclaimed]
    if problems:
        raise OutstepError(*dict.fromkeys(problems))
    return contracts, warnings


def _unknown_param(name: str, contracts: Sequence[Contract]) -> Problem:
    known = list(dict.fromkeys(param for contract in contracts for param in contract.params))
    listed = f"their parameters: {', '.join(f'`{param}`' for param in known) or 'none'}"
    return Problem(
        code="contract/unknown-name",
        sentence=f"none of the contracts has a parameter `{name}`",
        help=suggestion(name, known) or listed,
    )


def is_pack(name: str) -> bool:
    """Return whether a name means a bundled pack; a file is named with its folder or ending."""
    return name in packs.NAMES


def load_contract(name: str | os.PathLike[str], *, params: Mapping[str, Any] | None = None) -> Contract:
    """Return the checked contract of a file, or a bundled pack by its name; raises `OutstepError`."""
    return open_contract(os.fspath(name), params=params)[0]
