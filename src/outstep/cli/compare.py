"""`outstep compare`: saved reports side by side.

docs: docs/cli.md#compare
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments, chosen
from outstep.errors import OutstepError, Problem, problem

if TYPE_CHECKING:
    from outstep.compare.score_card import Named

FORMS = ("stdout", "md", "json")


def run(words: Sequence[str]) -> int:
    """Write the score card of containment reports and return the exit code."""
    from outstep.compare.score_card import ALLOWED, score_card

    parser = Arguments("compare", "compare saved containment reports of one battery: score card, ranks, verdicts")
    parser.words("reports", metavar="REPORT", help="two or more files that `outstep report --out json` wrote")
    parser.value("--out", metavar="FORM", help="stdout (tables, default), md or json")
    parser.flag("--json", help="the same as --out json")
    parser.values("--allow", metavar="WHAT", help="different-judges: compare what different versions judged")
    given = parser.read(words)
    form = "stdout" if given.out is None else chosen("--out", given.out, FORMS)
    allowed = [chosen("--allow", word, ALLOWED) for word in given.allow or ()]
    _check_names(given.reports)
    card = score_card(_read(given.reports), allowed=allowed)
    from outstep.render import score_card as shown
    from outstep.render.style import Style

    if given.json or form == "json":
        console.put(shown.json(card))
    elif form == "md":
        console.put(shown.markdown(card))
    else:
        style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
        console.put(shown.terminal(card, style))
    console.flush()
    return 0


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        sentence = "no report was named" if not names else "one report alone cannot be compared"
        raise problem("usage/arguments", sentence, help="name two or more: outstep compare a.json b.json")
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
