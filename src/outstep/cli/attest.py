"""`outstep check --attest FILE`: a signed statement of what the gate said.

docs: docs/attestations.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outstep.cli.arguments import Given
from outstep.cli.evidence.common import signing_key
from outstep.cli.output import write_whole
from outstep.errors import OutstepError, Problem, problem
from outstep.evidence.attestation import envelope
from outstep.evidence.signing import SigningKey
from outstep.findings import Report
from outstep.workflow.attesting import of_check

MISSING = "the gate stands as it was told; the exit code is 2, because it is not attested"


def key_of(given: Given) -> SigningKey:
    """Return the key to sign with, before anything is checked; raises `OutstepError`."""
    if given.attest == "-":
        raise problem("usage/arguments", "an attestation goes to a file", help="--attest FILE")
    return signing_key(given, None)


def attest(
    report: Report, file: str, key: SigningKey, contracts: Sequence[str], params: Mapping[str, Any]
) -> tuple[Problem, ...]:
    """Write the attestation of a report; return why it could not be done, or nothing."""
    try:
        write_whole(file, envelope(of_check(report, contracts, params), key).decode(), MISSING)
    except OutstepError as error:
        return error.problems
    return ()
