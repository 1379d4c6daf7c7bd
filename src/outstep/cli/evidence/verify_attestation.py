"""`outstep evidence verify-attestation FILE`: who signed what, and whether the files at hand are those.

Exit codes: 0 it holds, 1 it does not, 2 it could not be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.evidence.common import public_key, read
from outstep.errors import OutstepError, Place, Problem, problem
from outstep.evidence.attestation import Statement, result_of, tests_of, verified
from outstep.render.escape import visible
from outstep.render.problems import problem_text
from outstep.render.style import PLAIN
from outstep.reports import parse_report

DESCRIPTION = """look who signed an attestation, what it says, and whether files at hand are those that it is about

exit codes: 0 it holds · 1 it does not · 2 it could not be looked at"""


def run(words: Sequence[str]) -> int:
    """Look and return the exit code."""
    made = Arguments("evidence verify-attestation", DESCRIPTION)
    made.words("files", metavar="FILE", help="the attestation, then recorded sessions and contracts to hold against it")
    made.values("--key", metavar="FILE", help="a public key to trust")
    made.value("--report", metavar="FILE", help="the report that it is about: the statement must say what it says")
    made.flag("--passed", help="the result must be PASSED or WARNED")
    given = made.read(words)
    if not given.files or not given.key:
        raise problem(
            "usage/arguments",
            "an attestation and the public key of its signer are to be named",
            help="outstep evidence verify-attestation FILE --key public.pem",
        )
    file, *others = given.files
    trusted = {key.id: key for key in map(public_key, given.key)}
    try:
        told, signer = verified(read(file), file, trusted)
    except OutstepError as error:
        if error.problems[0].code != "evidence/bad-signature":
            raise
        console.put(f"{problem_text(error.problems[0], PLAIN)}\n\nverdict: does not hold\n")
        return 1
    flaws = list(_flaws(told, others, given.report, must_pass=given.passed))
    for flaw in flaws:
        console.put(f"{problem_text(flaw, PLAIN)}\n\n")
    _put(told, signer, len(others) + (given.report is not None))
    console.put("verdict: does not hold\n" if flaws else "verdict: holds\n")
    console.flush()
    return 1 if flaws else 0


def _flaws(told: Statement, files: Sequence[str], report: str | None, *, must_pass: bool) -> Iterator[Problem]:
    if must_pass and told.result not in ("PASSED", "WARNED"):
        yield Problem(
            code="evidence/not-passed", sentence=f"the result is {told.result}", help="see the report for the reasons"
        )
    for file in (*files, *([report] if report is not None else ())):
        if told.holds(sha256(read(file)).hexdigest()) is None:
            yield Problem(
                code="evidence/not-attested",
                sentence=f"`{file}` is not among the files that it is about",
                place=Place(source=file),
                help="it was changed since, or took no part",
            )
    if report is not None:
        made = parse_report(read(report), report)
        tests = {name: tuple(some) for name, some in tests_of(made).items()}
        if (told.result, dict(told.tests)) != (result_of(made), tests):
            yield Problem(
                code="evidence/changed-verdict",
                sentence=f"the statement says {told.result}, and the report does not give that",
                place=Place(source=report),
                help="whoever signed it says something else than the report; trust neither before you know why",
            )


def _put(told: Statement, signer: str, compared: int) -> None:
    passed, warned, failed = (told.tests[name] for name in ("passedTests", "warnedTests", "failedTests"))
    console.put(f"signed by {signer}: {visible(told.result)}\n")
    console.put(f"rules: {len(passed)} passed, {len(warned)} warned, {len(failed)} failed\n")
    for name in failed:
        console.put(f"  failed  {visible(name)}\n")
    for name in warned:
        console.put(f"  warned  {visible(name)}\n")
    console.put(f"it is about {len(told.subjects)} files; {compared} were held against it here\n")
