"""`outstep contract schema`: the JSON Schema of contract files, for editors.

docs: docs/editors.md
"""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments


def run(words: Sequence[str]) -> int:
    """Print the schema and return the exit code."""
    from outstep.contracts.json_schema import contract_schema
    from outstep.render.values import pretty

    Arguments("contract schema", "print the JSON Schema of contract files, for editors").read(words)
    console.put(pretty(contract_schema()))
    console.flush()
    return 0
