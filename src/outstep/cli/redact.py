"""`outstep redact IN OUT`: write documents without personal data and secrets, readable by the same adapter.

docs: docs/redaction.md
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, json

from outstep.adapters.base import Document
from outstep.cli import console
from outstep.cli.arguments import Arguments, Given
from outstep.errors import OutstepError, Place, Problem, problem
from outstep.redaction.documents import Redacted
from outstep.render.escape import shown, visible
from outstep.render.wording import count
from outstep.workflow.redacting import Redactor, redaction_key, rules_of

DESCRIPTION = """write documents without personal data and secrets; verdicts about them stay what they were

exit codes: 0 written · 2 something could not be redacted, and was not written"""
MOST_PLACES = 20
MOST_DOCUMENTS = 10
LONGEST_NAME = 120


class _Done(Struct, frozen=True):
    name: str
    redacted: Redacted
    salt: bytes


def run(words: Sequence[str]) -> int:
    """Redact and return the exit code."""
    made = Arguments("redact", DESCRIPTION)
    made.words("paths", metavar="IN OUT", help="a file or folder, or - for stdin; where to write, or - for stdout")
    made.value("--profile", metavar="NAME", help="standard (addresses, phones, cards, tokens, keys), or none")
    made.value("--rules", metavar="FILE", help="rules of your own, in YAML")
    made.value("--key", metavar="FILE", help="the key of placeholders (else OUTSTEP_REDACTION_KEY, else your own)")
    made.value("--salts", metavar="FILE", help="write what opens the commitments to the originals; keep it to yourself")
    made.flag("--dry", help="only tell what would be replaced; OUT is not named")
    made.flag("--json", help="write the report as JSON")
    made.flag("-v", "--verbose", help="show every place")
    given = made.read(words)
    source, target = _paths(given)
    rules, text = rules_of(given.profile, given.rules)
    key, kept = redaction_key(given.key, os.environ)
    if kept:
        console.say(f"a new key of redaction is kept in {visible(kept)}: equal values keep equal placeholders with it")
    redactor = Redactor(rules, text, key)
    done: list[_Done] = []
    faults: list[Problem] = []
    for document, out in _documents(source, target):
        try:
            new, redacted = redactor.redacted(document)
            done.append(_Done(new.uri, redacted, key.salt(document.read())))
        except OutstepError as error:
            faults += error.problems
            continue
        except OSError as error:
            told = (error.strerror or str(error)).lower()
            sentence = f"`{document.uri}` cannot be read: {told}"
            faults.append(Problem(code="input/unreadable", sentence=sentence, place=Place(source=document.uri)))
            continue
        if out is not None:
            _write(out, new.uri if os.path.isdir(source) else None, redacted.data)
    console.say_problems(faults)
    if not done and not faults:
        raise problem("input/no-traces", f"`{source}` holds no file", help="name a file, or a folder with files")
    if given.salts:
        _write_salts(given.salts, done)
    told = _put_json(done) if given.json else _table(done, is_verbose=given.verbose)
    if target == "-":
        console.say(told.rstrip("\n"))
    else:
        console.put(told)
    console.flush()
    return 2 if faults else 0


def _paths(given: Given) -> tuple[str, str | None]:
    wanted = 1 if given.dry else 2
    if len(given.paths) != wanted:
        usage = "outstep redact --dry IN" if given.dry else "outstep redact IN OUT"
        raise problem("usage/arguments", f"{count(wanted, 'path')} to be named, not {len(given.paths)}", help=usage)
    source, target = given.paths[0], None if given.dry else given.paths[1]
    if target is not None and target != "-" and source != "-":
        first, second = Path(source).resolve(), Path(target).resolve()
        if first == second or first in second.parents or second in first.parents:
            raise problem(
                "usage/arguments",
                f"`{target}` is where the originals are",
                help="write to a place of its own; the originals are for you to delete",
            )
        is_taken = Path(target).exists() and (not Path(target).is_dir() or any(Path(target).iterdir()))
        if Path(source).is_dir() and is_taken:
            raise problem(
                "usage/arguments", f"`{target}` is not empty", help="name a folder that is empty or not there yet"
            )
    return source, target


def _documents(source: str, target: str | None) -> Iterator[tuple[Document, str | None]]:
    """Yield documents and where each goes, in the order of names; links are not followed."""
    if source == "-":
        yield Document("<stdin>", data=sys.stdin.buffer.read()), target
    elif os.path.isdir(source):
        for folder, folders, files in os.walk(source):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                if os.path.islink(path) or not os.path.isfile(path):
                    console.say(f"left out, for it is no plain file: {visible(path)}")
                else:
                    yield Document(os.path.relpath(path, source), path), target
    else:
        yield Document(source, source), target


def _write(target: str, name: str | None, data: bytes) -> None:
    """Write one document, whole or not at all; raises `OutstepError`."""
    if target == "-":
        console.put_bytes(data)
        return
    path = Path(target) if name is None else Path(target) / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name[:80]}.{os.getpid()}.part")
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        raise problem(
            "output/unwritable",
            f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}",
            place=Place(source=str(path)),
            help="name a folder in which you may write",
        ) from None


def _write_salts(file: str, done: Sequence[_Done]) -> None:
    """Write what opens the commitments, one line a document that was changed."""
    lines = [
        json.encode({"name": one.name, "salt": one.salt.hex(), "commitment": one.redacted.commitment}) + b"\n"
        for one in done
        if one.redacted.commitment
    ]
    _write(file, None, b"".join(lines))
    os.chmod(file, 0o600)


def _put_json(done: Sequence[_Done]) -> str:
    from outstep.render.values import pretty

    documents = [
        {
            "name": one.name,
            "sha256": sha256(one.redacted.data).hexdigest(),
            "size": len(one.redacted.data),
            "commitment": one.redacted.commitment,
            "replaced": one.redacted.replaced,
            "places": [
                {"kind": place.kind, "member": place.member, "line": place.line, "count": place.count}
                for place in one.redacted.places
            ],
        }
        for one in done
    ]
    return pretty({"schema": "redaction-report/v1", "documents": documents})


def _table(done: Sequence[_Done], *, is_verbose: bool) -> str:
    """Return what was replaced, by kind and place; never a value."""
    total: Counter[str] = Counter()
    for one in done:
        total.update(one.redacted.replaced)
    changed = [one for one in done if one.redacted.replaced]
    lines = [f"{count(len(done), 'document')}, {len(changed)} changed, {count(sum(total.values()), 'value')} replaced"]
    lines += [f"  {kind:<24} {number}" for kind, number in sorted(total.items())]
    most = len(changed) if is_verbose else MOST_DOCUMENTS
    for one in changed[:most]:
        lines.append(f"{shown(one.name, LONGEST_NAME)}:")
        places = one.redacted.places if is_verbose else one.redacted.places[:MOST_PLACES]
        for place in places:
            member = f"{shown(place.member, LONGEST_NAME)}, " if place.member else ""
            lines.append(f"  {member}line {place.line}: {place.kind} x{place.count}")
        if len(places) < len(one.redacted.places):
            lines.append(f"  and {len(one.redacted.places) - len(places)} more places: -v shows them")
    if len(changed) > most:
        lines.append(f"and {len(changed) - most} more documents: -v shows them")
    return "\n".join(lines) + "\n"
