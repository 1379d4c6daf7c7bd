"""`outstep why FINDING REPORT|TRACE…`: where it went wrong, with the events that say so.

docs: docs/attribution.md
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, read_param
from outstep.cli.pages import read_language
from outstep.errors import OutstepError, problem
from outstep.render.escape import shown, visible
from outstep.render.style import Style

DESCRIPTION = """say where a finding went wrong: model, context, skill, tool, permission, business rule or harness

every reading names the events it rests on and what it rules out; what the record does not tell is said to be untold
without a finding it lists them

exit codes: 0 told, or told that it can't be told · 2 there is nothing to look at, or it cannot be read"""
ALL = "all"


def run(words: Sequence[str]) -> int:
    """Read a finding and return the exit code."""
    from outstep.workflow.attributing import explain_all, find, judged, unknown
    from outstep.workflow.checking import CheckOptions
    from outstep.workflow.contracts import open_contracts
    from outstep.workflow.found_again import Judged

    parser = Arguments("why", DESCRIPTION)
    parser.words(
        "words", metavar="FINDING PATH", help="a fingerprint (its beginning), a rule, or `all`; reports, traces"
    )
    parser.values("-c", "--contract", metavar="FILE|PACK", help="what the traces are held against")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    parser.value("--format", metavar="NAME", help="the format of the traces (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.flag("--json", help="write it as JSON (attribution/v1)")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    given = parser.read(words)
    word, paths = _split(given.words)
    language = read_language(given.lang)
    contracts, _ = open_contracts(given.contract or (), params=dict(map(read_param, given.param or ())))
    options = CheckOptions(
        format=given.format,
        unpinned=given.unpinned or False,
        complete=given.complete or False,
        language=language,
    )
    some: list[Judged] = judged(paths, contracts, options)
    faults = list(dict.fromkeys(fault for one in some for fault in one.report.faults))
    if not some:
        raise OutstepError(unknown(paths))
    if word is None:
        _list(some)
    else:
        chosen = (
            [(one, finding) for one in some for finding in one.report.findings if finding.level != "observe"]
            if word == ALL
            else [find(some, word)]
        )
        if not chosen:
            raise problem("why/no-findings", "there is no finding in what was given", help="nothing went wrong there")
        _put(explain_all(some, chosen, options), language, is_json=given.json)
    console.flush()
    console.say_problems(faults, language)
    return 2 if faults else 0


def _split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the finding and the paths; a first word that is a file is a path."""
    if not words:
        raise problem("usage/no-paths", "neither a finding nor a path was named", help="outstep why FINDING PATH …")
    first, *rest = words
    if rest and not os.path.exists(first):
        return first, rest
    if not rest and not os.path.exists(first):
        raise problem("usage/no-paths", f"`{first}` is no file", help="outstep why FINDING REPORT|TRACE …")
    return None, list(words)


def _list(some: Sequence[object]) -> None:
    from outstep.workflow.found_again import Judged

    met = 0
    for one in some:
        assert isinstance(one, Judged)
        for finding in one.report.findings:
            met += 1
            console.put(
                f"{finding.fingerprint[:12]}  {finding.verdict:<12}  {visible(finding.rule)}  "
                f"{visible(finding.trace)}  {shown(finding.message, 100)}\n"
            )
    console.put(f"{met} findings: `outstep why FINGERPRINT …` reads one, `outstep why all …` reads all\n")


def _put(found: Sequence[object], language: str, *, is_json: bool) -> None:
    from outstep.render import attribution as shown_as
    from outstep.workflow.attributing import Explained

    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 200), language=language)
    told = [one for one in found if isinstance(one, Explained)]
    if is_json:
        console.put(shown_as.json([(one.finding, one.source, one.answer, one.contrasts, one.notes) for one in told]))
        return
    blocks = [shown_as.terminal(one.finding, one.source, one.answer, one.contrasts, one.notes, style) for one in told]
    console.put("\n".join(blocks))
