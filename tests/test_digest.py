"""The digest is sha256, whoever computes it."""

from __future__ import annotations

import hashlib

import pytest

from outstep.digest import MUCH, sha256


@pytest.mark.parametrize("size", [0, 1, 1000, MUCH - 1, MUCH, MUCH + 1])
def test_small_and_large_bytes_have_the_digest_of_the_standard(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    expected = hashlib.sha256(data[:size])
    assert sha256(data[:size]).hexdigest() == expected.hexdigest()
    for more in (True, False):
        grown = sha256(data[: size // 2], more=more)
        grown.update(data[size // 2 : size])
        assert grown.digest() == expected.digest()
