"""Contracts by name: a file, or a pack that comes with Outstep."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from outstep.contracts import packs
from outstep.contracts.model import Contract
from outstep.errors import Problem, problem, suggestion


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


def is_pack(name: str) -> bool:
    """Return whether a name means a bundled pack; a file is named with its folder or ending."""
    return name in packs.NAMES


def load_contract(name: str | os.PathLike[str], *, params: Mapping[str, Any] | None = None) -> Contract:
    """Return the checked contract of a file, or a bundled pack by its name; raises `OutstepError`."""
    return open_contract(os.fspath(name), params=params)[0]
