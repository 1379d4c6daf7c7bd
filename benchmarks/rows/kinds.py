"""`kinds`: one rule of each kind and key alone, on a trace of ten thousand and of a hundred thousand events."""

from __future__ import annotations

import json
from math import log10

import yaml

from benchmarks.data import CACHE, FOLDER, HERE, data_set
from benchmarks.measure import PYTHON, Command, NotMeasured, run
from benchmarks.table import Line

EXPONENT = 1.05
RULES = HERE / "kinds.yaml"


def lines() -> list[Line]:
    """Judge every rule in one process for each size; the smallest of three times counts, as the noise only adds."""
    told = yaml.safe_load(RULES.read_text("utf-8"))
    folder = FOLDER / "kinds"
    folder.mkdir(parents=True, exist_ok=True)
    contracts = []
    for name, rule in told["rules"].items():
        file = folder / f"{name}.yaml"
        body = "".join(f"    {line}\n" for line in rule.splitlines())
        file.write_text(f"{told['head']}  - id: R\n    level: warn\n{body}", "utf-8")
        contracts.append(str(file))
    small, large = data_set("LONG10k"), data_set("LONG100k")
    words = [PYTHON, str(HERE / "judge_rules.py"), str(CACHE), str(small.canonical), str(large.canonical), *contracts]
    seconds: dict[str, list[float]] = json.loads(run(Command(words)).stdout)
    if set(seconds) != set(told["rules"]):
        raise NotMeasured("some rule was not judged")
    found = {
        name: log10(after / before) / log10(large.events / small.events) for name, (before, after) in seconds.items()
    }
    worst = sorted(found, key=lambda name: -found[name])
    return [
        _line(f"worst of {len(worst)} kinds and keys: {worst[0]}", seconds[worst[0]], found[worst[0]], EXPONENT),
        *(
            _line(f"over the bound, too: {name}", seconds[name], found[name], EXPONENT)
            for name in worst[1:]
            if found[name] > EXPONENT
        ),
        _line(
            f"median: {worst[len(worst) // 2]}", seconds[worst[len(worst) // 2]], found[worst[len(worst) // 2]], None
        ),
    ]


def _line(what: str, seconds: list[float], exponent: float, target: float | None) -> Line:
    before, after = seconds
    return Line(what, f"{after:.2f} s", f"{before:.2f} s", exponent, "", "at most", target)
