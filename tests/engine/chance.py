"""Small contracts and traces by chance: every kind and key, over events of every type."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from outstep.events import Event, Header
from outstep.tracetext import parse_trace

HEAD = """
outstep: contract/v1
id: chance
params: {limit: 1, words: [x, y]}
tools:
  a: {effect: write, tags: [careful], unknown_when: data.odd == true}
  b:
    effect: read
    fails_when: data.bad == true
    args: {type: object, properties: {k: {type: string}, n: {default: 1}}}
  c: {names: [see], succeeds_when: data.v != null, reads: "v=(?P<v>[0-9])"}
facts:
  seen: {from: ok result b, key: data.k, value: data.v}
  first: {from: ok result b, key: args.k, value: data.v, keep: first}
  every: {from: ok result b, value: data.k, keep: all}
  lists: {from: result a, key: args.k, value: data.v, keep: all}
  latest: {from: result b, value: ok}
  sure: {from: ok result a where has(data.v), key: args.k, value: data.v}
  tried: {from: call a, key: args.k, value: "true", forget: user message}
  kept: {from: ok result b where data.v > 0, key: data.k, value: "1", forget: {from: ok result a, key: args.k}}
  parts: {from: ok result b, each: data.parts, key: it.id, value: it.n}
  twice: {from: ok result c, key: args.k, value: "seen[args.k] == null ? 1 : 2"}
  shop: {from: state}
  said_so: {from: [{from: user message, value: text}, {from: ok result a, value: data.v}]}
claims:
  finished: ["(?P<what>[xy]) is done", done]
rules:
"""

SELECTORS = (
    "call a", "call b", "call c", "call *", "call @write", "call @careful", "call a|b", "ok result a", "result b",
    "failed result *", "unknown result *", "result c", "message", "user message", "claim finished", "approval", "state",
    "context", "decision", "call a by any", "call a by user", "message by sub", "call a by sub*", "end",
    'call a where args.k == "x"', "ok result b where data.v > 0", 'message where text.contains("done")',
)  # fmt: skip
FOR = (*SELECTORS, "final message")
SECOND = tuple(selector for selector in SELECTORS if selector != "end")
JOINED = (
    "ok result b where data.k == this.args.k",
    "ok result a where args.k == this.args.k && data.v > 0",
    "call b where args.k == this.args.k",
)
OF_THEN = (
    "its result", "ok its result", "ok its result where data.v == this.args.n", "final message",
    "message where mentions(text, this.args.k)", "call b where args.n >= this.args.n",
)  # fmt: skip
EXPRESSIONS = (
    "args.n <= params.limit", "args.k in seen", 'seen[args.k] != null', "seen[args.k] == 1", "first[args.k] == 1",
    "size(every) < 2", "latest", "args.k in sure && sure[args.k] != null", "!(args.k in tried)", "kept[args.k] == 1",
    "args.k in parts", "twice[args.k] == 1", "shop.open == 0", 'said_so == null || said_so == 1', 'said == ""',
    "known(args.k)", "lists[args.k] == [1]", 'agent == "main"', "turn == null || turn < 3", "args.k in params.words",
    'known(args.k, "ok result b")', 'known(args.n, "state")',
)  # fmt: skip
AT_END = ("shop.open == 0", 'seen["x"] == 1', "size(every) == 1", '"x" in kept', "latest")
CALLS = ("call a", "call b", "call *", "call @write", 'call a where args.k == "x"')
VALUES = ("args.k", "tool", "args", "args.n")


def quoted(text: str) -> str:
    """Return a text as YAML reads it, whatever it holds."""
    return json.dumps(text)


@st.composite
def _rule(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["require", "needs", "then", "never", "at_most", "at_least", "exactly"]))
    rule: dict[str, Any] = _READERS[kind](draw)
    return rule


def _windows(draw: st.DrawFn, rule: dict[str, Any], *, is_joined: bool = False) -> dict[str, Any]:
    for key in ("after", "until"):
        if draw(st.integers(0, 4)) == 4:
            rule[key] = draw(st.sampled_from((*SECOND, *JOINED) if is_joined else SECOND))
    return rule


def _more(draw: st.DrawFn, rule: dict[str, Any]) -> dict[str, Any]:
    if draw(st.integers(0, 3)) == 3:
        rule["missing"] = "inconclusive"
    if draw(st.integers(0, 5)) == 5:
        rule["judge"] = "record"
    return rule


def _require(draw: st.DrawFn) -> dict[str, Any]:
    rule: dict[str, Any]
    trigger = draw(st.sampled_from(("end", "final message", "message", "state", "claim finished", *CALLS)))
    if trigger in {"message", "final message"}:
        rule = {"for": trigger, "require": draw(st.sampled_from(("calls == 0", 'text.contains("done")', *AT_END)))}
    elif trigger == "claim finished":
        rule = {
            "for": trigger,
            "require": draw(st.sampled_from(("match.what in seen", 'sentence != ""', "it in sure"))),
        }
        if rule["require"] == "it in sure":
            rule["about"] = draw(st.sampled_from(("seen", "kept", "tried")))
    elif trigger in {"end", "state"}:
        rule = {"for": trigger, "require": draw(st.sampled_from(AT_END))}
    else:
        found = draw(st.lists(st.sampled_from(EXPRESSIONS), min_size=1, max_size=2, unique=True))
        rule = {"for": trigger, "require": found if len(found) > 1 else found[0]}
        if draw(st.integers(0, 3)) == 3:
            rule["when"] = draw(st.sampled_from(('args.k == "x"', "args.n > 0", "args.k in seen")))
        if draw(st.integers(0, 5)) == 5:
            rule |= {"each": "args.parts", "require": "it.id in seen"}
        return _more(draw, _windows(draw, rule, is_joined=True))
    return _more(draw, _windows(draw, rule))


def _needs(draw: st.DrawFn) -> dict[str, Any]:
    rule: dict[str, Any] = {"for": draw(st.sampled_from(CALLS))}
    rule["needs"] = draw(st.sampled_from((*SECOND, *JOINED)))
    if draw(st.booleans()):
        rule["since"] = draw(st.sampled_from((*SECOND, *JOINED)))
    return _more(draw, _windows(draw, rule, is_joined=True))


def _then(draw: st.DrawFn) -> dict[str, Any]:
    rule: dict[str, Any] = {"for": draw(st.sampled_from(CALLS))}
    rule["then"] = draw(st.sampled_from((*SECOND, *JOINED, *OF_THEN)))
    if draw(st.integers(0, 2)) == 2:
        rule["within"] = draw(st.sampled_from(("1 turns", "2 turns", "3 events", "5 seconds")))
    return _more(draw, rule)


def _never(draw: st.DrawFn) -> dict[str, Any]:
    return _windows(draw, {"never": draw(st.sampled_from(tuple(x for x in SECOND)))})


def _counted(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    trigger = draw(st.sampled_from((*CALLS, "ok result a", "result *", "decision", "message", "state")))
    rule: dict[str, Any] = {"for": trigger, kind: draw(st.sampled_from(("1", "2", "params.limit")))}
    of_calls = trigger in CALLS
    if draw(st.booleans()):
        rule["per"] = draw(st.sampled_from(VALUES)) if of_calls else "turn"
    if of_calls and draw(st.integers(0, 3)) == 3:
        rule["sum"] = "args.n"
    if kind == "at_most" and of_calls and draw(st.integers(0, 3)) == 3:
        rule[kind] = draw(st.sampled_from(("seen[args.k]", "args.n")))
    if "per" in rule and rule["per"] != "turn" and draw(st.booleans()):
        rule["in_a_row"] = True
    if kind != "at_least" and of_calls:
        rule["counting"] = draw(st.sampled_from(("attempts", "unless_failed", "effects")))
        if rule["counting"] == "effects":
            rule.pop("sum", None)
            rule[kind] = "1"
    if rule[kind] == "1" and kind == "at_least" and "per" in rule and "sum" not in rule:
        rule[kind] = "2"
    if draw(st.integers(0, 3)) == 3:
        rule["since"] = draw(st.sampled_from(SECOND))
    return _more(draw, _windows(draw, rule))


_READERS: dict[str, Any] = {
    "require": _require,
    "needs": _needs,
    "then": _then,
    "never": _never,
    "at_most": lambda draw: _counted(draw, "at_most"),
    "at_least": lambda draw: _counted(draw, "at_least"),
    "exactly": lambda draw: _counted(draw, "exactly"),
}


@st.composite
def contracts(draw: st.DrawFn) -> str:
    """Draw the text of a contract with a few rules."""
    rules = draw(st.lists(_rule(), min_size=1, max_size=4))
    return HEAD + "".join(f"  - {json.dumps({'id': f'R{number}', **rule})}\n" for number, rule in enumerate(rules))


# -- traces ----------------------------------------------------------------------------------------------------------

_KEYS = ('"x"', '"x"', '"y"', "1", "1.0", "true", "null")
_HIDING = ("", "", "", "", "", "", "", " hidden /args/k", " hidden /args", " hidden /args/n")
_RESULT_HIDING = ("", "", "", "", "", "", "", " hidden /data/v", " hidden /data", " hidden /data/k")
_DATA = (
    '{"k": "x", "v": 1}', '{"k": "y", "v": 1, "parts": [{"id": "x", "n": 1}]}',
    '{"k": "x", "v": 1}', '{"k": "y", "v": 0, "parts": [{"id": "x", "n": 1}, {"id": "y"}]}', '{"k": "x"}', '"plain"',
    '{"bad": true, "v": 1}', '{"odd": true, "k": "x", "v": 2}', '{"k": "x", "v": null}', '"v=1"', "",
)  # fmt: skip
_OUTCOMES = ("ok", "ok", "ok", "failed", "denied", "unknown", "unrecorded")
_TEXTS = ("x is done", "y is done.", "Not done", "all is well", "is x done?")
_GAPS = ("", "may_hide=tool.call", "may_hide=tool.result", "may_hide=user.message", "may_hide=assistant.message")


class _Writer:
    """Writes a trace line by line; lanes beside `main` are children of its first call, or a branch."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.lines: list[str] = []
        self._turns = draw(st.booleans())
        self._has_lanes = draw(st.integers(0, 2)) == 2
        self._gaps = draw(st.integers(0, 2)) == 2
        self._turn = {"main": 0, "sub": 0, "alt": 0}
        self._highest = 0
        self._calls: list[tuple[str, str]] = []
        self._count = 0
        self._events = 0

    def write(self) -> str:
        draw = self._draw
        if self._has_lanes:
            self.lines.append("lane sub parent main call c1")
            self.lines.append("lane alt kind branch parent main forked_at 3")
            self._call("main")
        steps = draw(st.lists(st.integers(0, 13), min_size=draw(st.sampled_from((0, 6, 12))), max_size=20))
        for step in steps:
            self._step(step)
        self.lines.append(
            draw(st.sampled_from(("end completed", "end completed", "end completed", "end aborted", "end cut_off", "")))
        )
        return "\n".join(line for line in self.lines if line)

    def _step(self, step: int) -> None:
        lane = self._draw(st.sampled_from(("main", "main", "sub", "alt"))) if self._has_lanes else "main"
        if lane == "alt" and self._events <= 3:
            lane = "main"
        self._events += 1
        if step < 4:
            self._call(lane)
        elif step < 8:
            self._result()
        elif step == 8:
            self._add(f'user "go for {self._draw(st.sampled_from(("x", "y", "1")))}"', lane)
        elif step == 9:
            self._add(f"say {json.dumps(self._draw(st.sampled_from(_TEXTS)))}{self._opened(lane)}", lane)
        elif step == 10:
            self._approval(lane)
        elif step == 11:
            self._add(f'state {{"open": {self._draw(st.integers(0, 1))}}}', "main")
        elif step == 12:
            self._add(f"decision{self._opened(lane)}", lane)
        else:
            self._gap(lane)

    def _add(self, line: str, lane: str) -> None:
        clock = self._draw(st.sampled_from(("", " time 1", " time 4", " time 9")))
        if line.startswith("state"):
            lane = "main"
        self.lines.append(line + clock + (f" lane {lane}" if lane != "main" else ""))

    def _opened(self, lane: str) -> str:
        if not self._turns:
            return ""
        if self._turn[lane] == 0 or self._draw(st.booleans()):
            self._highest += 1
            self._turn[lane] = self._highest
        return f" turn {self._turn[lane]}"

    def _call(self, lane: str) -> None:
        draw = self._draw
        self._count += 1
        name = f"c{self._count}"
        if self._calls and draw(st.integers(0, 15)) == 15:
            name = draw(st.sampled_from([known for _, known in self._calls]))
        elif self._count > 1 and draw(st.integers(0, 25)) == 25:
            name = '""'
        args = f'{{"k": {draw(st.sampled_from(_KEYS))}, "n": {draw(st.integers(0, 2))}}}'
        if draw(st.integers(0, 8)) == 8:
            args = draw(st.sampled_from(("{}", '{"parts": [{"id": "x"}, {}]}', '"{no"', '{"k": "x", "n": "1"}')))
        hidden = draw(st.sampled_from(_HIDING)) if args.startswith('{"k"') else ""
        by = draw(st.sampled_from(("", "", "", "", " by user", " by program"))) if self._count > 1 else ""
        tool = draw(st.sampled_from(("a", "a", "b", "b", "see", "mcp__m__a", "z")))
        self._calls.append((lane, name))
        self._add(f"call {tool} {args}{self._opened(lane)}{by} as {name}{hidden}", lane)

    def _result(self) -> None:
        draw = self._draw
        if draw(st.integers(0, 25)) == 25:
            self._add(f"result {draw(st.sampled_from(('c9', 'c8', 'c1')))} ok", "main")
            return
        if not self._calls:
            self._call("main")
        index = draw(st.integers(0, len(self._calls) - 1))
        lane, name = self._calls[index]
        if draw(st.integers(0, 12)) < 12:
            self._calls.pop(index)
        data = draw(st.sampled_from(_DATA))
        hidden = draw(st.sampled_from(_RESULT_HIDING)) if data.startswith("{") else ""
        self._add(f"result {name} {draw(st.sampled_from(_OUTCOMES))} {data}{hidden}", lane)

    def _approval(self, lane: str) -> None:
        subject = self._draw(st.sampled_from(("a", "b", "c1", "c2")))
        self._add(f"approval {subject} {self._draw(st.sampled_from(('asked', 'allowed', 'denied')))}", lane)

    def _gap(self, lane: str) -> None:
        if not self._gaps:
            self._add('context skill name db "about x"', lane)
            return
        line = f"gap {self._draw(st.sampled_from(_GAPS))}"
        if lane != "main" or self._draw(st.booleans()):
            turn = self._opened(lane) if self._draw(st.booleans()) else ""
            line += f"{turn} lane {lane}"
        self.lines.append(line)


@st.composite
def traces(draw: st.DrawFn) -> tuple[Header, list[Event]]:
    """Draw a trace: with or without turns, lanes, gaps, hidden values, approvals, repeated ids and orphans."""
    return parse_trace(_Writer(draw).write())
