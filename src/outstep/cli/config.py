"""Defaults of a project: `outstep.toml`, or `[tool.outstep]` in `pyproject.toml` (docs/cli.md#configuration)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from outstep.errors import OutstepError, Place, Problem, suggestion

FILE = "outstep.toml"
LARGEST = 1 << 20


def find_config(start: str) -> dict[str, Any]:
    """Return the defaults that hold in a folder, from the nearest file upwards; raises `OutstepError`.

    Paths in it are seen from its own folder, and returned so that they open from `start`.
    """
    folder, above = start, ""
    while folder != above:
        for name, marker in ((FILE, b""), ("pyproject.toml", b"tool.outstep")):
            path = os.path.join(folder, name)
            data = _read(path)
            if data is None or marker not in data:
                continue
            table = _table(path, data, is_own=name == FILE)
            if table is not None:
                return _Reader(path, data, start).read(table)
        folder, above = os.path.dirname(folder), folder
    return {}


def _read(path: str) -> bytes | None:
    try:
        if not os.path.isfile(path) or os.stat(path).st_size > LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _table(path: str, data: bytes, *, is_own: bool) -> dict[str, Any] | None:
    import tomllib  # only where a file is there

    try:
        whole = tomllib.loads(data.decode(), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ArithmeticError) as error:
        raise OutstepError(
            Problem(
                code="config/toml",
                sentence=f"`{os.path.basename(path)}` is no TOML: {error}",
                place=Place(source=path),
                help="correct the file, or pass --no-config",
            )
        ) from None
    if is_own:
        return whole
    table = whole.get("tool", {}).get("outstep") if isinstance(whole.get("tool"), dict) else None
    return table if isinstance(table, dict) else None


class _Reader:
    """Reads one table, and finds every mistake in it."""

    def __init__(self, path: str, data: bytes, start: str) -> None:
        self._path = path
        self._lines = data.decode(errors="replace").splitlines()
        self._start = start
        self._problems: list[Problem] = []

    def read(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return the values; raises `OutstepError` with every mistake."""
        found: dict[str, Any] = {}
        for key, value in table.items():
            reader = _KEYS.get(key)
            if reader is None:
                help = suggestion(key, tuple(_KEYS)) or f"known keys: {', '.join(_KEYS)}"
                if key == "tool" and self._path.endswith(FILE):
                    help = f"`[tool.outstep]` is for pyproject.toml: in {FILE} the keys stand without a table"
                self._mistake("config/unknown-key", f"`{key}` is no key of the configuration", key, help)
                continue
            try:
                found[key] = reader(value)
            except ValueError as error:
                self._mistake("config/value", f"`{key}` is {error}", key, "")
        if self._problems:
            raise OutstepError(*self._problems)
        folder = os.path.dirname(self._path)
        if folder != self._start:
            for key in ("contract", "paths"):
                if key in found:
                    found[key] = [self._from_here(folder, text, is_contract=key == "contract") for text in found[key]]
        return found

    def _from_here(self, folder: str, text: str, *, is_contract: bool) -> str:
        from outstep.workflow.contracts import is_pack

        if text == "-" or os.path.isabs(text) or (is_contract and is_pack(text)):
            return text
        return os.path.relpath(os.path.join(folder, text), self._start)

    def _mistake(self, code: str, sentence: str, key: str, help: str) -> None:
        pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
        line = next((number for number, text in enumerate(self._lines, 1) if pattern.match(text)), None)
        place = Place(source=os.path.relpath(self._path, self._start), line=line)
        self._problems.append(
            Problem(
                code=code,
                sentence=sentence,
                place=place,
                excerpt=self._lines[line - 1].strip() if line is not None else "",
                help=help,
            )
        )


def _texts(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("neither a text nor a list of texts")
    return list(texts)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither `true` nor `false`")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("no whole number from 0 on")
    return value


def _map(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no table of names and values")
    return value


_KEYS: dict[str, Callable[[object], Any]] = {
    "contract": _texts,
    "paths": _texts,
    "format": _text,
    "fail_on": _text,
    "allow": _texts,
    "require_exercised": _truth,
    "param": _map,
    "unpinned": _truth,
    "complete": _truth,
    "jobs": _count,
}
