"""Merkle trees: known values of RFC 6962's reference log, and laws over all small trees."""

from __future__ import annotations

from hashlib import sha256

import pytest

from outstep.evidence.merkle import (
    EMPTY,
    Hash,
    Peaks,
    Tree,
    leaf_hash,
    node_hash,
    proves_consistency,
    proves_inclusion,
    root_of,
)

# The eight leaves and the roots of their beginnings, as the Certificate Transparency reference log tests them.
LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
SIZES = range(34)


def hashes(count: int) -> list[Hash]:
    return [leaf_hash(str(number).encode()) for number in range(count)]


def plain_root(leaves: list[Hash]) -> Hash:
    """The root by the words of the RFC, as plainly as they can be said."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):
        left *= 2
    return node_hash(plain_root(leaves[:left]), plain_root(leaves[left:]))


@pytest.mark.parametrize("size", ROOTS)
def test_roots_are_those_of_the_reference_log(size: int) -> None:
    assert root_of(map(leaf_hash, LEAVES[:size])).hex() == ROOTS[size]


@pytest.mark.parametrize("size", SIZES)
def test_every_way_to_a_root_gives_the_same(size: int) -> None:
    leaves = hashes(size)
    assert root_of(leaves) == Tree(leaves).root() == Tree(hashes(40)).root(size) == plain_root(leaves)


@pytest.mark.parametrize("size", SIZES)
def test_peaks_grow_in_any_steps(size: int) -> None:
    leaves = hashes(size)
    for cut in range(size + 1):
        grown = Peaks().add(leaves[:cut]).add(leaves[cut:])
        assert grown == Peaks().add(leaves)
        assert grown.is_whole


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_has_a_proof_that_proves_it_and_nothing_else(size: int) -> None:
    leaves = hashes(size)
    tree = Tree(leaves)
    root = tree.root()
    for index, leaf in enumerate(leaves):
        proof = tree.inclusion(index)
        assert len(proof) <= max(0, size - 1).bit_length()
        assert proves_inclusion(leaf, index, size, proof, root)
        assert not proves_inclusion(leaf_hash(b"other"), index, size, proof, root)
        assert not proves_inclusion(leaf, index, size, proof, EMPTY)
        assert not proves_inclusion(leaf, index, size, [*proof, EMPTY], root)
        assert not any(proves_inclusion(leaf, other, size, proof, root) for other in range(size) if other != index)
        for place in range(len(proof)):
            assert not proves_inclusion(leaf, index, size, [*proof[:place], EMPTY, *proof[place + 1 :]], root)
            assert not proves_inclusion(leaf, index, size, [*proof[:place], *proof[place + 1 :]], root)


@pytest.mark.parametrize("size", SIZES)
def test_every_beginning_has_a_proof_of_consistency_and_no_other_tree_has(size: int) -> None:
    tree = Tree(hashes(size))
    root = tree.root()
    for old in range(size + 1):
        proof = tree.consistency(old)
        old_root = tree.root(old)
        assert len(proof) <= max(1, size).bit_length() + 1
        assert proves_consistency(old, old_root, size, root, proof)
        if old:
            assert not proves_consistency(old, leaf_hash(b"other"), size, root, proof)
        if 0 < old < size:
            assert not proves_consistency(old, old_root, size, leaf_hash(b"other"), proof)
            assert not proves_consistency(old, old_root, size, root, [*proof, EMPTY])
            assert not proves_consistency(old, old_root, size, root, proof[:-1])


def test_a_proof_of_what_is_not_there_is_refused() -> None:
    tree = Tree(hashes(5))
    for ask in (
        lambda: tree.inclusion(5),
        lambda: tree.inclusion(-1),
        lambda: tree.consistency(6),
        lambda: tree.root(6),
    ):
        with pytest.raises(ValueError, match=r"tree of|leaves"):
            ask()
