"""Judge two files by each of many contracts, and print the least time of two that each took, as JSON.

usage: judge_rules.py CACHE SMALL LARGE CONTRACT …
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.native import ADAPTER
from outstep.engine import Compiled, judge
from outstep.workflow.contracts import open_contract

TURNS = 2


def main() -> int:
    cache, small, large, *contracts = map(Path, sys.argv[1:])
    said = {}
    for file in contracts:
        compiled = Compiled(open_contract(str(file), cache=cache)[0])
        said[file.stem] = [min(_seconds(compiled, data) for _ in range(TURNS)) for data in (small, large)]
    print(json.dumps(said))
    return 0


def _seconds(compiled: Compiled, file: Path) -> float:
    gc.collect()
    begun = time.process_time()
    for _ in judge(compiled, ADAPTER.stream([Document(str(file), file)], Options(), ReadLog())):
        pass
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
