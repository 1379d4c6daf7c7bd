"""LANGUAGE section 8: whether the record itself holds together."""

from __future__ import annotations

import pytest

from outstep.tracetext import parse_trace

from .helping import contract_of, said
from .judging import evaluate

HEAD = """
tools:
  a: {effect: write, args: {type: object, required: [n], properties: {n: {type: integer}}}}
  b: {effect: read}
"""

CASES = {
    "a call without result in a run that ended": ("MISSING_TOOL_RESULT", "call b\nend completed", "violated 0"),
    "a call without result after which its lane went on": (
        "MISSING_TOOL_RESULT",
        "call b turn 1\ncall b turn 2\nresult c2 ok\nend cut_off",
        "violated 0",
    ),
    "a call whose result could still come": ("MISSING_TOOL_RESULT", "call b\nend aborted", "inconclusive 0"),
    "parallel calls of which one was still running": (
        "MISSING_TOOL_RESULT",
        "call b turn 1\ncall b turn 1\nresult c2 ok\nend cut_off",
        "inconclusive 0",
    ),
    "a result before its call counts as an answer": (
        "MISSING_TOOL_RESULT",
        "result x ok\ncall b as x\nend completed",
        "satisfied",
    ),
    "a result before its call": ("RESULT_BEFORE_CALL", "result x ok\ncall b as x\nend completed", "violated 0"),
    "a result whose call is not there": ("ORPHAN_TOOL_RESULT", "result x ok\nend completed", "violated 0"),
    "a gap that may hide that call": (
        "ORPHAN_TOOL_RESULT",
        "gap may_hide=tool.call\nresult x ok\nend completed",
        "satisfied",
    ),
    "an id twice in one response": (
        "DUPLICATE_CALL_ID",
        "call b as x turn 1\ncall b as x turn 1\nend completed",
        "violated 1",
    ),
    "an id twice between two user messages": (
        "DUPLICATE_CALL_ID",
        'call b as x\ncall b as x\nuser "go"\ncall b as x\nend completed',
        "violated 1",
    ),
    "an id again in another response": (
        "CALL_ID_REUSED",
        "call b as x turn 1\ncall b as x turn 2\nend completed",
        "violated 1",
    ),
    "an empty id is never also a duplicate": (
        "DUPLICATE_CALL_ID",
        'call b as "" turn 1\ncall b as "" turn 1\nend completed',
        "satisfied",
    ),
    "an empty id": ("EMPTY_CALL_ID", 'call b as ""\nend completed', "violated 0"),
    "an empty name": ("EMPTY_TOOL_NAME", 'call ""\nend completed', "violated 0"),
    "an empty name is never also undeclared": ("UNDECLARED_TOOL", 'call ""\ncall c\nend completed', "violated 1"),
    "a second result": ("DUPLICATE_TOOL_RESULT", "call b as x\nresult x ok\nresult x ok\nend completed", "violated 2"),
    "arguments that are no JSON": ("UNREADABLE_ARGUMENTS", 'call a "{n: 1"\nend completed', "violated 0"),
    "arguments that do not fit": ("ARGUMENTS_FIT", 'call a {"n": "1"}\nend completed', "violated 0"),
    "arguments that do": ("ARGUMENTS_FIT", 'call a {"n": 1.0}\ncall b {"n": "1"}\nend completed', "satisfied"),
    "arguments that are hidden": ("ARGUMENTS_FIT", 'call a {"n": "1"} hidden /args/n\nend completed', "inconclusive 0"),
    "executed although denied": (
        "EXECUTED_ALTHOUGH_DENIED",
        "call b\napproval c1 denied\nresult c1 ok\nend completed",
        "violated 2",
    ),
    "denied, and then allowed": (
        "EXECUTED_ALTHOUGH_DENIED",
        "call b\napproval c1 denied\napproval c1 allowed\nresult c1 ok\nend completed",
        "satisfied",
    ),
    "denied, and nobody knows": (
        "EXECUTED_ALTHOUGH_DENIED",
        "call b\napproval c1 denied\nresult c1 unknown\nend completed",
        "inconclusive 2",
    ),
    "a whole record": ("INCOMPLETE_TRACE", "call b\nresult ok\nend completed", "satisfied"),
    "a record that was cut off": ("INCOMPLETE_TRACE", "call b\ngap\nend cut_off", "inconclusive 1 2"),
    "a record without an end": ("INCOMPLETE_TRACE", "call b", "inconclusive run"),
    "a record that only looks complete": ("INCOMPLETE_TRACE", "complete\ncall b", "satisfied"),
    "a sequence number used twice": (
        "DUPLICATE_SEQ",
        "call b\ncontext record.duplicate_seq name 7\nend completed",
        "violated 1",
    ),
    "a foreign record": ("UNKNOWN_RECORD", "context record.unknown name odd\nend completed", "violated 0"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_integrity(name: str) -> None:
    rule, trace, expected = CASES[name]
    outcome = evaluate(contract_of("never: call b where args.n == 99", HEAD), *parse_trace(trace))[rule]
    assert said(outcome) == expected
