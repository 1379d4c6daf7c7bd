"""Packs as whole contracts, read from their compiled form: no YAML on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from outstep.contracts import packs
from outstep.contracts.cache import Kept, decode_kept, encode_kept, is_fresh
from outstep.contracts.kinds import Scope
from outstep.contracts.model import Contract
from outstep.digest import sha256
from outstep.errors import Problem, problem, suggestion


def load_pack(name: str, params: Mapping[str, Any] | None = None) -> tuple[Contract, tuple[Problem, ...]]:
    """Return a bundled pack as a contract of its own, and its warnings; raises `OutstepError`."""
    source = packs.source(name)
    if source is None:
        listed = f"packs: {', '.join(f'`{known}`' for known in packs.NAMES)}"
        raise problem("contract/include", f"there is no pack `{name}`", help=suggestion(name, packs.NAMES) or listed)
    kept = _compiled(name, source)
    if kept is None or (params and not _can_replace(kept.contract, params)):
        return _loaded(name, source, params)
    contract = kept.contract
    if params:
        contract = structs.replace(contract, params={**contract.params, **params})
    return contract, kept.warnings


def compile_pack(name: str) -> bytes:
    """Return the compiled form of a pack, as it is shipped beside its YAML."""
    from outstep.contracts.loader import load_kept

    source = packs.source(name)
    if source is None:
        raise problem("contract/include", f"there is no pack `{name}`")
    return encode_kept(load_kept(source, name=f"pack:{name}"))


def _compiled(name: str, source: bytes) -> Kept | None:
    data = packs.compiled(name)
    kept = None if data is None else decode_kept(data)
    if kept is None or kept.files[0][1] != sha256(source).hexdigest() or not is_fresh(kept, _no_files):
        return None
    return kept


def _can_replace(contract: Contract, params: Mapping[str, Any]) -> bool:
    """Return whether parameters are read by expressions only, and all of these are known."""
    return all(name in contract.params for name in params) and not any(
        isinstance(rule.kind, Scope) for rule in contract.rules
    )


def _loaded(name: str, source: bytes, params: Mapping[str, Any] | None) -> tuple[Contract, tuple[Problem, ...]]:
    from outstep.contracts.loader import load

    return load(source, name=f"pack:{name}", params=params)


def _no_files(name: str) -> bytes:
    raise FileNotFoundError(name)
