"""SEMANTICS sections 5 to 7: what every kind says, in small traces worked out by hand."""

from __future__ import annotations

import pytest

from .helping import outcome_of_rule, said

HEAD = """
facts:
  seen: {from: ok result b, key: args.k, value: data.v}
claims:
  made: ["made (?P<what>[a-z]+)"]
"""


def check(rule: str, trace: str, expected: str) -> None:
    assert said(outcome_of_rule(rule, trace, HEAD)) == expected


GOOD = 'call b {"k": "x"} turn 1\nresult ok {"v": 1}\n'

SINGLE = {
    "require: the fact is known": (
        "for: call a\nrequire: seen.x == 1",
        GOOD + "call a turn 2\nend completed",
        "satisfied",
    ),
    "require: the fact is not known": (
        "for: call a\nrequire: seen.x == 1",
        GOOD + "call a turn 1\nend completed",
        "violated 2",
    ),
    "require: a false entry wins over a hidden one": (
        "for: call a\nrequire: [args.n == 1, args.m == 1]",
        'call a {"n": 1, "m": 2} hidden /args/n\nend completed',
        "violated 0",
    ),
    "require: hidden evidence is inconclusive": (
        "for: call a\nrequire: [args.n == 1, args.m == 1]",
        'call a {"n": 1, "m": 1} hidden /args/n\nend completed',
        "inconclusive 0",
    ),
    "require: missing evidence violates": ("for: call a\nrequire: args.n == 1", "call a\nend completed", "violated 0"),
    "require: missing evidence is inconclusive by `missing`": (
        "for: call a\nrequire: args.n == 1\nmissing: inconclusive",
        "call a\nend completed",
        "inconclusive 0",
    ),
    "require: an absent member of a condition is null": (
        "for: call a where args.n != null\nrequire: false || args.m == 1",
        "call a\nend completed",
        "vacuous",
    ),
    "require: a condition that cannot be decided never silences": (
        "for: call a where args.n > 1\nrequire: args.m == 1",
        "call a\nend completed",
        "inconclusive 0",
    ),
    "require: each element is an instance of its own": (
        "for: call a\neach: args.items\nrequire: it > 1",
        'call a {"items": [1, 2, 1]}\nend completed',
        "violated 0:1 0:1",
    ),
    "require: final message is the last candidate": (
        "for: final message\nrequire: text == 'bye'",
        'say "hello"\ncall a\nresult ok\nsay "bye"\nend completed',
        "satisfied",
    ),
    "require: a run without a final message is vacuous": (
        "for: final message\nrequire: text == 'bye'",
        'say "hello"\ncall a\nend completed',
        "vacuous",
    ),
    "require: a run that was stopped may have said more": (
        "for: final message\nrequire: text == 'bye'",
        'say "hello"\nend aborted',
        "inconclusive 0",
    ),
    "about: the keys that the sentence mentions": (
        "for: claim made\nabout: seen\nrequire: seen[it] == 2",
        GOOD + 'call b {"k": "y"} turn 1\nresult ok {"v": 2}\nsay "made x and y" turn 2\nend completed',
        'violated 4:"x"',
    ),
    "about: if it mentions none, one key must do": (
        "for: claim made\nabout: seen\nrequire: seen[it] == 2",
        GOOD + 'call b {"k": "y"} turn 1\nresult ok {"v": 2}\nsay "made it" turn 2\nend completed',
        "satisfied",
    ),
    "about: without any key there is none that does": (
        "for: claim made\nabout: seen\nrequire: seen[it] == 2",
        'say "made it"\nend completed',
        "violated 0",
    ),
    "never: each event is an instance": ("never: call a", "call a\ncall b\ncall a\nend completed", "violated 0 2"),
    "never: is not vacuous for lack of events": ("never: call a", "call b\nend completed", "satisfied"),
    "never: is vacuous if `after` never opened": (
        "never: call a\nafter: user message",
        "call a\nend completed",
        "vacuous",
    ),
    "never: inside the window only": (
        "never: call a\nafter: user message\nuntil: message",
        'call a\nuser "go"\ncall a\nsay "so"\ncall a\nend completed',
        "violated 2",
    ),
    "never: an end before any opening opens nothing": (
        "never: call a\nafter: user message\nuntil: message",
        'say "so"\ncall a\nend completed',
        "vacuous",
    ),
    "needs: ever so is enough": (
        "for: call a\nneeds: ok result b",
        "call b turn 1\nresult ok\ncall b turn 2\nresult failed\ncall a turn 3\nend completed",
        "satisfied",
    ),
    "needs: a result of the same response is not known": (
        "for: call a\nneeds: ok result b",
        "call b turn 1\nresult ok\ncall a turn 1\nend completed",
        "violated 2",
    ),
    "needs since: an older match does not count": (
        "for: call a\nneeds: ok result b\nsince: user message",
        'call b turn 1\nresult ok\nuser "edit"\ncall a turn 2\nend completed',
        "violated 3",
    ),
    "needs since: a result counts from the opening of its call's decision": (
        "for: call a\nneeds: ok result b\nsince: user message",
        'call b turn 1\nuser "edit"\nresult c1 ok\ncall a turn 2\nend completed',
        "violated 3",
    ),
    "then: one event discharges all that wait for it": (
        "for: call a\nthen: message",
        'call a turn 1\ncall a turn 2\nsay "so" turn 3\nend completed',
        "satisfied",
    ),
    "then: a message of the same response does not follow": (
        "for: call a\nthen: message",
        'call a turn 1\nsay "so" turn 1\nend completed',
        "violated 0",
    ),
    "then within turns": (
        "for: call a\nthen: call b\nwithin: 1 turns",
        'call a turn 1\nsay "so" turn 2\ncall b turn 3\nend completed',
        "violated 0",
    ),
    "then within turns, the last of them included": (
        "for: call a\nthen: call b\nwithin: 2 turns",
        'call a turn 1\nsay "so" turn 2\ncall b turn 3\nend completed',
        "satisfied",
    ),
    "then within events": (
        "for: call a\nthen: call b\nwithin: 2 events",
        "call a\nresult ok\ncall b\nend completed",
        "satisfied",
    ),
    "then within seconds": (
        "for: call a\nthen: call b\nwithin: 5 seconds",
        "call a time 10\ncall b time 16\nend completed",
        "violated 0",
    ),
    "then within seconds of a clock that is missing": (
        "for: call a\nthen: call b\nwithin: 5 seconds",
        "call a time 10\ncall b\nend completed",
        "inconclusive 0",
    ),
    "then: pending when the run was stopped": ("for: call a\nthen: call b", "call a\nend aborted", "inconclusive 0"),
    "then its result: unknown is not ok": (
        "for: call a\nthen: ok its result",
        "call a\nresult unknown\nend completed",
        "violated 0",
    ),
    "then its result: never came": ("for: call a\nthen: its result", "call a\nend completed", "violated 0"),
    "then final message": (
        "for: user message\nthen: final message where text == 'bye'",
        'user "go"\nsay "bye"\nend completed',
        "satisfied",
    ),
    "then final message: there is none": (
        "for: user message\nthen: final message",
        'user "go"\nsay "bye"\ncall a\nend completed',
        "violated 0",
    ),
    "at the end": (
        "for: end\nrequire: seen.x == 1",
        GOOD + "end completed",
        "satisfied",
    ),
    "at an end that was not written": ("for: end\nrequire: seen.x == 2", "complete\n" + GOOD, "violated run"),
}


@pytest.mark.parametrize("name", list(SINGLE))
def test_single_events(name: str) -> None:
    check(*SINGLE[name])


COUNTS = {
    "at_most: the first event over the bound is the place": (
        "for: call a\nat_most: 1",
        "call a\ncall a\ncall a\nend completed",
        "violated 1",
    ),
    "at_most per: one count for each value": (
        "for: call a\nat_most: 1\nper: args.k",
        'call a {"k": 1}\ncall a {"k": 2}\ncall a {"k": 1.0}\nend completed',
        "violated 2:1",
    ),
    "at_most per turn": (
        "for: call *\nat_most: 1\nper: turn",
        "call a turn 1\ncall b turn 2\ncall a turn 2\nend completed",
        "violated 2",
    ),
    "at_most: a key that is missing violates": (
        "for: call a\nat_most: 1\nper: args.k",
        "call a\nend completed",
        "violated 0",
    ),
    "at_most since: the count starts again": (
        "for: call a\nat_most: 1\nsince: user message",
        'call a turn 1\nuser "again"\ncall a turn 2\nend completed',
        "satisfied",
    ),
    "at_most since: a message inside the response comes too late for it": (
        "for: call a\nat_most: 1\nsince: user message",
        'call a turn 1\nuser "again"\ncall a turn 1\nend completed',
        "violated 2",
    ),
    "at_most in each window": (
        "for: call a\nat_most: 1\nafter: user message\nuntil: message",
        'user "1"\ncall a\nsay "so"\ncall a\nuser "2"\ncall a\ncall a\nend completed',
        "violated 6",
    ),
    "at_most: a second opening does not restart an open window": (
        "for: call a\nat_most: 1\nafter: user message",
        'user "1"\ncall a\nuser "2"\ncall a\nend completed',
        "violated 3",
    ),
    "sum: the total is exact": (
        "for: call a\nsum: args.n\nat_most: 0.3",
        'call a {"n": 0.1}\ncall a {"n": 0.2}\nend completed',
        "satisfied",
    ),
    "sum: over the bound": (
        "for: call a\nsum: args.n\nat_most: 3",
        'call a {"n": 2}\ncall a {"n": 2}\nend completed',
        "violated 1",
    ),
    "sum: negative numbers are missing evidence": (
        "for: call a\nsum: args.n\nat_most: 3",
        'call a {"n": -1}\nend completed',
        "violated 0",
    ),
    "a bound read at each event": (
        "for: call a\nat_most: seen.x",
        GOOD + "call a turn 2\ncall a turn 3\nend completed",
        "violated 3",
    ),
    "a bound that is missing": ("for: call a\nat_most: seen.x", "call a\nend completed", "violated 0"),
    "in a row: another value starts again": (
        "for: call *\nat_most: 2\nper: tool\nin_a_row: true",
        "call a turn 1\ncall a turn 2\ncall b turn 3\ncall a turn 4\nend completed",
        "satisfied",
    ),
    "in a row: the order inside a response does not matter": (
        "for: call *\nat_most: 2\nper: tool\nin_a_row: true",
        "call a turn 1\ncall b turn 2\ncall a turn 2\ncall a turn 3\nend completed",
        'violated 3:"a"',
    ),
    "in a row: a response without any such event changes nothing": (
        "for: call a\nat_most: 1\nper: tool\nin_a_row: true",
        'call a turn 1\nsay "so" turn 2\ncall a turn 3\nend completed',
        'violated 2:"a"',
    ),
    "at_least: too few": ("for: call a\nat_least: 2", "call a\nend completed", "violated run"),
    "at_least: too few when the run was stopped": (
        "for: call a\nat_least: 2",
        "call a\nend aborted",
        "inconclusive run",
    ),
    "at_least: in every window": (
        "for: call a\nat_least: 1\nafter: user message\nuntil: message",
        'user "1"\ncall a\nsay "so"\nuser "2"\nsay "no"\nend completed',
        "violated run",
    ),
    "at_least: a window that ended is settled when the run is stopped": (
        "for: call a\nat_least: 1\nafter: user message\nuntil: message",
        'user "1"\nsay "so"\nend aborted',
        "violated run",
    ),
    "at_least: vacuous if no window opened": (
        "for: call a\nat_least: 1\nafter: user message",
        "call b\nend completed",
        "vacuous",
    ),
    "at_least: an event of undecided condition may be the one": (
        "for: call a where args.n > 1\nat_least: 1",
        "call a\nend completed",
        "inconclusive run",
    ),
    "at_least: enough without it": (
        "for: call a where args.n > 1\nat_least: 1",
        'call a\ncall a {"n": 2}\nend completed',
        "satisfied",
    ),
    "exactly: too many at that event": ("for: call a\nexactly: 1", "call a\ncall a\nend completed", "violated 1"),
    "exactly: too few at the end": ("for: call a\nexactly: 1", "call b\nend completed", "violated run"),
}


@pytest.mark.parametrize("name", list(COUNTS))
def test_counts(name: str) -> None:
    check(*COUNTS[name])


BOTH = {
    "failed, then retry ok": ("call a turn 1\nresult failed\ncall a turn 2\nresult ok", "satisfied", "satisfied"),
    "unknown, then retry failed": (
        "call a turn 1\nresult unknown\ncall a turn 2\nresult failed",
        "satisfied",
        "violated 2",
    ),
    "ok, then a second one that the shop rejects": (
        "call a turn 1\nresult ok\ncall a turn 2\nresult failed",
        "satisfied",
        "violated 2",
    ),
    "two in one turn, one fails": (
        "call a turn 1\ncall a turn 1\nresult c1 failed\nresult c2 ok",
        "satisfied",
        "violated 1",
    ),
    "unknown, then retry ok": ("call a turn 1\nresult unknown\ncall a turn 2\nresult ok", "violated 2", "violated 2"),
    "unanswered, then again": ("call a turn 1\ncall a turn 2", "violated 1", "violated 1"),
    "denied, then again": ("call a turn 1\nresult denied\ncall a turn 2\nresult ok", "satisfied", "satisfied"),
}


@pytest.mark.parametrize("name", list(BOTH))
def test_effects_and_unless_failed_differ_in_both_directions(name: str) -> None:
    trace, effects, unless_failed = BOTH[name]
    check("for: call a\nat_most: 1\ncounting: effects", f"{trace}\nend completed", effects)
    check("for: call a\nat_most: 1\ncounting: unless_failed", f"{trace}\nend completed", unless_failed)


GAPS = {
    "require: a trigger may be hidden": ("for: call a\nrequire: args.n == 1", "gap\nend completed", "inconclusive"),
    "require: a hidden fact": (
        "for: call a\nrequire: seen.x == 1",
        "gap may_hide=tool.result\ncall a\nend completed",
        "inconclusive 1",
    ),
    "require: a fact written behind the gap": (
        "for: call a\nrequire: seen.x == 1",
        "gap may_hide=tool.result\n" + GOOD + "call a turn 2\nend completed",
        "satisfied",
    ),
    "never: what happened happened": ("never: call a", "gap\ncall a\nend completed", "violated 1"),
    "never: what may have happened": ("never: call a", "gap\nend completed", "inconclusive"),
    "never: a gap that cannot hide it": ("never: call a", "gap may_hide=tool.result\nend completed", "satisfied"),
    "needs: known evidence stays": (
        "for: call a\nneeds: ok result b",
        "call b turn 1\nresult ok\ngap may_hide=user.message\ncall a turn 2\nend completed",
        "satisfied",
    ),
    "needs: evidence may be hidden": (
        "for: call a\nneeds: ok result b",
        "gap may_hide=tool.result\ncall a turn 2\nend completed",
        "inconclusive 1",
    ),
    "needs since: what makes it stale may be hidden": (
        "for: call a\nneeds: ok result b\nsince: user message",
        "call b turn 1\nresult ok\ngap may_hide=user.message\ncall a turn 2\nend completed",
        "inconclusive 3",
    ),
    "needs since: a gap before the newest `since` hides no evidence": (
        "for: call a\nneeds: ok result b\nsince: user message",
        'gap may_hide=tool.result\nuser "edit"\ncall a turn 2\nend completed',
        "violated 2",
    ),
    "then: the answer may be hidden": (
        "for: call a\nthen: message",
        "call a\ngap may_hide=assistant.message\nend completed",
        "inconclusive 0",
    ),
    "then: a gap before the event hides no answer": (
        "for: call a\nthen: message",
        "gap may_hide=assistant.message\ncall a\nend completed",
        "violated 1",
    ),
    "then within: a gap between makes the distance unsure": (
        "for: call a\nthen: message\nwithin: 3 events",
        'call a\ngap may_hide=user.message\nsay "so"\nend completed',
        "inconclusive 0",
    ),
    "then within: behind the last place that is near enough, a gap hides no answer": (
        "for: call a\nthen: message\nwithin: 2 events",
        "call a\nresult ok\ncall b\ngap\nend completed",
        "violated 0",
    ),
    "then within: a gap that opens the turn too many may hide an answer before that opening": (
        "for: call a\nthen: ok result b\nwithin: 1 turns",
        "call a turn 1\ncall b turn 2\ngap turn 3\nend completed",
        "inconclusive 0",
    ),
    "then its result: the answer may be hidden": (
        "for: call a\nthen: ok its result",
        "call a\ngap may_hide=tool.result\nend completed",
        "inconclusive 0",
    ),
    "then its result: what came, came": (
        "for: call a\nthen: ok its result",
        "call a\nresult failed\ngap may_hide=tool.result\nend completed",
        "violated 0",
    ),
    "at_most: over the bound already": ("for: call a\nat_most: 1", "gap\ncall a\ncall a\nend completed", "violated 2"),
    "at_most since: what starts the count again may be hidden": (
        "for: call a\nat_most: 1\nsince: user message",
        "call a\ngap may_hide=user.message\ncall a\nend completed",
        "inconclusive 2",
    ),
    "in a row: what breaks the row may be hidden": (
        "for: call *\nat_most: 1\nper: tool\nin_a_row: true",
        "call a\ngap may_hide=tool.call\ncall a\nend completed",
        'inconclusive 2:"a"',
    ),
    "unless_failed: the failure may be hidden": (
        "for: call a\nat_most: 1\ncounting: unless_failed",
        "call a\ngap may_hide=tool.result\ncall a\nend completed",
        "inconclusive 2",
    ),
    "unless_failed: a settled call counts": (
        "for: call a\nat_most: 1\ncounting: unless_failed",
        "call a\nresult ok\ngap may_hide=tool.result\ncall a\nend completed",
        "violated 3",
    ),
    "effects: a result may be hidden": (
        "for: call a\nat_most: 1\ncounting: effects",
        "call a\ncall a\ngap may_hide=tool.result\nend completed",
        "inconclusive 1",
    ),
    "at_least: enough is enough": ("for: call a\nat_least: 1", "gap\ncall a\nend completed", "satisfied"),
    "at_least: there may be more": (
        "for: call a\nat_least: 1",
        "gap may_hide=tool.call\nend completed",
        "inconclusive run",
    ),
    "final message: another may have followed": (
        "for: final message\nrequire: text == 'bye'",
        'say "so"\ngap may_hide=assistant.message\nend completed',
        "inconclusive 0",
    ),
    "final message: one that would do may not be the last": (
        "for: final message\nrequire: text == 'bye'",
        'say "bye"\ngap may_hide=tool.call\nend completed',
        "inconclusive 0",
    ),
    "final message: a gap before it changes nothing": (
        "for: final message\nrequire: text == 'bye'",
        'gap may_hide=assistant.message\nsay "bye"\nend completed',
        "satisfied",
    ),
    "after: what opens the window may be hidden": (
        "never: call a\nafter: user message",
        "gap may_hide=user.message\ncall a\nend completed",
        "inconclusive 1",
    ),
    "until: what ends the window may be hidden": (
        "never: call a\nuntil: user message",
        "gap may_hide=user.message\ncall a\nend completed",
        "inconclusive 1",
    ),
    "a record that was cut off": ("never: call a", "call b\nend cut_off", "inconclusive"),
    "where only the record counts, gaps are nothing": (
        "never: call a\njudge: record",
        "gap\ncall b\nend cut_off",
        "satisfied",
    ),
    "an approval may be hidden": (
        "for: ok result a\nrequire: approval == 'allowed'",
        "call a\ngap may_hide=approval\nresult c1 ok\nend completed",
        "inconclusive 2",
    ),
}


@pytest.mark.parametrize("name", list(GAPS))
def test_under_gaps(name: str) -> None:
    check(*GAPS[name])


RECORDS = "records user.message,assistant.message,tool.call,tool.result,run.end\n"

NOT_RECORDED = {
    "a trigger that nothing records": ("for: context\nrequire: text == ''", "call a\nend completed", "not-recorded"),
    "a `never` of it": ("never: approval", "call a\nend completed", "not-recorded"),
    "a `since` of it": (
        "for: call a\nneeds: ok result b\nsince: context",
        "call b turn 1\nresult ok\ncall a turn 2\nend completed",
        "not-recorded",
    ),
    "state without any snapshot": ("for: state\nrequire: state.open == 0", "call a\nend completed", "not-recorded"),
    "a lane that the header does not have": ("never: call a by helper-*", "call b\nend completed", "not-recorded"),
    "evidence that nothing records is not there": ("for: call a\nneeds: approval", "call a\nend completed", ""),
}


@pytest.mark.parametrize("name", list(NOT_RECORDED))
def test_no_record_is_no_evidence_of_absence(name: str) -> None:
    rule, trace, reason = NOT_RECORDED[name]
    outcome = outcome_of_rule(rule, RECORDS + trace, HEAD)
    assert (outcome.verdict, outcome.reason) == (("inconclusive", reason) if reason else ("violated", ""))


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("for: call a\nrequire: known_by == null", "inconclusive"),
        ("for: call a\nrequire: known_by == 'skill'", "violated"),
        ("for: call a\nrequire: known_by == null || args == {}", "satisfied"),
    ],
)
def test_a_fact_that_nothing_records_lets_no_rule_hold(rule: str, verdict: str) -> None:
    head = "facts: {known_by: {from: context, value: what}}"
    assert outcome_of_rule(rule, RECORDS + "call a\nend completed", head).verdict == verdict


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [("trace.harness == 'h'", "satisfied"), ("false", "vacuous"), ("params.x > 1", "inconclusive")],
)
def test_applies_when(condition: str, verdict: str) -> None:
    head = f"params: {{x: text}}\napplies_when: {condition}"
    assert outcome_of_rule("never: call a", "trace harness h\ncall b\nend completed", head).verdict == verdict


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("known('R1')", True),
        ("known('R2')", True),
        ("known('R3')", False),
        ("known('R9')", False),
        ("known('R1', 'ok result b')", False),
        ("known('R2', 'result b where data.id == \"R2\"')", True),
    ],
)
def test_known_asks_what_came_from_outside(where: str, holds: bool) -> None:
    trace = """
    user "refund R1"
    call b {"id": "R3"} turn 1
    result ok {"id": "R2"}
    call b turn 2
    result failed {"id": "R9"}
    call a turn 3
    end completed
    """
    assert outcome_of_rule(f"for: call a\nrequire: {where}", trace).verdict == ("satisfied" if holds else "violated")


@pytest.mark.parametrize(
    ("selector", "places"),
    [
        ("call a", "0 1 5"),
        ("call a by main", "0 2 3"),
        ("call a by user", "2"),
        ("call a by harness", "3"),
        ("call a by any", "0 1 2 3 5"),
        ("call a by sub*", "1 5"),
        ("message", "4"),
        ("message by any", "4 6"),
    ],
)
def test_by_says_whose_events(selector: str, places: str) -> None:
    trace = """
    lane sub
    lane sub2
    call a
    call a lane sub
    call a by user
    call a by harness
    say "so"
    call a by program lane sub2
    say "so" lane sub
    end completed
    """
    check(f"never: {selector}", trace, f"violated {places}")
