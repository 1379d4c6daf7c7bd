"""Print the functions in which a row spends its time, for developers (benchmarks/README.md).

usage: python benchmarks/profile.py ROW [--top N] [--by tottime|cumtime]

The work of the row runs once, in this process, under the profiler, which makes small functions look dearer than they
are: take it as a map, and measure what you change with `run.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path


def main() -> int:
    """Profile one row."""
    # Started as a file, Python looks for modules beside it first, and would take this one for the standard `profile`.
    sys.path[0] = str(Path(__file__).parents[1])
    import cProfile
    import pstats

    from benchmarks.measure import NotMeasured

    parser = argparse.ArgumentParser(description="print the functions in which a row spends its time")
    parser.add_argument("row", choices=list(JOBS))
    parser.add_argument("--top", type=int, default=25, help="how many functions")
    parser.add_argument("--by", default="tottime", choices=["tottime", "cumtime"])
    given = parser.parse_args()
    try:
        job = JOBS[given.row]()
    except NotMeasured as error:
        print(f"{given.row}: {error}", file=sys.stderr)
        return 1
    profiler = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        profiler.runcall(job)
    pstats.Stats(profiler).strip_dirs().sort_stats(given.by).print_stats(given.top)
    return 0


Job = Callable[[], object]


def _startup() -> Job:
    from benchmarks import sessions

    session = str(sessions.native())

    def job() -> None:
        # Imports are most of the work, so nothing of Outstep may be there before.
        from outstep.cli import main

        main(["check", session, "--contract", "refund"])

    return job


def _judging(name: str) -> Callable[[], Job]:
    def make() -> Job:
        from benchmarks.data import NINE_RULES, data_set
        from outstep.adapters.base import Document, Options, ReadLog
        from outstep.adapters.native import ADAPTER
        from outstep.engine import Compiled, judge
        from outstep.workflow.contracts import load_contract

        compiled = Compiled(load_contract(NINE_RULES))
        file = data_set(name).canonical
        batches = ADAPTER.stream([Document(file.name, file)], Options(), ReadLog())
        return lambda: sum(1 for _ in judge(compiled, batches))

    return make


def _checking() -> Job:
    from benchmarks.data import NINE_RULES, data_set
    from outstep.cli import main

    return lambda: main(["check", "--json", "--contract", str(NINE_RULES), str(data_set("M").canonical)])


def _stream() -> Job:
    from benchmarks.data import NINE_RULES, data_set
    from benchmarks.stream_events import feed, read
    from outstep.engine import Compiled
    from outstep.workflow.contracts import load_contract

    compiled = Compiled(load_contract(NINE_RULES))
    sources = read(str(data_set("M").canonical), 1000)
    return lambda: feed(compiled, sources)


def _dsh() -> Job:
    from benchmarks.dsh_read import seconds
    from benchmarks.rows.dsh import logs

    packed, _ = logs()["format 4"]
    return lambda: seconds(packed)


def _text() -> Job:
    from benchmarks.rows import text

    return text.lines


JOBS: dict[str, Callable[[], Job]] = {
    "startup": _startup,
    "batch": _judging("M"),
    "check": _checking,
    "payload": _judging("P20k"),
    "growth": _judging("LONG100k"),
    "stream": _stream,
    "dsh": _dsh,
    "text": _text,
}
"""What makes a row ready, and gives what is to be profiled."""


if __name__ == "__main__":
    sys.exit(main())
