"""`outstep evidence attest`: a signed statement of a report that was kept, or of a sealed verdict."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.evidence.common import opened, parser, read, signing_key
from outstep.cli.output import write_whole
from outstep.errors import problem
from outstep.evidence.attestation import envelope
from outstep.render.escape import visible
from outstep.reports import parse_report
from outstep.workflow.attesting import of_entry, of_report

DESCRIPTION = """sign what a report says, as an in-toto statement of a test result in a DSSE envelope"""


def run(words: Sequence[str]) -> int:
    """Attest and return the exit code."""
    made = parser("attest", DESCRIPTION)
    made.words("reports", metavar="REPORT", help="a report that `outstep check --output json=FILE` wrote")
    made.number("--entry", metavar="N", help="instead of a report: the verdict of this entry of the store")
    made.value("--key", metavar="FILE", help="the private key to sign with")
    made.value("--file", metavar="FILE", help="where it goes (else to stdout)")
    given = made.read(words)
    if len(given.reports) + (given.entry is not None) != 1:
        raise problem("usage/arguments", "one report, or `--entry N` of a store, is to be named", help="attest REPORT")
    if given.entry is not None:
        store = opened(given)
        signed = envelope(of_entry(store, given.entry, store.log.entry(given.entry)), signing_key(given, store))
    else:
        (file,) = given.reports
        data = read(file)
        signed = envelope(of_report(parse_report(data, file), data), signing_key(given, None))
    if given.file:
        write_whole(given.file, signed.decode(), "nothing was attested")
        console.say(f"attested in {visible(given.file)}")
    else:
        console.put_bytes(signed)
        console.flush()
    return 0
