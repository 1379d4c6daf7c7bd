"""Feed interleaved traces to live monitors, line by line, and print how long each event took, as JSON.

usage: stream_events.py CONTRACT FILE TRACES

The lines of the first traces of a file take turns, as they would come from so many agents at once. What is timed is
what happens to one line: decoding it, and feeding it to the monitor of its trace. Time is the processor time of the
thread; the time that reading that clock takes is measured, too, and taken off. Afterwards the same traces are judged in
one batch, to see that both find the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from outstep.codec import decode_event
from outstep.engine import Compiled, Monitor, judge
from outstep.events import Header
from outstep.workflow.contracts import load_contract

Sources = list[tuple[Header, list[bytes]]]
"""The header and the lines of each trace."""


def main() -> None:
    contract_file, file, traces = sys.argv[1:]
    compiled = Compiled(load_contract(contract_file))
    sources = read(file, int(traces))
    took, overhead, violated = feed(compiled, sources)
    took.sort()
    said = {
        "events": len(took),
        "overhead": overhead,
        **{name: took[int(len(took) * share)] for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))},
        "mean": sum(took) / len(took),
        "violated": sum(violated.values()),
        "as in batch": violated == in_batch(compiled, sources),
    }
    print(json.dumps(said))


def feed(compiled: Compiled, sources: Sources) -> tuple[list[int], int, Counter[int]]:
    """Return the nanoseconds that each event took, those of the clock itself, and the violations by rule."""
    violated: Counter[int] = Counter()
    monitors = [Monitor(compiled, header) for header, _ in sources]
    clock = time.thread_time_ns
    overhead = sorted(-clock() + clock() for _ in range(10_000))[5_000]
    took = []
    for number, line in taking_turns([lines for _, lines in sources]):
        begun = clock()
        rulings = monitors[number].feed(decode_event(line))  # type: ignore[arg-type]
        took.append(clock() - begun - overhead)
        violated.update(one.rule for one in rulings if one.verdict == "violated")
    for monitor in monitors:
        violated.update(one.rule for one in monitor.close() if one.verdict == "violated")
    return took, overhead, violated


def read(file: str, count: int) -> Sources:
    """Return the headers and lines of the first traces of a file."""
    found: Sources = []
    with open(file, "rb") as lines:
        for line in lines:
            if not line.startswith(b'{"type":"trace"'):
                found[-1][1].append(line)
                continue
            if len(found) == count:
                break
            header = decode_event(line)
            assert isinstance(header, Header)
            found.append((header, []))
    return found


def in_batch(compiled: Compiled, sources: Sources) -> Counter[int]:
    """Return the violations by rule that the same traces give in one batch."""
    batches = ([header, *map(decode_event, lines)] for header, lines in sources)
    judgements = judge(compiled, batches)
    return Counter(one.rule for judgement in judgements for one in judgement.rulings if one.verdict == "violated")


def taking_turns(sources: Iterable[list[bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the first line of each source, then the second of each, and so on, with the number of the source."""
    for lines in zip_longest(*sources):
        for number, line in enumerate(lines):
            if line is not None:
                yield number, line


if __name__ == "__main__":
    main()
