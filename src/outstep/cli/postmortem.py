"""`outstep postmortem TRACE --contract …`: what happened in a run, as a page to read and to keep.

docs: docs/postmortem.md
"""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, read_param
from outstep.cli.pages import read_language, read_pages, write_page
from outstep.errors import problem

DESCRIPTION = """write what happened in a run: timeline, claims, evidence, rule by rule, a rule and a case to keep

exit codes: 0 written, whatever the rules say · 2 there is nothing to tell of, or it cannot be read"""
FORMS = ("markdown", "html")


def run(words: Sequence[str]) -> int:
    """Write a postmortem and return the exit code."""
    from outstep.workflow.checking import CheckOptions
    from outstep.workflow.contracts import open_contract
    from outstep.workflow.retelling import retell

    parser = Arguments("postmortem", DESCRIPTION)
    parser.words("paths", metavar="TRACE", help="a file that holds a recorded trace")
    parser.value("-c", "--contract", metavar="FILE|PACK", help="the contract that the run is held against")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    parser.value("--trace", metavar="ID", help="the trace, where there are several")
    parser.values("--output", metavar="FORM=FILE", help="markdown, html; - is stdout (default: markdown=-)")
    parser.value("--format", metavar="NAME", help="the format of the trace (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.value("--lang", metavar="LANG", help="language of the page: en, zh (OUTSTEP_LANG)")
    given = parser.read(words)
    if len(given.paths) != 1:
        raise problem("usage/no-paths", "one trace is to be named", help="outstep postmortem TRACE --contract FILE")
    if given.contract is None:
        raise problem(
            "usage/no-contract", "no contract was named", help="name a file or a pack: --contract my-agent.yaml"
        )
    language = read_language(given.lang)
    outputs = read_pages(given.output or ("markdown=-",), FORMS)
    params = dict(map(read_param, given.param or ()))
    contract, _ = open_contract(given.contract, params=params)
    options = CheckOptions(
        format=given.format,
        unpinned=given.unpinned or False,
        complete=given.complete or False,
        language=language,
    )
    told, report = retell(given.paths[0], contract, options, name=given.contract, trace=given.trace, params=params)
    from outstep.render import postmortem

    for form, file in outputs:
        text = postmortem.html(told, language) if form == "html" else postmortem.markdown(told, language)
        write_page(file, text)
    console.flush()
    console.say_problems(report.faults)
    return 2 if report.faults else 0
