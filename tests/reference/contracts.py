"""Small contracts that together use every kind and key, over the tools and words of `generate.py`."""

from __future__ import annotations

from functools import cache

from outstep.contracts.loader import load
from outstep.contracts.model import Contract

HEAD = """
outstep: contract/v1
id: small
params: {limit: 1, two: 2}
tools:
  a: {effect: write, tags: [careful], unknown_when: data.odd == true}
  b: {effect: read, fails_when: data.bad == true}
facts:
  seen: {from: ok result b, key: args.k, value: data.v}
  first_seen: {from: ok result b, key: args.k, value: data.v, keep: first}
  every: {from: ok result b, value: args.k, keep: all}
  latest: {from: result b, value: ok}
  done: {from: ok result a where has(data.v), key: args.k, value: data.v}
  tried: {from: call a, key: args.k, value: 'true', forget: user message}
  kept: {from: ok result b, key: args.k, value: '1', forget: {from: ok result a, key: args.k}}
  summed: {from: ok result b, key: args.k, value: 'kept[args.k] == null ? 1 : 2'}
  parts: {from: ok result b, each: data.parts, key: it.id, value: it.n}
  shop: {from: state}
  asked: {from: [{from: user message, value: '1'}, {from: call b, value: '2'}]}
claims:
  finished: ["(?P<what>[xy]) is done"]
rules:
"""

RULES: dict[str, str] = {
    "require-fact": "for: call a\n    require: seen[args.k] == 1",
    "require-first": "for: call a\n    require: first_seen[args.k] == 1",
    "require-all": "for: call a\n    require: every.exists(x, x == args.k)",
    "require-latest": "for: call a\n    require: latest",
    "require-list": "for: call a\n    require: [args.n <= params.two, 'args.k in seen']",
    "require-member": "for: call a\n    require: seen[args.k] != null\n    when: args.k == 'x'",
    "require-forgotten": "for: call a\n    require: '!(args.k in tried)'",
    "require-kept": "for: call a\n    require: args.k in kept && summed[args.k] <= params.limit",
    "require-parts": "for: call a\n    require: parts[args.k] > 0\n    missing: inconclusive",
    "require-approval": "for: ok result a\n    require: approval == 'allowed'",
    "require-said": "for: call a\n    require: said == ''",
    "require-calls": "for: message\n    require: calls == 0",
    "require-known": "for: call a\n    require: known(args.k)",
    "require-known-from": "for: call a\n    require: known(args.k, 'ok result b where data.v == 1')",
    "require-mixed": "for: [call a, call b]\n    require: asked == 1 || asked == null",
    "require-state": "for: state\n    require: state.open == 0",
    "require-end": "for: end\n    require: shop.open == 0 || seen['x'] == 1",
    "require-final": "for: final message\n    require: \"!text.contains('done') || 'x' in done\"",
    "require-each": "for: ok result b\n    each: data.parts\n    require: it.n > 0 && at < 2",
    "require-each-when": "for: ok result b\n    each: data.parts\n    when: it.id in seen\n    require: it.n > 0",
    "require-each-let": (
        "for: ok result b\n    each: data.parts\n    let: {i: it.id}\n    when: i == 'x'\n    require: it.n > 0"
    ),
    "require-about-when": "for: claim finished\n    about: seen\n    when: seen[it] == 1\n    require: it in done",
    "at-most-each-when": "for: ok result b\n    each: data.parts\n    when: it.n > 0\n    at_most: 1\n    per: it.id",
    "require-about": "for: claim finished\n    about: seen\n    require: it in done",
    "require-match": "for: claim finished\n    require: match.what in done",
    "require-after": "for: call a\n    after: user message\n    require: seen[args.k] == 1",
    "require-until": "for: call a\n    until: ok result b where args.k == this.args.k\n    require: args.n > 1",
    "require-let": "for: call a\n    let: {seen_now: 'seen[args.k]', good: 'seen_now == 1'}\n    require: good",
    "require-record": "for: call a\n    judge: record\n    require: seen[args.k] == 1",
    "never-plain": "never: call a where args.k == 'y'",
    "never-after": "never: call a\n    after: failed result b",
    "never-window": "never: call @write\n    after: user message\n    until: ok result b",
    "never-joined": "never: call a\n    after: ok result a where args.k == this.args.k",
    "never-when": "never: message\n    when: \"text.contains('done') && !('x' in done)\"",
    "needs-result": "for: call a\n    needs: ok result b where args.k == this.args.k",
    "needs-since": "for: call a\n    needs: ok result b\n    since: user message",
    "needs-since-result": "for: message\n    needs: result b where data.v == 1\n    since: ok result a",
    "needs-any": "for: call a\n    needs: [user message, approval where decision == 'allowed']",
    "needs-each": "for: ok result b\n    each: data.parts\n    needs: ok result a where args.k == it.id",
    "then-result": "for: call a\n    then: ok its result",
    "then-other": "for: ok result a\n    then: call b where args.k == this.args.k",
    "then-turns": "for: call a\n    then: ok result b\n    within: 1 turns",
    "then-events": "for: call a\n    then: message\n    within: 2 events",
    "then-seconds": "for: call a\n    then: message\n    within: 10 seconds",
    "then-final": "for: user message\n    then: final message where text.contains('done')",
    "then-mentions": "for: ok result a\n    then: message where mentions(text, this.args.k)",
    "at-most": "for: call a\n    at_most: params.limit",
    "at-most-per": "for: call a\n    at_most: 1\n    per: args.k",
    "at-most-pair": "for: [call a, call b]\n    at_most: 1\n    per: [tool, args]",
    "at-most-since": "for: call a\n    at_most: 1\n    since: user message",
    "at-most-window": "for: call a\n    at_most: 1\n    after: user message\n    until: ok result b",
    "at-most-turn": "for: call *\n    at_most: 1\n    per: turn",
    "at-most-row": "for: call *\n    at_most: 1\n    per: tool\n    in_a_row: true",
    "at-most-row-results": "for: result *\n    at_most: 1\n    per: tool\n    in_a_row: true",
    "at-most-sum": "for: call a\n    sum: args.n\n    at_most: params.two",
    "at-most-sum-fact": "for: call a\n    sum: args.n\n    at_most: seen[args.k]\n    per: args.k",
    "at-most-sum-unless": "for: call a\n    sum: args.n\n    at_most: 1\n    counting: unless_failed",
    "at-most-unless": "for: call a\n    at_most: 1\n    per: args.k\n    counting: unless_failed",
    "at-most-effects": "for: call a\n    at_most: 1\n    per: args.k\n    counting: effects",
    "at-most-results": "for: ok result a\n    at_most: 1",
    "at-least": "for: ok result b\n    at_least: 1",
    "at-least-window": "for: call b\n    at_least: 1\n    after: user message\n    until: message",
    "at-least-per": "for: call b\n    at_least: 2\n    per: args.k",
    "exactly": "for: call a\n    exactly: 1",
    "exactly-effects": "for: call a\n    exactly: 1\n    counting: effects",
    "exactly-since": "for: call b\n    exactly: 1\n    since: ok result a",
}
"""Rules by name."""


def contract_text(*names: str) -> str:
    """Return a contract with the named rules; without names, with all of them."""
    chosen = names or tuple(RULES)
    return HEAD + "".join(f"  - id: {rule_id(name)}\n    {RULES[name]}\n" for name in chosen)


def rule_id(name: str) -> str:
    """Return the id that a rule has in its contract."""
    return name.upper().replace("-", "_")


@cache
def contract(*names: str) -> Contract:
    """Return the checked contract with the named rules; without names, with all of them."""
    checked, _ = load(contract_text(*names).encode())
    return checked
