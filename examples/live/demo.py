"""Two language models, and DeepSeek Harness, play the battery `refund_v1`, and are judged by its contracts.

usage: python examples/live/demo.py [--epochs N] [--again] [FOLDER]

No key and no download: the models have random weights (`random_model.py`) and run in llama.cpp on this machine
(`local_server.py`). With --again both play twice, and the tables have to be the same. Behind the harness stands a model
that answers by rules (`scripted_model.py`), so that what acts is the harness itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUTSTEP = str(Path(sys.executable).with_name("outstep"))
MODELS = {"random-1": 1, "random-2": 2}
RUN = ("--battery", "refund_v1", "--max-turns", "6", "--set", "temperature=1.0", "--set", "max_tokens=120")


def main() -> int:
    """Play, compare, and say how long it took."""
    reading = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reading.add_argument("--epochs", type=int, default=40)
    reading.add_argument("--again", action="store_true", help="play twice, and hold the tables against each other")
    reading.add_argument("folder", nargs="?", type=Path, default=Path("runs/demo-live"))
    asked = reading.parse_args()
    begun = time.monotonic()
    tables: list[str] = []
    shown = ""
    for turn in range(1 + asked.again):
        folder = asked.folder / f"{turn + 1}" if asked.again else asked.folder
        results = played(folder, asked.epochs)
        tables.append(counted(results))
        shown = shown or compared(results)
    print(shown)
    print(f"{time.monotonic() - begun:.0f} s for both models\n")
    begun = time.monotonic()
    harness_plays(asked.folder / "dsh")
    print(f"{time.monotonic() - begun:.0f} s for DeepSeek Harness; every request and response is in {asked.folder}")
    if len(set(tables)) > 1:
        print("error: the same models, seeds and epochs gave another table", file=sys.stderr)
        return 1
    return 0


def played(folder: Path, epochs: int) -> list[Path]:
    """Let both models play at the same time, and return their results folders."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    results = [folder / name for name in MODELS]
    with ExitStack() as servers:
        plays = []
        for (name, seed), result in zip(MODELS.items(), results, strict=True):
            file = folder / f"{name}.gguf"
            subprocess.run([sys.executable, str(HERE / "random_model.py"), str(file), str(seed)], check=True)
            server = servers.enter_context(_server(file, name))
            address = (server.stdout.readline() if server.stdout else "").strip()
            if not address:
                raise SystemExit(f"error: the server of {name} did not start; see {file}.log")
            words = [OUTSTEP, "run", *RUN, "--model", f"openai:{name}", "--base-url", address]
            words += ["--epochs", str(epochs), "--out", str(result), "--concurrency", "2"]
            plays.append(subprocess.Popen(words, env={**os.environ, "OPENAI_API_KEY": "none-needed-here"}))
        codes = [play.wait() for play in plays]
    if any(code not in (0, 1, 3) for code in codes):
        raise SystemExit(f"error: the runs ended with exit codes {codes}")
    return results


def harness_plays(result: Path) -> None:
    """Let DeepSeek Harness play each scenario once, with its own session log held against the world's record."""
    shutil.rmtree(result, ignore_errors=True)
    words = [sys.executable, str(HERE / "scripted_model.py")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        address = (server.stdout.readline() if server.stdout else "").strip()
        words = [OUTSTEP, "run", "--battery", "refund_v1", "--epochs", "1", "--model", "dsh:careful"]
        words += ["--base-url", address, "--out", str(result), "--concurrency", "3"]
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        code = subprocess.run(words, env={**os.environ, "PATH": path}, check=False).returncode
        server.communicate()
    if code not in (0, 1, 3):
        raise SystemExit(f"error: the runs of DeepSeek Harness ended with exit code {code}")


def _server(file: Path, name: str) -> subprocess.Popen[str]:
    """Start the server of a model; it ends when its standard input is closed."""
    words = [sys.executable, str(HERE / "local_server.py"), str(file), name]
    with open(f"{file}.log", "w", encoding="utf-8") as log:
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)


def compared(results: list[Path]) -> str:
    """Return the comparison of the results, for people."""
    return _compare(results)


def counted(results: list[Path]) -> str:
    """Return the comparison without how long runs took: the rest is the same each time."""
    return json.dumps(_timeless(json.loads(_compare(results, "--json"))), indent=1)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name != "latency"}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def _compare(results: list[Path], *options: str) -> str:
    words = [OUTSTEP, "compare", *options, *(result.name for result in results)]
    told = subprocess.run(words, cwd=results[0].parent, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise SystemExit(told.stderr)
    return told.stdout


if __name__ == "__main__":
    sys.exit(main())
