"""Contracts by chance over traces by chance: the engine says what the reference says (`make fuzz`)."""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(include=["outstep.engine", "outstep.contracts.kinds"]):
    from tests.laws.test_random_contracts import test_the_engine_says_what_the_reference_says as law


if __name__ == "__main__":
    atheris.Setup(sys.argv, law.hypothesis.fuzz_one_input)  # type: ignore[attr-defined]
    atheris.Fuzz()
