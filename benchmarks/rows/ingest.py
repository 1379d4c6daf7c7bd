"""`ingest`: 10,000 sessions sealed in a store, against the adapter alone; then verified."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from benchmarks.data import FOLDER
from benchmarks.measure import OUTSTEP, PYTHON, Command, interleaved, run
from benchmarks.sessions import native
from benchmarks.table import Line

SESSIONS = 10_000
RUNS = 1
AS_IT_IS = 0.4
READ = """
import sys
from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import documents, groups
log, count = ReadLog(), 0
for group in groups(documents([sys.argv[1]], log), None, log):
    count += sum(len(batch) for batch in group.adapter.stream(group.documents, Options(), log))
print(count)
"""


def lines() -> list[Line]:
    folder = sessions()
    with tempfile.TemporaryDirectory(prefix="outstep-bench-") as work:
        place = Path(work)
        own = {"OUTSTEP_STATE_DIR": f"{work}/state", "OUTSTEP_CONFIG_DIR": f"{work}/config"}
        own["OUTSTEP_REDACTION_KEY"] = "a key that is only for benchmarks"

        def adding(*more: str) -> Command:
            def anew() -> dict[str, str]:
                # A store in which the sessions lie already would have nothing to do.
                shutil.rmtree(place / "store", ignore_errors=True)
                shutil.rmtree(place / "config", ignore_errors=True)
                _made(place / "store", own)
                return own

            return Command(
                [OUTSTEP, "evidence", "add", "--store", f"{work}/store", str(folder), *more], surroundings=anew
            )

        found = interleaved(
            {
                "adapter": Command([PYTHON, "-c", READ, str(folder)]),
                "as it is": adding("--no-redact"),
                "standard": adding("--redact"),
            },
            RUNS,
        )
        verified = interleaved(
            {"verify": Command([OUTSTEP, "evidence", "verify", "--store", f"{work}/store"], surroundings=lambda: own)},
            1,
        )
    floor = found["adapter"].seconds
    baseline = f"adapter alone {floor:.2f} s"
    told = f"sealed {SESSIONS} entries".encode()
    made = []
    for name, target in (("as it is", AS_IT_IS), ("standard", None)):
        spent = found[name].seconds
        flaw = "" if told in found[name].stdout else "not every session was sealed"
        measured = f"{spent:.2f} s, {SESSIONS / spent:.0f} sessions/s"
        made.append(Line(f"sealed, redaction {name}", measured, baseline, floor / spent, target=target, failure=flaw))
    spent = verified["verify"].seconds
    flaw = "" if b"verdict: whole" in verified["verify"].stdout else "the store is not whole"
    made.append(Line(f"verify of {SESSIONS} entries", f"{spent:.2f} s", "", spent, "s", "at most", 10, failure=flaw))
    return made


def sessions() -> Path:
    """Return a folder of sessions of about 50 events, made now if it is not there."""
    folder = FOLDER / "ingest"
    marker = folder.with_suffix(".done")
    if marker.exists() and marker.read_text("utf-8") == str(SESSIONS):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    head, *rest = native().read_text("utf-8").splitlines(keepends=True)
    body = "".join(rest)
    for number in range(SESSIONS):
        header = json.dumps({**json.loads(head), "id": f"refund-{number}"})
        text = f"{header}\n{body.replace('A1', f'A{number}')}"
        (folder / f"s{number:05}.jsonl").write_text(text, "utf-8")
    marker.write_text(str(SESSIONS), "utf-8")
    return folder


def _made(store: Path, surroundings: dict[str, str]) -> None:
    run(Command([OUTSTEP, "evidence", "init", str(store)], surroundings=lambda: surroundings))
