"""The cases: small batteries as text, and files that cannot be written as text."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = [row for name in ("cases.csv", "more_cases.csv") for row in csv.DictReader((HERE / name).open(encoding="utf-8"))]
TEXT = next(row for row in ROWS if row["id"] == "B01")["battery_yaml"]


def _unreadable(file: Path) -> None:
    file.write_text(TEXT, "utf-8")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("whoever runs this may read everything")


MADE: dict[str, Callable[[Path], object]] = {
    "(path is a directory named x.yaml)": Path.mkdir,
    "(not UTF-8)": lambda file: file.write_bytes(TEXT.encode().replace(b"goal: g", b"goal: \xff")),
    "(UTF-16 with a byte order mark)": lambda file: file.write_text(TEXT, "utf-16"),
    "(UTF-8 with a byte order mark)": lambda file: file.write_text(TEXT, "utf-8-sig"),
    "(no such file)": lambda _: None,
    "(unreadable)": _unreadable,
    "(a device)": lambda file: file.symlink_to("/dev/zero"),
    "(lines end in CR LF)": lambda file: file.write_bytes(TEXT.encode().replace(b"\n", b"\r\n")),
    "(a NUL byte)": lambda file: file.write_bytes(TEXT.encode().replace(b"goal: g", b"goal: \0g")),
    "(two million bytes)": lambda file: file.write_text(TEXT + "# " + "x" * 2_000_000, "utf-8"),
}


def make(row: dict[str, str], file: Path) -> None:
    """Make the file of a case."""
    text = row["battery_yaml"]
    if text.startswith("("):
        MADE[text](file)
    else:
        file.write_text(text, "utf-8")
