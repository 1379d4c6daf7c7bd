"""Measure Outstep and print one table (benchmarks/README.md).

usage: python benchmarks/run.py [ROW …]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Measure the rows asked for; the exit code is 1 if one of them could not be measured."""
    # Started as a file, Python looks for modules beside it first, where `profile` is not the standard one.
    sys.path[0] = str(Path(__file__).parents[1])
    from benchmarks import rows
    from benchmarks.data import say
    from benchmarks.measure import NotMeasured
    from benchmarks.table import Line, table

    parser = argparse.ArgumentParser(description="measure Outstep and print one table")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(rows.NAMES)} (default: all)")
    asked = parser.parse_args().rows
    if unknown := [name for name in asked if name not in rows.NAMES]:
        parser.error(f"there is no row `{unknown[0]}`; rows: {', '.join(rows.NAMES)}")
    found: list[tuple[str, list[Line]]] = []
    for name in asked or rows.NAMES:
        say(f"measuring {name}")
        try:
            found.append((name, rows.measure(name)))
        except NotMeasured as error:
            found.append((name, [Line("the whole row", "", failure=str(error))]))
    print(table(found), end="")
    return int(any(line.failure for _, lines in found for line in lines))


if __name__ == "__main__":
    sys.exit(main())
