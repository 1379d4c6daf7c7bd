"""Small traces as text, one event a line: how cases and examples spell what an agent did.

    user "refund order 7, please"
    call order.get {"id": 7} turn 1
    result ok {"id": 7, "state": "PAID"}
    say "It is done." turn 2
    end completed

A line is one of these; the words in brackets may stand in any order, and `#` begins a remark:

    user "text"                       [lane L] [time N] [hidden /text]
    say "text"                        [turn N] [lane L] …
    call TOOL {args}                  [as ID] [turn N] [by WHO] [parent ID] …     a text in place of {args}: no JSON
    result [ID] OUTCOME {data}|"text" [text "…"] [error "…"] [exit N] [turn N] [of SEQ] …
    approval ID|TOOL asked|allowed|denied [by WHO] …
    context WHAT [name NAME] "text"   [version V] [digest D] …
    state {state}                     [time N]
    decision {usage}                  [turn N] [model M] …
    gap                               [may_hide=tool.call,tool.result] [turn N] [lane L] [reason "…"]
    end completed|aborted|cut_off
    lane ID [kind agent|program|branch|user] [parent ID] [call ID] [forked_at SEQ] [cwd PATH]
    records TYPE,TYPE    complete    id ID    trace [harness H] [model M] [cwd PATH]

The n-th call is `cn` unless it says `as`; a result without an id answers the newest call that waits for one.
docs: docs/testing-contracts.md
"""

from __future__ import annotations

from outstep.tracetext.reading import OUTCOMES, parse_trace
from outstep.tracetext.writing import event_lines, trace_text

__all__ = ["OUTCOMES", "event_lines", "parse_trace", "trace_text"]
