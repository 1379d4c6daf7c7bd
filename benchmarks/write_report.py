"""Write one large report in a format, part by part; prints time and memory as JSON.

usage: python -m benchmarks.write_report FORMAT TRACES FINDINGS FILE
"""

from __future__ import annotations

import json
import resource
import sys
import time

from outstep.render import rendered
from outstep.render.style import PLAIN
from tests.render.reports import large


def main() -> None:
    format, traces, findings, file = sys.argv[1:]
    report = large(int(traces), int(findings))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with open(file, "w", encoding="utf-8") as out:
        out.writelines(rendered(format, report, PLAIN))
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "report": before, "more": after - before}))


if __name__ == "__main__":
    main()
