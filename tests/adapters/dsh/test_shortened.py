"""Output that the harness shortened is not wholly there, and says so."""

from __future__ import annotations

import pytest

from outstep.adapters.dsh.outcome import is_shortened

SPILLED = (
    "first lines\n… last lines\n\n"
    "(Omitted 70216 bytes. Full formatted result stored at: /tmp/dsh-spill-x/s/1-bash.txt. "
    "Use read with offset/limit, or grep this path to search within it.)"
)


@pytest.mark.parametrize(
    ("text", "shortened"),
    [
        (SPILLED, True),
        ("a log\n\n[output truncated; full output: /tmp/dsh-subprocess-x/stdout.log]", True),
        ("the log says (Omitted 3 bytes) and goes on", False),
        ("(Omitted 3 bytes. Full formatted result stored at: /tmp/x)\nand more of the command's own", False),
        ("", False),
    ],
)
def test_only_the_harness_s_own_last_lines_tell_that_output_is_missing(text: str, shortened: bool) -> None:
    assert is_shortened(text) is shortened
