"""Write the expected events beside each recording: `python -m tests.adapters.dsh.rewrite`; then read the diff."""

from __future__ import annotations

from tests.adapters.dsh.support import EXPECTED, documents, lines, read, runs


def main() -> None:
    for run in runs():
        traces, _ = read(documents(run))
        (run / EXPECTED).write_text(lines(traces), encoding="utf-8")


if __name__ == "__main__":
    main()
