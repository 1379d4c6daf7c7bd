"""`outstep compare`: saved reports side by side, those of `check` and those of containment.

docs: docs/compare.md, docs/batteries.md#compare
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, chosen
from outstep.cli.pages import read_language, read_pages, write_pages
from outstep.compare.results import PARTS
from outstep.errors import OutstepError, Problem, problem
from outstep.render.style import Style
from outstep.reports import LARGEST

if TYPE_CHECKING:
    from outstep.compare.cards import Card
    from outstep.compare.results import Results
    from outstep.compare.score_card import Named

FORMS = ("stdout", "md", "json")
DESCRIPTION = """compare saved reports: how often runs passed and how sure that is, and what became of each case

reports of `outstep check`, results folders of live runs, stores of evidence, tables of results, folders of reports,
or containment reports of one battery

exit codes: 0 a score card; with --baseline: nothing worse · 1 something is worse than the baseline
            2 not comparable: no case in common, a case that did not run, other contracts"""


def run(words: Sequence[str]) -> int:
    """Compare what the files hold and return the exit code."""
    parser = Arguments("compare", DESCRIPTION)
    parser.words("reports", metavar="REPORT", help="reports, folders of them, or tables of results")
    parser.value("--baseline", metavar="REPORT", help="what the others are held against, as a gate")
    parser.value("--by", metavar="PART", help=f"a side for each value of a part of what acted: {', '.join(PARTS)}")
    parser.value("--out", metavar="FORM", help="stdout (tables, default), md or json")
    parser.flag("--json", help="the same as --out json")
    parser.values("--output", metavar="html=FILE", help="also write it as one self-contained page, with trends")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    parser.values("--allow", metavar="WHAT", help="different-judges: compare what different versions judged")
    given = parser.read(words)
    given.out = "json" if given.json else "stdout" if given.out is None else chosen("--out", given.out, FORMS)
    names = [*([given.baseline] if given.baseline is not None else []), *given.reports]
    if any(_is_containment(name) for name in names):
        return _score_card(names, given)
    return _results(names, given)


def _results(names: Sequence[str], given: Given) -> int:
    from outstep.compare.cards import card
    from outstep.compare.versions import split
    from outstep.render import comparison as shown
    from outstep.workflow.comparing import read_side

    if given.by is not None and given.baseline is not None:
        raise problem(
            "usage/arguments", "`--by` makes the sides itself, and takes no `--baseline`", help="leave one of them out"
        )
    if not names or (given.baseline is not None and len(names) < 2):
        raise problem(
            "usage/arguments", "no report was named", help="name reports: outstep compare before.json after.json"
        )
    _check_twice(names)
    language, pages = read_language(given.lang), read_pages(given.output or ())
    sides = [read_side(name) for name in names]
    if given.by is not None:
        sides = split(sides, chosen("--by", given.by, PARTS))
    found = card(sides)
    write_pages(pages, lambda: _page(found, sides, language))
    codes = [one.exit_code for one in found.comparisons]
    code = 2 if 2 in codes else max(codes, default=0) if given.baseline is not None else 0
    if given.out == "json":
        console.put(shown.json(found, code))
    elif given.out == "md":
        console.put(shown.markdown(found, Style(language=language)))
    else:
        console.put(shown.terminal(found, _style(language)))
    console.flush()
    return code


def _page(found: Card, sides: Sequence[Results], language: str) -> str:
    from outstep import __version__
    from outstep.render.comparison_page import html

    return html(found, sides, tool=f"outstep {__version__}", language=language)


def _is_containment(name: str) -> bool:
    from outstep.reports import schema_of

    try:
        with open(name, "rb") as file:
            return schema_of(file.read(LARGEST + 1)).startswith("containment-report/")
    except OSError:
        return False


def _score_card(names: Sequence[str], given: Given) -> int:
    """Write the score card of containment reports and return the exit code."""
    from outstep.compare.score_card import ALLOWED, score_card
    from outstep.render import score_card as shown

    if given.output:
        raise problem(
            "usage/arguments", "the score card of containment reports has no page", help="write --out md, or --out json"
        )
    if given.by is not None:
        raise problem(
            "usage/arguments",
            "containment reports are of one model each",
            help="name them: outstep compare a.json b.json",
        )
    if given.baseline is not None:
        raise problem(
            "usage/arguments", "containment reports have no baseline", help="name them: outstep compare a.json b.json"
        )
    allowed = [chosen("--allow", word, ALLOWED) for word in given.allow or ()]
    _check_names(names)
    card = score_card(_read(names), allowed=allowed)
    if given.out == "json":
        console.put(shown.json(card))
    elif given.out == "md":
        console.put(shown.markdown(card))
    else:
        console.put(shown.terminal(card, _style()))
    console.flush()
    return 0


def _style(language: str = "en") -> Style:
    columns = console.columns(sys.stdout, 160)
    return Style(colour=console.is_coloured(sys.stdout), columns=columns, language=language)


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        sentence = "no report was named" if not names else "one report alone cannot be compared"
        raise problem("usage/arguments", sentence, help="name two or more: outstep compare a.json b.json")
    _check_twice(names)


def _check_twice(names: Sequence[str]) -> None:
    paths = [os.path.realpath(name) for name in names]
    twice = next((name for name, path in zip(names, paths, strict=True) if paths.count(path) > 1), None)
    if twice is not None:
        raise problem("usage/arguments", f"`{twice}` is named twice", help="name each report once")


def _read(names: Sequence[str]) -> list[Named]:
    """Return the reports; raises `OutstepError` with what is wrong in any of them."""
    from outstep.compare.score_card import Named
    from outstep.reports import read_containment_report

    found: list[Named] = []
    problems: list[Problem] = []
    for name in names:
        try:
            found.append(Named(name, read_containment_report(name)))
        except OutstepError as error:
            problems += error.problems
    if problems:
        raise OutstepError(*problems)
    return found
