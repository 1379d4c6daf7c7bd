"""Rewrite a yardstick data set (one flat event a line, with `trace_id`) as canonical JSON Lines.

usage: canonical.py IN OUT
"""

from __future__ import annotations

import json
import sys
from typing import Any


def rewritten(event: dict[str, Any]) -> dict[str, Any]:
    """Return one event in the canonical form: `type`, `tool`, `seq` first, absent members left out."""
    kind = event["type"]
    if kind == "tool.call":
        head = {"type": kind, "tool": event["name"], "seq": event["seq"]}
        return {**head, "call_id": event["call_id"], "args": event["args"]}
    if kind == "tool.result":
        outcome = "ok" if event["ok"] else "failed"
        return {
            "type": kind,
            "seq": event["seq"],
            "call_id": event["call_id"],
            "outcome": outcome,
            "data": event["data"],
        }
    return {"type": kind, "seq": event["seq"], "text": event["content"]}


def main() -> None:
    """Rewrite one file."""
    source, target = sys.argv[1:3]
    trace = None
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            event = json.loads(line)
            if event["trace_id"] != trace:
                trace = event["trace_id"]
                header = {"type": "trace", "schema": "trace/v1", "id": trace, "complete": True}
                out.write(json.dumps(header, separators=(",", ":")) + "\n")
            out.write(json.dumps(rewritten(event), separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
