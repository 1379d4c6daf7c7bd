"""Merkle trees of RFC 6962, section 2.1: roots, inclusion and consistency proofs, over sha256.

A leaf is hashed behind a zero byte and a node behind a one, so that neither can stand for the other. Of a list of n
leaves the left half is the largest power of two below n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

Hash = bytes
"""32 bytes."""

EMPTY: Hash = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf_hash(data: bytes) -> Hash:
    """Return the hash of a leaf."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: Hash, right: Hash) -> Hash:
    """Return the hash of two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Peaks(Struct, frozen=True):
    """The whole subtrees that a tree of `size` leaves is made of, largest first: all that growing it needs.

    There are as many as `size` has ones in binary.
    """

    size: int = 0
    hashes: tuple[Hash, ...] = ()

    def add(self, leaves: Iterable[Hash]) -> Peaks:
        """Return the peaks of the tree with more leaves behind."""
        size, hashes = self.size, list(self.hashes)
        for leaf in leaves:
            hashes.append(leaf)
            size += 1
            # Each zero at the end of the size is a pair of equal subtrees that has become whole.
            for _ in range((size & -size).bit_length() - 1):
                right = hashes.pop()
                hashes.append(node_hash(hashes.pop(), right))
        return Peaks(size, tuple(hashes))

    @property
    def is_whole(self) -> bool:
        """Whether there are as many peaks as a tree of this size has."""
        return self.size >= 0 and len(self.hashes) == self.size.bit_count()

    @property
    def root(self) -> Hash:
        """The root of the tree."""
        if not self.hashes:
            return EMPTY
        *rest, root = self.hashes
        for peak in reversed(rest):
            root = node_hash(peak, root)
        return root


def root_of(leaves: Iterable[Hash]) -> Hash:
    """Return the root of the tree over some leaves."""
    return Peaks().add(leaves).root


class Tree:
    """All subtrees of a list of leaves that are whole, so that a proof takes logarithmic time."""

    def __init__(self, leaves: Sequence[Hash]) -> None:
        self._levels: list[list[Hash]] = [list(leaves)]
        while len(below := self._levels[-1]) > 1:
            pairs = zip(below[::2], below[1::2], strict=False)
            self._levels.append([node_hash(left, right) for left, right in pairs])

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self._levels[0])

    def root(self, size: int | None = None) -> Hash:
        """Return the root of the whole tree, or of its first `size` leaves."""
        size = self.size if size is None else size
        self._check(0 <= size <= self.size, f"there are {self.size} leaves, not {size}")
        return self._range(0, size)

    def inclusion(self, index: int, size: int | None = None) -> list[Hash]:
        """Return the proof that a leaf is in the tree of the first `size` leaves (RFC 6962, 2.1.1)."""
        size = self.size if size is None else size
        self._check(0 <= index < size <= self.size, f"there is no leaf {index} in a tree of {size}")
        proof: list[Hash] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _left_size(end - start)
            if index < middle:
                proof.append(self._range(middle, end))
                end = middle
            else:
                proof.append(self._range(start, middle))
                start = middle
        return proof[::-1]

    def consistency(self, old: int, size: int | None = None) -> list[Hash]:
        """Return the proof that the tree of `size` leaves begins with that of `old` ones (RFC 6962, 2.1.2)."""
        size = self.size if size is None else size
        self._check(0 <= old <= size <= self.size, f"a tree of {old} leaves is no beginning of one of {size}")
        if old in (0, size):
            return []
        proof: list[Hash] = []
        start, end = 0, size
        is_old_root = True
        while end != old:
            middle = start + _left_size(end - start)
            if old <= middle:
                proof.append(self._range(middle, end))
                end = middle
            else:
                proof.append(self._range(start, middle))
                start = middle
                is_old_root = False
        return [*([] if is_old_root else [self._range(start, end)]), *proof[::-1]]

    def _range(self, start: int, end: int) -> Hash:
        """Return the hash of the leaves from `start` to `end`, a subtree of some tree over a beginning of them."""
        size = end - start
        if size == 0:
            return EMPTY
        if size & (size - 1) == 0:
            level = size.bit_length() - 1
            return self._levels[level][start >> level]
        middle = start + _left_size(size)
        return node_hash(self._range(start, middle), self._range(middle, end))

    @staticmethod
    def _check(holds: bool, sentence: str) -> None:
        if not holds:
            raise ValueError(sentence)


def proves_inclusion(leaf: Hash, index: int, size: int, proof: Sequence[Hash], root: Hash) -> bool:
    """Return whether a proof shows that a leaf is at `index` of the tree with this root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(sibling, found)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            found = node_hash(found, sibling)
        number >>= 1
        last >>= 1
    return last == 0 and found == root


def proves_consistency(old: int, old_root: Hash, size: int, root: Hash, proof: Sequence[Hash]) -> bool:
    """Return whether a proof shows that one tree begins with the other (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= size:
        return False
    if old == 0:
        return not proof and old_root == EMPTY
    if old == size:
        return not proof and old_root == root
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    number, last = old - 1, size - 1
    while number & 1:
        number >>= 1
        last >>= 1
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            first = node_hash(sibling, first)
            second = node_hash(sibling, second)
            while not number & 1 and number:
                number >>= 1
                last >>= 1
        else:
            second = node_hash(second, sibling)
        number >>= 1
        last >>= 1
    return last == 0 and first == old_root and second == root


def _left_size(size: int) -> int:
    """Return the largest power of two below a size of two or more."""
    return 1 << ((size - 1).bit_length() - 1)
