"""`outstep evidence export DIR`: everything as plain files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from outstep.cli import console
from outstep.cli.evidence.common import opened, parser
from outstep.errors import problem
from outstep.render.escape import visible
from outstep.render.wording import count


def run(words: Sequence[str]) -> int:
    """Export and return the exit code."""
    made = parser("export", "write a store as plain files, which sha256sum, jq and openssl can verify")
    made.words("folders", metavar="DIR", help="where: a folder that is empty or not there yet")
    given = made.read(words)
    if len(given.folders) != 1:
        raise problem("usage/arguments", "one folder is to be named", help="outstep evidence export --store DIR OUT")
    number = opened(given).export(Path(given.folders[0]))
    console.put(
        f"{count(number, 'document')} written to {visible(given.folders[0])}; docs/verify-by-hand.md says what to do\n"
    )
    return 0
