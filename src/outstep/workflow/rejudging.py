"""Evidence judged again: by the contract that judged it, to see whether the same comes out, or by another one.

docs: docs/evidence.md#judging-again
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from outstep import contract_cache
from outstep.adapters import adapter
from outstep.adapters.base import Document, Options
from outstep.codec import loads
from outstep.contracts.kinds import Python
from outstep.contracts.model import Contract
from outstep.engine.monitor import Compiled
from outstep.errors import OutstepError, problem
from outstep.evidence import entries
from outstep.evidence.entries import Entry, Judged
from outstep.evidence.objects import Damaged
from outstep.evidence.store import Store
from outstep.findings import Report
from outstep.workflow.checking import CheckOptions, in_language
from outstep.workflow.contracts import open_contract
from outstep.workflow.functions import asks_functions, load_functions, source_files
from outstep.workflow.judging import made_ready
from outstep.workflow.sealing import judge, options_of, report_bytes, sealed_traces


class Again(Struct, frozen=True, kw_only=True):
    """What came out when one entry was made again."""

    number: int
    """Of the entry."""
    differences: tuple[str, ...] = ()
    """Sentences; empty: the same bytes came out."""
    notes: tuple[str, ...] = ()
    """What differs and changes nothing: the version of the tool."""
    fault: str = ""
    """Why it could not be made again."""


class Changed(Struct, frozen=True, kw_only=True):
    """The verdicts of two contracts on one run."""

    number: int
    """Of the entry of the run."""
    name: str
    """Of its first document."""
    before: str
    """The gate of the newest verdict so far; empty where there was none."""
    after: str
    rules: tuple[str, ...] = ()
    """Rules that stand against the release now."""
    new: tuple[str, ...] = ()
    """Of `rules`, those that did not before."""
    gone: tuple[str, ...] = ()
    """Rules that stood against it, and do not any more."""
    waived: tuple[str, ...] = ()
    """Of `rules`, those all of whose findings an earlier report had as waived."""


def rejudge(store: Store, number: int, entry: Entry, *, runs_code: bool = False) -> Again:
    """Make events and verdict of an entry again from the stored bytes, with the stored contract, and compare.

    Nothing outside of the evidence is read, but for the packs of this version. Functions that a contract asks are
    code of whoever sealed it: they are run with `runs_code` alone, from the source that was sealed.
    """
    run = entry if entry.kind == "run" else store.log.entry(entry.of or 0)
    try:
        documents = stored_documents(store, run)
        differences = list(_events(run, documents)) if entry.kind == "run" else []
        notes: list[str] = []
        if entry.judged is not None:
            report, told = _verdict(store, run, documents, entry.judged, runs_code)
            differences += told
            if report is not None:
                differences += _compared(store.objects.get(entry.judged.report), report, notes)
    except (Damaged, OutstepError) as error:
        return Again(number=number, fault=str(error))
    return Again(number=number, differences=tuple(differences), notes=tuple(notes))


def stored_documents(store: Store, run: Entry) -> list[Document]:
    """Return the documents of a run with their stored bytes; raises `Damaged`."""
    return [Document(one.name, data=store.objects.get(one.sha256, one.size)) for one in run.documents]


def compared(number: int, run: Entry, earlier: Sequence[Report | None], after: Report) -> Changed:
    """Return how a new verdict on a run differs from the newest of those before."""
    before = earlier[-1] if earlier else None
    was = _against(before) if before is not None else {}
    now = _against(after)
    forgiven = {
        (finding.rule, finding.event, finding.key)
        for report in earlier
        if report is not None
        for finding in report.findings
        if finding.waived
    }
    alarms = {(one.rule, one.event, one.key) for one in after.findings if after.gates(one)} - forgiven
    real = {rule for rule, _, _ in alarms}
    return Changed(
        number=number,
        name=run.documents[0].name if run.documents else "",
        before=before.gate if before is not None else "",
        after=after.gate,
        rules=tuple(now),
        new=tuple(rule for rule in now if rule not in was),
        gone=tuple(rule for rule in was if rule not in now),
        waived=tuple(rule for rule in now if rule not in real),
    )


def earlier_reports(store: Store) -> dict[int, list[str]]:
    """Return the digests of the reports on each run, the newest last, by the number of its entry."""
    found: dict[int, list[str]] = {}
    for number, entry in store.log.numbered():
        if entry.judged is not None:
            reports = found.setdefault(number if entry.kind == "run" else entry.of or 0, [])
            if entry.judged.report in reports:
                reports.remove(entry.judged.report)
            reports.append(entry.judged.report)
    return found


def read_stored(store: Store, digest: str) -> Report | None:
    """Return a stored report, or none where it cannot be read any more."""
    try:
        return msgspec.json.decode(store.objects.get(digest), type=Report)
    except (Damaged, msgspec.DecodeError, RecursionError):
        return None


def _against(report: Report) -> dict[str, None]:
    return dict.fromkeys(finding.rule for finding in report.findings if report.gates(finding))


def _events(run: Entry, documents: Sequence[Document]) -> Iterator[str]:
    """Yield how the traces read now differ from those that were sealed."""
    name, _, version = run.adapter.partition("@")
    if adapter(name).version != version:
        yield f"the adapter `{name}` is version {adapter(name).version} now, and {version} sealed it"
    options = Options(**dict.fromkeys(run.reading, True))
    traces = {trace.id: trace for trace in sealed_traces(documents, name, options)}
    for trace in run.traces:
        again = traces.pop(trace.id, None)
        if again is None:
            yield f"trace `{trace.id}` is not read any more"
        elif again.events != trace.events:
            yield f"the events of trace `{trace.id}` are others: {again.count} now, {trace.count} sealed"
        elif structs.replace(again, missing=trace.missing) != trace:
            yield f"what is told about trace `{trace.id}` is other than what was sealed"
    yield from (f"trace `{name}` is read now, and was not sealed" for name in traces)


def _verdict(
    store: Store, run: Entry, documents: Sequence[Document], judged: Judged, runs_code: bool
) -> tuple[Report | None, list[str]]:
    options = options_of(run, judged.options)
    with _laid_out(store, judged) as (root, told):
        ready = [
            _opened(root, name, loads(judged.params[name]) if name in judged.params else None, options, runs_code)
            for name in judged.names
        ]
        if not ready:
            return None, told
        return judge(documents, run.adapter.partition("@")[0], ready, options), told


@contextmanager
def _laid_out(store: Store, judged: Judged) -> Iterator[tuple[Path, list[str]]]:
    """Lay out the stored files of contracts below a scratch folder; with it, what is no longer as it was.

    Raises `Damaged`.
    """
    told: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(os.path.realpath(made))
        root = Path(scratch, *["x"] * _DEPTH)
        for document in judged.contracts:
            data = store.objects.get(document.sha256, document.size)
            if document.name.startswith("pack:"):
                told += _pack_differs(document, data)
            else:
                path = Path(os.path.normpath(root / document.name))
                if not path.is_relative_to(scratch) or "\0" in document.name:
                    raise Damaged(f"the contract file `{document.name}` has no place below a folder")
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                except OSError as error:
                    raise Damaged(f"the contract file `{document.name}` has no place: {error.strerror}") from None
        yield root, told


_DEPTH = 20
"""Folders above the contracts, so that an `include` may lead upwards."""


def _opened(
    root: Path, name: str, params: Mapping[str, Any] | None, options: CheckOptions, runs_code: bool
) -> Compiled:
    """Return a stored contract made ready; raises `OutstepError`."""
    if name.startswith("pack:"):
        return made_ready(in_language(open_contract(name.removeprefix("pack:"), params=params)[0], options.language))
    scratch = root.parents[_DEPTH - 1]

    def read(path: str) -> bytes:
        if not Path(os.path.realpath(path)).is_relative_to(scratch):
            raise FileNotFoundError(errno.ENOENT, "it is not in the evidence", path)
        with open(path, "rb") as file:
            return file.read()

    contract = contract_cache.open_contract(str(root / name), params=params, read_file=read).contract
    functions = _functions(contract, scratch, runs_code) if asks_functions(contract) else None
    labels = [source if source.startswith("pack:") else _label(root, name, source) for source in contract.sources]
    return Compiled(in_language(structs.replace(contract, sources=tuple(labels)), options.language), functions)


def _functions(contract: Contract, scratch: Path, runs_code: bool) -> Mapping[str, Any]:
    """Return the functions of a contract from their sealed sources; raises `OutstepError`."""
    asked = [rule for rule in contract.rules if isinstance(rule.kind, Python)]
    if not runs_code:
        raise problem(
            "evidence/code-not-run",
            f"rule {asked[0].id} asks a Python function, and code from evidence is not run",
            help="--run-code runs the source that was sealed: where you trust who sealed it, or in a container",
        )
    missing = [path for path in source_files(contract) if not Path(os.path.realpath(path)).is_relative_to(scratch)]
    if missing or not source_files(contract):
        raise problem(
            "evidence/code-not-sealed",
            f"the source of the function that rule {asked[0].id} asks was not sealed",
            help="seal it anew: the sources of functions are sealed with the contract",
        )
    return load_functions(contract)


def _label(root: Path, name: str, source: str) -> str:
    """Return the name under which a file was sealed: the id of its contract, then the way from its folder."""
    folder, _, _ = name.partition("/")
    own = (root / name).parent
    return f"{folder}/{os.path.relpath(os.path.abspath(source), own)}".replace(os.sep, "/")


def _pack_differs(document: entries.Document, data: bytes) -> list[str]:
    from outstep.contracts import packs

    name = document.name.removeprefix("pack:")
    if packs.source(name) == data:
        return []
    return [f"this version of Outstep brings another pack `{name}` than the one that judged"]


def _compared(sealed: bytes, report: Report, notes: list[str]) -> list[str]:
    again = report_bytes(report)
    if again == sealed:
        return []
    before = msgspec.json.decode(sealed, type=Report)
    if report_bytes(structs.replace(report, tool=before.tool)) == sealed:
        notes.append(f"`{before.tool}` sealed it, and `{report.tool}` says the same")
        return []
    if before.gate != report.gate:
        return [f"the gate says `{report.gate}` now, and `{before.gate}` was sealed"]
    lost = len(set(_fingerprints(before)) - set(_fingerprints(report)))
    new = len(set(_fingerprints(report)) - set(_fingerprints(before)))
    if lost or new:
        return [f"{lost} findings were sealed that do not come out, and {new} come out that were not sealed"]
    return ["the gate and the findings are the same, and the report has other words"]


def _fingerprints(report: Report) -> list[str]:
    return [finding.fingerprint for finding in report.findings]
