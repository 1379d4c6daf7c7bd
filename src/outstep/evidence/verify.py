"""What was changed in a store, each by its name; nothing here repairs.

A signed head vouches for the root, the root for the leaves, a leaf for every byte of its entry, an entry for every
object it names. What no head covers, or no entry names, is foreign.
docs: docs/evidence.md#verify
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256

import msgspec
from msgspec import Struct

from outstep.errors import OutstepError, Problem
from outstep.evidence.completeness import Completeness, completeness, text
from outstep.evidence.entries import Digest, Entry, Irregular, SignedHead, canonical, named, read_entry, read_head
from outstep.evidence.home import ABOUT, COMPLETENESS, KEYS, LOCK
from outstep.evidence.log import ENTRIES, FILES, HEADS, LEAVES
from outstep.evidence.merkle import EMPTY, Hash, Peaks, Tree, leaf_hash
from outstep.evidence.objects import Damaged, Objects
from outstep.evidence.signing import PublicKey
from outstep.evidence.store import Store
from outstep.findings import Report

_HEX = re.compile(r"[0-9a-f]{64}\Z")
MOST_NAMED = 20
"""Changed entries or objects that are named one by one."""


class Verified(Struct, frozen=True, kw_only=True):
    """What a look at a whole store gave."""

    entries: int
    """That a head covers."""
    objects: int
    heads: int
    newest: SignedHead | None
    problems: tuple[Problem, ...]
    """What was changed; empty: nothing was."""
    notes: tuple[str, ...]
    """What is no change, but limits what is proven."""
    keys: tuple[str, ...]
    """Ids of the keys that signed heads."""
    completeness: Completeness
    """What the evidence does not hold, however whole it is."""


def verify(
    store: Store,
    *,
    trusted: Mapping[str, PublicKey] | None = None,
    kept: Sequence[SignedHead] = (),
    objects: bool = True,
) -> Verified:
    """Look at everything in a store.

    `trusted` are the keys that may have signed; without them those in the store are taken. `kept` are heads from
    elsewhere, which the log must still begin with. `objects` also reads every stored document.
    """
    return _Look(store, trusted, kept).result(objects=objects)


class _Look:
    def __init__(self, store: Store, trusted: Mapping[str, PublicKey] | None, kept: Sequence[SignedHead]) -> None:
        self._store = store
        self._kept = kept
        self._problems: list[Problem] = []
        self._notes: list[str] = []
        self._named: Counter[str] = Counter()
        self._trusted = dict(trusted or {})
        try:
            own = store.keys()
        except OutstepError as error:
            self._problems += error.problems
            own = {}
        self._own = frozenset(own)
        if trusted is None:
            self._trusted = own

    def result(self, *, objects: bool) -> Verified:
        log = self._store.log
        lines = list(log.lines())
        heads = self._heads()
        leaves = log.leaves()
        size = heads[-1].head.size if heads else 0
        self._compare(lines[:size], leaves, heads, size)
        self._tail(lines, heads, size)
        entries = list(self._entries(lines[:size]))
        self._relations(entries)
        count = self._objects(entries, read=objects)
        self._foreign()
        told = completeness(entry for _, entry in entries)
        self._exported(heads, told)
        for code, sentence, file in log.flaws():
            self._tell(code, sentence, file)
        for kept in self._kept:
            self._held_against(kept, lines[:size])
        return Verified(
            entries=size,
            objects=count,
            heads=len(heads),
            newest=heads[-1] if heads else None,
            problems=tuple(self._problems),
            notes=tuple(self._notes),
            keys=tuple(dict.fromkeys(signed.head.key for signed in heads)),
            completeness=told,
        )

    # --- heads ---

    def _heads(self) -> list[SignedHead]:
        """Return the heads that count: signed by a key that may, of this store, each of a larger log."""
        found: list[SignedHead] = []
        about = sha256(self._store.home.read(ABOUT)).hexdigest()
        whole, rest = self._store.log.head_lines()
        if rest:
            self._notes.append("the last line of the heads is cut off: a writer did not finish")
        for number, line in enumerate(whole, 1):
            try:
                signed = read_head(line)
            except Irregular as error:
                self._tell("evidence/bad-head", f"head {number} cannot be read: {error}", HEADS, number)
                continue
            if flaw := self._flaw(signed, number):
                self._tell(*flaw, HEADS, number)
                continue
            if signed.head.about != about:
                self._tell("evidence/changed-about", f"`{ABOUT}` is not what head {number} was signed for", ABOUT)
            if signed.head.number != number - 1:
                told = f"head {number} of the file was signed as number {signed.head.number + 1}"
                self._tell("evidence/changed-heads", told, HEADS, number)
            if not found or signed.head.size > found[-1].head.size:
                found.append(signed)
            else:
                told = f"head {number} covers no more entries than one before it"
                self._tell("evidence/changed-heads", told, HEADS, number)
        used = {signed.head.key for signed in found}
        for name in sorted(used - self._own):
            self._tell(
                "evidence/missing-key", f"the public key `{name}` is no longer in the store", f"{KEYS}/{name}.pem"
            )
        if spare := sorted(self._own - used):
            self._notes.append(f"no head is signed by the key {', '.join(f'`{name}`' for name in spare)}")
        return found

    def _flaw(self, signed: SignedHead, number: int) -> tuple[str, str] | None:
        """Return why a head vouches for nothing here, as code and sentence."""
        key = self._trusted.get(signed.head.key)
        if key is None:
            return "evidence/unknown-key", f"head {number} is signed by `{signed.head.key}`, which is no key to trust"
        if not key.vouches_for(signed):
            return "evidence/bad-signature", f"the signature of head {number} does not belong to it"
        if signed.head.store != self._store.about.id:
            return "evidence/foreign-head", f"head {number} was signed for another store"
        peaks = Peaks(signed.head.size, tuple(bytes.fromhex(peak) for peak in signed.head.peaks if _HEX.match(peak)))
        if not peaks.is_whole or peaks.root.hex() != signed.head.root:
            return "evidence/bad-head", f"the peaks of head {number} do not give its root"
        return None

    # --- entries ---

    def _compare(self, lines: Sequence[bytes], leaves: Sequence[Hash], heads: Sequence[SignedHead], size: int) -> None:
        """Hold the entries against the heads, and say what was done to them."""
        own = [leaf_hash(line.removesuffix(b"\n")) for line in lines]
        if _first_unlike(own, heads) is None and len(own) == size:
            if list(leaves[:size]) != own:
                self._tell("evidence/changed-leaves", "the hashes beside the log are not those of its entries", LEAVES)
            return
        if _first_unlike(leaves[:size], heads) is None and len(leaves) >= size:
            self._say_what(own, leaves[:size], size)
            return
        # The leaves are no help either: only the heads say where it begins.
        first = _first_unlike(own, heads)
        covered = [0, *(signed.head.size for signed in heads)]
        since = covered[first] if first is not None else len(own)
        until = covered[first + 1] if first is not None else size
        self._tell(
            "evidence/changed-log", f"entries {since} to {until - 1} are not those that were signed", ENTRIES, since + 1
        )
        self._tell("evidence/changed-leaves", "the hashes beside the log are not those that were signed", LEAVES)

    def _say_what(self, own: Sequence[Hash], signed: Sequence[Hash], size: int) -> None:
        lacking, foreign = Counter(signed), Counter(own)
        lacking, foreign = lacking - foreign, foreign - lacking
        if not lacking and not foreign:
            moved = [index for index, pair in enumerate(zip(own, signed, strict=False)) if pair[0] != pair[1]]
            self._tell(
                "evidence/reordered-entries",
                f"entries stand in another order from number {moved[0]} on",
                ENTRIES,
                moved[0] + 1,
            )
            return
        if len(own) < size and own == list(signed[: len(own)]):
            self._tell(
                "evidence/truncated", f"the last {size - len(own)} of {size} entries are missing", ENTRIES, len(own) + 1
            )
            return
        for index, leaf in enumerate(own):
            if foreign[leaf] > 0:
                foreign[leaf] -= 1
                takes_place = index < size and lacking[signed[index]] > 0
                if takes_place:
                    lacking[signed[index]] -= 1
                code, word = ("evidence/edited-entry", "was edited")
                if not takes_place:
                    code, word = ("evidence/inserted-entry", "was put in")
                self._tell(code, f"entry {index} {word}", ENTRIES, index + 1)
        for index, leaf in enumerate(signed):
            if lacking[leaf] > 0:
                lacking[leaf] -= 1
                self._tell("evidence/removed-entry", f"entry {index} was taken out", ENTRIES, min(index, len(own)) + 1)

    def _tail(self, lines: Sequence[bytes], heads: Sequence[SignedHead], size: int) -> None:
        """What stands behind the newest head was never acknowledged."""
        if len(lines) > size:
            self._notes.append(
                f"{len(lines) - size} entries stand behind the newest head: a writer did not finish, and the next one "
                "sets them aside; no signature covers them"
            )
        elif self._store.log.leaves_length() > size * len(EMPTY):
            self._notes.append("hashes stand behind the newest head: a writer did not finish")
        if heads and sum(map(len, lines[:size])) != heads[-1].head.length:
            self._tell("evidence/changed-log", "the entries have another length than the newest head says", ENTRIES)

    def _entries(self, lines: Sequence[bytes]) -> Iterator[tuple[int, Entry]]:
        for number, line in enumerate(lines):
            try:
                yield number, read_entry(line.removesuffix(b"\n"))
            except Irregular as error:
                self._tell("evidence/irregular-entry", f"entry {number} is none: {error}", ENTRIES, number + 1)

    def _relations(self, entries: Sequence[tuple[int, Entry]]) -> None:
        runs = {number for number, entry in entries if entry.kind == "run"}
        for number, entry in entries:
            if entry.kind == "verdict" and entry.of not in runs:
                self._tell(
                    "evidence/irregular-entry",
                    f"entry {number} judges entry {entry.of}, which is no run",
                    ENTRIES,
                    number + 1,
                )

    # --- objects ---

    def _objects(self, entries: Sequence[tuple[int, Entry]], *, read: bool) -> int:
        """Hold every object that an entry names against its digest, and return how many there are."""
        gone = {digest for _, entry in entries for digest in entry.pruned}
        users: dict[Digest, str] = {}
        for number, entry in entries:
            for digest, what in named(entry):
                users.setdefault(digest, f"{what} of entry {number}")
        own = list(self._store.objects.digests())
        there = set(own)
        sought = sorted(digest for digest in users if digest not in gone or digest in there)
        flaws = self._flaws_of(sought) if read else [None if one in there else "it is not there" for one in sought]
        for digest, flaw in zip(sought, flaws, strict=True):
            if flaw is not None:
                code = "evidence/swapped-object" if digest in there else "evidence/missing-object"
                told = f"{users[digest]} is not what was sealed: {flaw}"
                self._tell(code, told, self._store.objects.file(digest))
        if gone:
            self._notes.append(f"{len(gone)} documents were let go, and the log says so")
        for number, entry in entries:
            self._verdict(number, entry, gone)
        strangers = [digest for digest in own if digest not in users]
        if strangers:
            self._notes.append(
                f"{len(strangers)} objects are named by no entry: a writer did not finish, or they were put there "
                f"({', '.join(strangers[:3])}{', …' if len(strangers) > 3 else ''})"
            )
        return len(sought)

    def _flaws_of(self, digests: Sequence[Digest]) -> list[str | None]:
        """Return for each object why it is not what was sealed, or none; read side by side where waiting costs."""
        objects = self._store.objects
        if objects.readers < 2:
            return [_flaw_of(objects, digest) for digest in digests]
        with ThreadPoolExecutor(objects.readers) as pool:
            return list(pool.map(partial(_flaw_of, objects), digests))

    def _verdict(self, number: int, entry: Entry, gone: set[Digest]) -> None:
        """An entry repeats what its report says; both are hashed, so they differ only if they were sealed so."""
        if entry.judged is None or entry.judged.report in gone:
            return
        try:
            report = msgspec.json.decode(self._store.objects.get(entry.judged.report), type=Report)
        except Damaged:
            return  # told already
        except (msgspec.DecodeError, RecursionError):
            self._tell(
                "evidence/changed-verdict",
                f"the report of entry {number} is none",
                self._store.objects.file(entry.judged.report),
            )
            return
        if (report.gate, report.exit_code) != (entry.judged.gate, entry.judged.exit_code):
            told = f"entry {number} says `{entry.judged.gate}`, its report `{report.gate}`"
            self._tell("evidence/changed-verdict", told, ENTRIES, number + 1)

    # --- the rest ---

    def _foreign(self) -> None:
        """Name files that belong to no store; an unfinished one of a writer that was killed is only noted."""
        for seen in self._store.home.files():
            parts = tuple(seen.name.split("/"))
            if seen.is_link:
                self._tell("evidence/foreign-file", f"`{seen.name}` is a link, and a store has none", seen.name)
            elif parts == (LOCK,) and seen.size:
                self._tell("evidence/foreign-file", f"`{LOCK}` is empty in a store", seen.name)
            elif not self._store.home.belongs(parts):
                if parts[-1].endswith(".part") or ".unfinished-" in parts[-1]:
                    self._notes.append(f"`{seen.name}` was left by a writer that did not finish")
                else:
                    self._tell("evidence/foreign-file", f"`{seen.name}` belongs to no store", seen.name)

    def _exported(self, heads: Sequence[SignedHead], told: Completeness) -> None:
        """An export repeats its newest head as the plain bytes that were signed, and says what it does not hold."""
        if not self._store.home.is_read_only:
            return
        signed = {COMPLETENESS: text(told)}
        if heads:
            signed["head.json"] = canonical(heads[-1].head)
            signed["head.sig"] = base64.b64decode(heads[-1].signature)
        for name, data in signed.items():
            try:
                is_same = self._store.home.read(name) == data
            except OSError:
                is_same = False
            if not is_same:
                what = "what the entries give" if name == COMPLETENESS else "the newest head"
                self._tell("evidence/changed-export", f"`{name}` is not {what}", name)

    def _held_against(self, kept: SignedHead, lines: Sequence[bytes]) -> None:
        head = kept.head
        if head.store != self._store.about.id:
            self._tell("evidence/foreign-head", "the kept head is one of another store", ABOUT)
            return
        key = self._trusted.get(head.key)
        if key is None or not key.vouches_for(kept):
            self._tell("evidence/bad-signature", f"the kept head is not signed by a key to trust (`{head.key}`)", HEADS)
            return
        if len(lines) < head.size:
            told = f"{head.size} entries were sealed on {head.time}, and {len(lines)} are left"
            self._tell("evidence/truncated", told, ENTRIES, len(lines) + 1)
            return
        root = Peaks().add(leaf_hash(line.removesuffix(b"\n")) for line in lines[: head.size]).root
        if root.hex() != head.root:
            self._tell(
                "evidence/changed-log", f"the first {head.size} entries are not those sealed on {head.time}", ENTRIES
            )

    def _tell(self, code: str, sentence: str, file: str, line: int | None = None) -> None:
        self._named[code] += 1
        if self._named[code] > MOST_NAMED:
            return
        if file in FILES:
            place = self._store.log.place(file, None if line is None else line - 1)
        else:
            place = self._store.home.place(file)
        self._problems.append(Problem(code=code, sentence=sentence, place=place, help=_HELP))


_HELP = "this is not what was sealed: compare it with another copy of the store"


def _flaw_of(objects: Objects, digest: Digest) -> str | None:
    try:
        objects.check(digest)
    except Damaged as error:
        return str(error)
    return None


def _first_unlike(leaves: Sequence[Hash], heads: Sequence[SignedHead]) -> int | None:
    """Return the first head that the leaves do not fit, or none."""
    tree = Tree(leaves)
    for index, signed in enumerate(heads):
        head = signed.head
        if head.size > tree.size or tree.root(head.size).hex() != head.root:
            return index
    return None
