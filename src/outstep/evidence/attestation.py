"""What a gate run says, as others read it: an in-toto statement of a test result, in a signed DSSE envelope.

Statement v1 and the predicate `test-result` v0.1 of in-toto; envelope and what is signed as of DSSE v1.0. There is no
clock in it: the same report under the same key gives the same bytes.
docs: docs/attestations.md
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from outstep.errors import Place, problem
from outstep.evidence.entries import Digest, canonical
from outstep.evidence.signing import PublicKey, SigningKey
from outstep.findings import Report

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
PAYLOAD = "application/vnd.in-toto+json"
CONTRACT_DIGEST = "outstepContract"
"""Name of a digest over a contract with all that it includes: the sha256 of its bytes, then of the 32 bytes of the
sha256 of each included file. A contract without includes has the same one as its file."""
LARGEST = 1 << 27
"""Bytes; a larger envelope is none of ours."""


class File(Struct, frozen=True):
    """A file that took part in a run."""

    name: str
    sha256: Digest


class Descriptor(Struct, frozen=True):
    """What a statement says of a file or of a choice."""

    name: str = ""
    digest: dict[str, str] = {}


class Statement(Struct, frozen=True, kw_only=True):
    """What a statement says, as far as it is looked at here."""

    result: str
    subjects: tuple[Descriptor, ...]
    configuration: tuple[Descriptor, ...]
    tests: dict[str, tuple[str, ...]]
    """`passedTests`, `warnedTests`, `failedTests`."""

    def holds(self, digest: Digest) -> str | None:
        """Return the name under which a file took part, or none where it did not."""
        for one in (*self.subjects, *self.configuration):
            if one.digest.get("sha256") == digest:
                return one.name
        return None


class _Signature(Struct, frozen=True):
    sig: str
    keyid: str = ""


class _Envelope(Struct, frozen=True, rename="camel"):
    payload: str
    payload_type: str
    signatures: tuple[_Signature, ...]


def statement(report: Report, data: bytes, traces: Sequence[File], contracts: Mapping[str, Sequence[File]]) -> bytes:
    """Return the statement of a report, as canonical JSON.

    `data` are the bytes of the report, `traces` the documents that were judged; `contracts` gives the files of each
    contract that are known, its own first, by the contract's id.
    """
    subjects = [_descriptor("report", File("report.json", sha256(data).hexdigest()))]
    subjects[0]["annotations"] |= {"gate": report.gate, "exitCode": report.exit_code, "tool": report.tool}
    subjects += [_descriptor("trace", file) for file in dict.fromkeys(traces)]
    configuration = []
    for contract in report.contracts:
        files = contracts.get(contract.id, ())
        configuration.append(
            {
                "name": _text(f"contract:{contract.id}"),
                "digest": {CONTRACT_DIGEST: contract.sha256},
                "annotations": {"role": "contract", "source": _text(contract.source)},
            }
        )
        configuration += [_descriptor("contract file", file) for file in files]
    known = {file for files in contracts.values() for file in files}
    subjects += [_descriptor("contract file", file) for file in sorted(known, key=lambda one: (one.name, one.sha256))]
    configuration.append({"name": "options", "annotations": _options(report)})
    tests = tests_of(report)
    predicate = {"result": result_of(report), "configuration": configuration, **tests}
    return canonical({"_type": STATEMENT, "subject": subjects, "predicateType": TEST_RESULT, "predicate": predicate})


def result_of(report: Report) -> str:
    """Return the result that a report is for who knows three: what is not decided has not passed."""
    if report.gate != "pass":
        return "FAILED"
    return "WARNED" if tests_of(report)["warnedTests"] else "PASSED"


def tests_of(report: Report) -> dict[str, list[str]]:
    """Return the rules by what became of them; one that nothing triggered was not tested and stands nowhere."""
    failed = {(one.contract, one.rule) for one in report.findings if report.gates(one)}
    warned = {(one.contract, one.rule) for one in report.findings} - failed
    told: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    for rule in report.rules:
        name, key = _text(f"{rule.contract}/{rule.rule}"), (rule.contract, rule.rule)
        if key in failed:
            told["failedTests"].append(name)
        elif key in warned or rule.violated or rule.inconclusive:
            told["warnedTests"].append(name)
        elif rule.satisfied:
            told["passedTests"].append(name)
    return told


def envelope(payload: bytes, key: SigningKey) -> bytes:
    """Return a statement in its signed envelope, one line of JSON."""
    signature = {"keyid": key.public.id, "sig": base64.b64encode(key.sign(signed_bytes(payload))).decode()}
    told = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD, "signatures": [signature]}
    return canonical(told) + b"\n"


def signed_bytes(payload: bytes, kind: str = PAYLOAD) -> bytes:
    """Return what is signed of a payload: its pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(payload), payload)


def verified(data: bytes, source: str, trusted: Mapping[str, PublicKey]) -> tuple[Statement, str]:
    """Return what a trusted key signed in an envelope, and the id of the key; raises `OutstepError`."""
    place = Place(source=source)
    help = "give what `outstep check --attest FILE` wrote"
    try:
        told = msgspec.json.decode(data, type=_Envelope)
        payload = base64.b64decode(told.payload, validate=True)
        signatures = [base64.b64decode(one.sig, validate=True) for one in told.signatures]
    except (msgspec.DecodeError, RecursionError, binascii.Error, UnicodeError) as error:
        raise problem(
            "evidence/bad-attestation", f"`{source}` is no DSSE envelope: {error}", place=place, help=help
        ) from None
    if told.payload_type != PAYLOAD:
        # The type is signed, too: it says how the payload is to be read.
        raise problem(
            "evidence/bad-attestation",
            f"`{source}` holds `{told.payload_type[:60]}`, not `{PAYLOAD}`",
            place=place,
            help=help,
        )
    signed = signed_bytes(payload)
    # The `keyid` in the envelope is not signed: it may be missing or lie.
    signer = next((name for name, key in trusted.items() if any(key.verifies(one, signed) for one in signatures)), None)
    if signer is None:
        raise problem(
            "evidence/bad-signature",
            f"`{source}` carries no signature of a key to trust ({', '.join(trusted)})",
            place=place,
            help="it was changed after it was signed, or signed by another key",
        )
    return _read(payload, place), signer


class _Predicate(Struct, frozen=True, rename="camel"):
    result: str
    configuration: tuple[Descriptor, ...]
    passed_tests: tuple[str, ...] = ()
    warned_tests: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()


class _Statement(Struct, frozen=True, rename="camel"):
    type: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Descriptor, ...]
    predicate: msgspec.Raw


def _read(payload: bytes, place: Place) -> Statement:
    help = "give what `outstep check --attest FILE` wrote"
    try:
        told = msgspec.json.decode(payload, type=_Statement)
        if (told.type, told.predicate_type) != (STATEMENT, TEST_RESULT):
            kinds = f"`{told.type[:60]}` of `{told.predicate_type[:80]}`"
            raise problem("evidence/bad-attestation", f"the statement is {kinds}", place=place, help=help)
        predicate = msgspec.json.decode(told.predicate, type=_Predicate)
    except (msgspec.DecodeError, RecursionError) as error:
        raise problem(
            "evidence/bad-attestation", f"what was signed is no test result: {error}", place=place, help=help
        ) from None
    return Statement(
        result=predicate.result,
        subjects=told.subject,
        configuration=predicate.configuration,
        tests={
            "passedTests": predicate.passed_tests,
            "warnedTests": predicate.warned_tests,
            "failedTests": predicate.failed_tests,
        },
    )


def _descriptor(role: str, file: File) -> dict[str, Any]:
    return {"name": _text(file.name), "digest": {"sha256": file.sha256}, "annotations": {"role": role}}


def _options(report: Report) -> dict[str, Any]:
    return {"role": "options", "failOn": report.fail_on, "allow": [_text(one) for one in report.allowed]}


def _text(text: str) -> str:
    """Return a name with what is no UTF-8 spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()
