"""`outstep diff A B`: what the second run did otherwise, and which rules stand otherwise because of it.

docs: docs/compare.md#two-traces
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import Arguments, read_param
from outstep.cli.pages import read_language, read_pages, write_pages
from outstep.errors import problem
from outstep.render.escape import visible
from outstep.render.style import Style
from outstep.render.wording import where
from outstep.workflow.checking import CheckOptions
from outstep.workflow.contracts import open_contracts
from outstep.workflow.diffing import Diff, diff

DESCRIPTION = """show what the second of two runs did otherwise, and which rules stand otherwise because of it

exit codes: 0 no rule that blocks stands worse (other arguments alone are shown) · 1 one does · 2 not comparable"""


def run(words: Sequence[str]) -> int:
    """Compare two traces and return the exit code."""
    parser = Arguments("diff", DESCRIPTION)
    parser.words("paths", metavar="TRACE", help="two files: before, after")
    parser.values("-c", "--contract", metavar="FILE|PACK", help="whose rules are held against both (else: integrity)")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    parser.value("--trace", metavar="ID", help="the trace in each file, where there are several")
    parser.value("--format", metavar="NAME", help="the format of both (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.flag("--json", help="write it as JSON (diff/v1)")
    parser.values("--output", metavar="html=FILE", help="also write it as one self-contained page")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    given = parser.read(words)
    if len(given.paths) != 2:
        raise problem("usage/no-paths", "two traces are to be named", help="outstep diff BEFORE AFTER")
    language = read_language(given.lang)
    pages = read_pages(given.output or ())
    contracts, _ = open_contracts(given.contract or (), params=dict(map(read_param, given.param or ())))
    options = CheckOptions(
        format=given.format,
        unpinned=given.unpinned or False,
        complete=given.complete or False,
        language=language,
    )
    found = diff(given.paths[0], given.paths[1], contracts, options, trace=given.trace)
    console.say_problems(found.faults)
    write_pages(pages, lambda: _page(found, language))
    if given.json:
        _put_json(found)
    else:
        _put(found, language)
    console.flush()
    return found.exit_code


def _page(found: Diff, language: str) -> str:
    from outstep import __version__
    from outstep.render.diff_page import Changed, html

    changed = [
        Changed(
            rule=one.rule,
            level=one.level,  # type: ignore[arg-type]
            before=one.before,
            after=one.after,
            is_worse=one.is_worse,
            findings=one.findings,
        )
        for one in found.obligations
    ]
    tool = f"outstep {__version__}"
    return html(found.before, found.after, found.pairs, changed, tool=tool, language=language)


def _put(found: Diff, language: str) -> None:
    from outstep.render.diff import diff_lines

    columns = console.columns(sys.stdout, 160)
    style = Style(colour=console.is_coloured(sys.stdout), columns=columns, language=language)
    console.put(f"--- {visible(found.before)}\n+++ {visible(found.after)}\n")
    if found.divergence is None:
        console.put(f"{style.say('both runs did and got the same')}\n")
    for line in diff_lines(found.pairs, style):
        console.put(f"{line}\n")
    for one in found.obligations:
        colour = "red" if one.is_worse else "green" if one.after == "satisfied" else "yellow"
        level, before, after = (style.say(word) for word in (one.level, one.before, one.after))
        console.put(f"{style.paint(visible(one.rule), colour)} {level}: {before} → {after}\n")
        for finding in one.findings[:3]:
            console.put(f"    {visible(finding.message)} ({where(finding, names_trace=False, style=style)})\n")
    console.put(f"{_summary(found, style)}\n")


def _summary(found: Diff, style: Style) -> str:
    counts = {
        way: sum(pair.way == way for pair in found.pairs) for way in ("same", "changed", "moved", "added", "removed")
    }
    steps = ", ".join(style.say(f"{number} {way}") for way, number in counts.items() if number)
    worse = sum(one.is_worse for one in found.obligations)
    rules = f"{worse} rules that block stand worse" if worse != 1 else "1 rule that blocks stands worse"
    verdict = rules if worse else "no rule that blocks stands worse"
    return f"{style.say('steps')}: {steps or style.say('none')}; {style.say(verdict)}"


def _put_json(found: Diff) -> None:
    from outstep.render.values import pretty

    console.put(pretty({"schema": "diff/v1", "exit_code": found.exit_code, **_plain(found)}))


def _plain(found: Diff) -> dict[str, Any]:
    import msgspec

    told: dict[str, Any] = msgspec.to_builtins(found, builtin_types=(), enc_hook=str)
    first = found.divergence
    told["divergence"] = found.pairs.index(first) if first is not None else None
    return told
