"""SQLite databases: every text redacted, and the file built anew, for what was deleted may still lie in free pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_STEPS = 2_000_000_000
"""Instructions of the database's machine, in thousands, after which it is given up."""


def redact_database(data: bytes, redact: Callable[[bytes], bytes]) -> bytes:
    """Return a database with redacted texts; raises `ValueError`."""
    import sqlite3

    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(_without_journal(data))
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.text_factory = bytes
        tables = [
            name.decode()
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            if not name.startswith(b"sqlite_")
        ]
        others = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone()
        if others[0]:
            raise ValueError("the database has triggers or views, which sessions have not")
        changed = [_table(connection, table, redact) for table in tables]
        if not any(changed):
            return data
        connection.execute("VACUUM")
        return bytes(connection.serialize())
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise ValueError(f"the database cannot be read ({error})") from None
    finally:
        connection.close()


def _without_journal(data: bytes) -> bytes:
    """A database in write-ahead mode cannot be opened in memory: bytes 18 and 19 say so (file format, 1.3)."""
    return data[:18] + b"\1\1" + data[20:] if data[18:20] == b"\2\2" else data


def _table(connection: sqlite3.Connection, table: str, redact: Callable[[bytes], bytes]) -> bool:
    """Redact the texts of a table, column by column, rows in their order; return whether any was changed.

    A column is read as one document, a line a cell: what a model streamed stands in several rows.
    """
    quoted = _quoted(table)
    columns = [row[1].decode() for row in connection.execute(f"PRAGMA table_info({quoted})")]
    is_changed = False
    for column in columns:
        name = _quoted(column)
        cells = connection.execute(f"SELECT rowid, {name}, typeof({name}) FROM {quoted} ORDER BY rowid").fetchall()
        texts = [(row, value) for row, value, kind in cells if kind in (b"text", b"blob") and value]
        new = _redacted([value for _, value in texts], redact)
        kinds = {row: kind for row, _, kind in cells}
        for (row, old), value in zip(texts, new, strict=True):
            if value != old:
                is_changed = True
                cell: object = value.decode("utf-8", "replace") if kinds[row] == b"text" else value
                connection.execute(f"UPDATE {quoted} SET {name} = ? WHERE rowid = ?", (cell, row))
    return is_changed


def _redacted(cells: list[bytes], redact: Callable[[bytes], bytes]) -> list[bytes]:
    if not any(b"\n" in cell for cell in cells):
        new = redact(b"\n".join(cells)).split(b"\n")
        if len(new) == len(cells):
            return new
    return [redact(cell) for cell in cells]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
