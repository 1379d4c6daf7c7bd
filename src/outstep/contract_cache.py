"""Contracts from files, warm where possible: the checked contract is kept on disk as data.

A poisoned entry could turn a block into a pass, so an entry is read only where no other user could have written it,
and only if its digest is right. Trouble with the cache is never trouble with the check: it is as if it were not there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from outstep.contracts.cache import Kept, cache_key, decode_kept, encode_kept, is_fresh
from outstep.errors import problem

LARGEST_ENTRY = 64 << 20
MOST_ENTRIES = 256
LARGEST_FILE = 1 << 22
"""Bytes of a file of a contract; the loader reads a quarter as many characters."""

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_DIRECTORY = _READ | getattr(os, "O_DIRECTORY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def open_contract(
    path: str,
    *,
    params: Mapping[str, Any] | None = None,
    cache: ContractCache | None = None,
    read_file: Callable[[str], bytes] | None = None,
) -> Kept:
    """Return the checked contract of a file, from the cache where it is still right; raises `OutstepError`."""
    read = read_file or _read_file
    name = _written(path)
    try:
        data = read(name)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise problem(
            "contract/unreadable", f"`{path}` cannot be read: {reason}", help="a contract is a file of YAML"
        ) from None
    key = cache_key(name, data, params or {})
    kept = None if cache is None else cache.get(key)
    if kept is not None and is_fresh(kept, read):
        return kept
    from outstep.contracts.loader import load_kept

    kept = load_kept(data, name=name, params=params, read_file=read)
    if cache is not None:
        cache.put(key, kept)
    return kept


def _read_file(name: str) -> bytes:
    """Return the bytes of a file or pipe; a device could go on without end."""
    mode = os.stat(name).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise OSError(0, "it is a folder" if stat.S_ISDIR(mode) else "it is neither a file nor a pipe")
    with open(name, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise OSError(0, f"it holds more than {LARGEST_FILE} bytes")
    return data


def _written(path: str) -> str:
    """Return a path as reports write it: `/` between its parts, none of them empty or `.`."""
    path = path.replace(os.sep, "/")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return ("/" if path.startswith("/") else "") + "/".join(parts) or "."


class ContractCache:
    """Checked contracts in a directory that only this user can write."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = os.fspath(directory)

    def get(self, key: str) -> Kept | None:
        """Return what is kept under a key, or none."""
        directory = self._open()
        if directory is None:
            return None
        try:
            data = _read(f"{key}.json", directory)
        finally:
            os.close(directory)
        return None if data is None else decode_kept(data)

    def put(self, key: str, kept: Kept) -> None:
        """Keep a contract; silently nothing where that cannot be done safely."""
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self._directory)), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self._directory, 0o700)
        except OSError:
            return
        directory = self._open()
        if directory is None:
            return
        try:
            _write(f"{key}.json", encode_kept(kept), directory)
            _prune(directory)
        except (OSError, UnicodeEncodeError):
            # Names of files that are no UTF-8 cannot be written down.
            pass
        finally:
            os.close(directory)

    def _open(self) -> int | None:
        """Return a descriptor of the directory, or none where another user could have written in it."""
        if not hasattr(os, "geteuid") or os.open not in os.supports_dir_fd:
            return None  # who may write a file cannot be told here
        try:
            descriptor = os.open(self._directory, _DIRECTORY)
        except OSError:
            return None
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode) and _is_ours(found):
            return descriptor
        os.close(descriptor)
        return None


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(name: str, directory: int) -> bytes | None:
    try:
        descriptor = os.open(name, _READ, dir_fd=directory)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not _is_ours(found) or found.st_size > LARGEST_ENTRY:
            return None
        try:
            return file.read(LARGEST_ENTRY + 1)
        except OSError:
            return None


def _write(name: str, data: bytes, directory: int) -> None:
    """Write beside and rename, so that a reader sees all of it or nothing."""
    beside = f".{name}.{os.getpid()}"
    descriptor = os.open(beside, _WRITE, 0o600, dir_fd=directory)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(beside, dir_fd=directory)
        raise


def _prune(directory: int) -> None:
    """Leave the newest half where the directory has grown too large."""
    names = os.listdir(directory)
    if len(names) <= MOST_ENTRIES:
        return
    ages = sorted((os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime, name) for name in names)
    for _, name in ages[: len(names) - MOST_ENTRIES // 2]:
        os.unlink(name, dir_fd=directory)
