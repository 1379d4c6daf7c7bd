"""Signed statements of gate runs, of reports and of sealed verdicts (docs/attestations.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from outstep.errors import Place, problem
from outstep.evidence.attestation import File, statement
from outstep.evidence.entries import Entry
from outstep.evidence.objects import Damaged
from outstep.evidence.store import Store
from outstep.findings import Report
from outstep.workflow.contracts import open_contracts
from outstep.workflow.sealing import contract_files, report_bytes


def of_check(report: Report, contracts: Sequence[str], params: Mapping[str, Any]) -> bytes:
    """Return the statement of a check; raises `OutstepError` where a contract is no longer the one that judged."""
    files: dict[str, list[File]] = {}
    # A check that could not begin has judged by none.
    opened = open_contracts(contracts, params=params)[0] if report.contracts else []
    for contract, judged in zip(opened, report.contracts, strict=True):
        held = contract_files(contract)
        own, *others = (data for _, data in held)
        if sha256(own + b"".join(sha256(data).digest() for data in others)).hexdigest() != judged.sha256:
            raise problem(
                "evidence/changed-contract",
                f"`{judged.source}` was changed while it judged",
                place=Place(source=judged.source),
                help="check again: nothing was attested",
            )
        files[contract.id] = [File(label, sha256(data).hexdigest()) for label, data in held]
    return statement(report, report_bytes(report), traces_of(report), files)


def of_report(report: Report, data: bytes) -> bytes:
    """Return the statement of a report that was kept, with what it says of traces and contracts."""
    return statement(report, data, traces_of(report), {})


def of_entry(store: Store, number: int, entry: Entry) -> bytes:
    """Return the statement of a sealed verdict; raises `OutstepError`."""
    judged = entry.judged
    if judged is None:
        raise problem(
            "evidence/empty",
            f"entry {number} holds no verdict",
            help="outstep evidence list shows which entries do; outstep recheck makes verdicts",
        )
    run = entry if entry.kind == "run" else store.log.entry(entry.of or 0)
    try:
        data = store.objects.get(judged.report)
        report = msgspec.json.decode(data, type=Report)
    except (Damaged, msgspec.DecodeError) as error:
        raise problem(
            "evidence/swapped-object",
            f"the report of entry {number} is not what was sealed: {error}",
            help="outstep evidence verify says more",
        ) from None
    files: dict[str, list[File]] = {}
    for contract, name in zip(report.contracts, judged.names, strict=False):
        folder = name.partition("/")[0]
        own = [one for one in judged.contracts if one.name == name]
        rest = [one for one in judged.contracts if one.name != name and one.name.startswith((f"{folder}/", "pack:"))]
        files[contract.id] = [File(one.name, one.sha256) for one in (*own, *rest)]
    return statement(report, data, [File(one.name, one.sha256) for one in run.documents], files)


def traces_of(report: Report) -> list[File]:
    """Return the documents that a report says were judged."""
    found: list[File] = []
    for trace in report.traces:
        names = (
            trace.sources
            if len(trace.sources) == len(trace.sha256)
            else (", ".join(trace.sources),) * len(trace.sha256)
        )
        found += [File(name, digest) for name, digest in zip(names, trace.sha256, strict=True)]
    return found
