"""Judge one file in the canonical form and print what was found, as JSON: the whole process is what is measured.

usage: judge_file.py CONTRACT FILE CACHE

Adapter, engine and all rules as `outstep check` uses them, without building and rendering a report.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.native import ADAPTER
from outstep.engine import Compiled, judge
from outstep.workflow.contracts import open_contract


def main() -> int:
    contract_file, file, cache = sys.argv[1:]
    contract, _ = open_contract(contract_file, cache=Path(cache))
    compiled = Compiled(contract)
    log = ReadLog()
    document = Document(file, Path(file))
    begun = time.process_time()
    violated: Counter[str] = Counter()
    events = calls = 0
    for judgement in judge(compiled, ADAPTER.stream([document], Options(), log)):
        violated.update(contract.rules[one.rule].id for one in judgement.rulings if one.verdict == "violated")
        events += judgement.events
        calls += judgement.calls
    said = {
        "violated": dict(sorted(violated.items())),
        "events": events,
        "calls": calls,
        "judging": time.process_time() - begun,
        "peak": peak(),
        "faults": [problem.code for problem in log.faults],
    }
    print(json.dumps(said))
    return 2 if log.faults else 0


def peak() -> int | None:
    """Return the most memory that this process ever held resident, in bytes; none where Linux does not say it.

    `ru_maxrss` would be no measure: a process begins with that of its parent.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return None
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    sys.exit(main())
