"""Random bytes into the reader of batteries: read, or refused with places; nothing else is raised (`make fuzz`)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import atheris

with atheris.instrument_imports():
    from outstep.battery.loader import load, load_scenario
    from outstep.containment.record import parse_run_record
    from outstep.errors import OutstepError, Problem


def read(data: bytes) -> None:
    """Hand bytes to everything that reads what people or harnesses wrote about batteries."""
    for parse in (lambda: load(data).battery.digest, lambda: load_scenario(data), lambda: parse_run_record(data, "x")):
        places = [problem.place for problem in problems_of(parse)]
        if None in places:
            raise AssertionError("a mistake has no place")


def problems_of(parse: Callable[[], object]) -> tuple[Problem, ...]:
    """Return what is refused."""
    try:
        parse()
    except OutstepError as error:
        return error.problems
    return ()


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()
