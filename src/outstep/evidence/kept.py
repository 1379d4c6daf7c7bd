"""The newest head of every store that was seen on this machine, kept apart from the stores themselves."""

from __future__ import annotations

import os
from pathlib import Path

from outstep.evidence.entries import SignedHead, canonical, read_head


def heads_folder() -> Path | None:
    """Return where heads are kept, or none where the user has no home."""
    if named := os.environ.get("OUTSTEP_STATE_DIR"):
        return Path(named) / "heads"
    base = os.environ.get("XDG_STATE_HOME") or ""
    if os.path.isabs(base):
        return Path(base) / "outstep" / "heads"
    home = os.path.expanduser("~/.local/state")
    return None if home.startswith("~") else Path(home) / "outstep" / "heads"


def keep_head(signed: SignedHead) -> None:
    """Remember a head apart from its store, so that a log that was cut back is noticed; where it can be done."""
    folder = heads_folder()
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = kept_head(signed.head.store)
        if known is None or known.head.size < signed.head.size:
            beside = folder / f".{signed.head.store}.{os.getpid()}.part"
            beside.write_bytes(canonical(signed) + b"\n")
            os.replace(beside, folder / f"{signed.head.store}.json")
    except OSError:
        # A machine without a place for it can still seal; `verify` then says that no kept head was at hand.
        return


def kept_head(store: str) -> SignedHead | None:
    """Return the newest head of a store that was seen on this machine, or none."""
    folder = heads_folder()
    if folder is None:
        return None
    try:
        return read_head((folder / f"{store}.json").read_bytes().strip())
    except (OSError, ValueError):
        return None
