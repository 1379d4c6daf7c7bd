"""`scope` on random runs that move about: every way of judging, and the reference, say the same."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outstep.contracts.loader import load_contract
from outstep.engine import Compiled
from outstep.tracetext import parse_trace
from tests.engine.ways import batched, live
from tests.laws.harness import described, engine_outcomes
from tests.reference import evaluate

CONTRACT = load_contract(b"""
outstep: contract/v1
id: moving
tools: {Bash: {}, bash: {}, read: {effect: read}, put: {targets: {path: args.to}}}
rules:
  - {id: STAY, scope: {read: ["./**"], write: ["./in/**"], run: {except: ["rm **"]}}}
  - {id: SOFT, for: call read, scope: {read: ["./**"]}, missing: inconclusive}
""")
COMPILED = Compiled(CONTRACT)
CALLS = st.sampled_from(
    (
        'Bash {"command": "cd in"}',
        'Bash {"command": "cd .."}',
        'Bash {"command": "cat ../a > in/b"}',
        'Bash {"command": "cat $X"}',
        'bash {"command": "ln -s /etc in/etc && rm x"}',
        'read {"path": "in/etc/passwd"}',
        'read {"path": "/w/in/a"}',
        'read "{no"',
        'read {"path": "x"} hidden /args/path',
        'put {"to": "in/a"}',
        'other {"text": "a"}',
    )
)
# A lane has one call at a time, so that a result is there before the next call.
STEPS = st.tuples(CALLS, st.sampled_from(("ok", "failed", "denied", "unknown")), st.sampled_from(("main", "sub")))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=6), st.booleans(), st.sampled_from(("", "trace cwd /w\n")))
def test_every_way_and_the_reference_agree(steps: list[tuple[str, str, str]], has_gap: bool, head: str) -> None:
    lines = ["lane sub parent main"] if any(lane == "sub" for _, _, lane in steps) else []
    for call, outcome, lane in steps:
        where = f" lane {lane}" if lane != "main" else ""
        lines += [f"call {call}{where}", f"result {outcome}{where}"]
    if has_gap:
        lines.insert(len(lines) // 2 if not steps else len(lines), "gap may_hide=tool.call")
    header, events = parse_trace(head + "\n".join([*lines, "end completed"]))
    exact = live(COMPILED, header, events, exact=True)
    assert live(COMPILED, header, events) == exact
    for size in (1, 3, 1000):
        assert batched(COMPILED, [(header, events)] * 2, size) == [exact] * 2
    expected = described(evaluate(CONTRACT, header, events))
    assert described(engine_outcomes(CONTRACT, header, events)) == expected
