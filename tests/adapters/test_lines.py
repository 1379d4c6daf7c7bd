"""Pieces of whole lines."""

from __future__ import annotations

from io import BytesIO

import pytest

from outstep.adapters.records import CHUNK, whole_lines


@pytest.mark.parametrize("length", [1, 200, 5000, CHUNK // 2 + 1, 3 * CHUNK])
def test_lines_are_counted_whether_they_are_short_or_long(length: int) -> None:
    data = (b"x" * length + b"\n") * 30 + b"\n" * 5000 + b"y"
    pieces = list(whole_lines(BytesIO(data)))
    assert b"".join(piece.body for piece in pieces) == data
    assert [piece.count for piece in pieces] == [max(piece.body.count(b"\n"), piece.last) for piece in pieces]
    assert [piece.line for piece in pieces] == [
        1 + sum(earlier.count for earlier in pieces[:number]) for number in range(len(pieces))
    ]
