"""The section `claims`: sentences in which the agent says something was done.

docs: docs/language.md, section 5
"""

from __future__ import annotations

from msgspec import Struct

from outstep.contracts.fields import scalars
from outstep.contracts.located import Node, Scalar, Sequence
from outstep.contracts.model import Claim
from outstep.contracts.reading import Reading
from outstep.expr.claim import Prepared

MOST_CLAIMS = 500
MOST_PATTERNS = 500


class Entry(Struct, frozen=True):
    """One claim as written."""

    key: Scalar
    node: Node


def read_claims(found: dict[str, Entry], reading: Reading) -> tuple[Claim, ...]:
    """Return the claims; mistakes go to the report."""
    claims: list[Claim] = []
    for name, entry in found.items():
        patterns = scalars(entry.node, reading.report, "a claim")
        if isinstance(entry.node, Sequence) and not entry.node.items:
            reading.report.error("value", f"the claim `{name}` has no pattern", entry.node.span)
        if len(patterns) > MOST_PATTERNS:
            sentence = f"the claim `{name}` has {len(patterns)} patterns; {MOST_PATTERNS} are read"
            reading.report.error("value", sentence, entry.node.span)
        prepared = [_prepared(pattern, reading) for pattern in patterns[:MOST_PATTERNS]]
        if any(sign in " |\t\n" for sign in name) or not name:
            reading.report.error(
                "value", f"`{name}` cannot name a claim", entry.key.span, "names hold no blanks and no `|`"
            )
        claims.append(
            Claim(
                name=name,
                patterns=tuple(item.text for item in patterns),
                prepared=tuple(item for item in prepared if item is not None),
                spot=entry.key.span.spot,
            )
        )
    return tuple(claims)


def _prepared(pattern: Scalar, reading: Reading) -> Prepared | None:
    from outstep.contracts import positions
    from outstep.expr.claim_patterns import prepare
    from outstep.expr.patterns import PatternError

    try:
        return prepare(pattern.text)
    except PatternError as error:
        if reading.report_if_apart(pattern):
            return None
        at = error.position
        span = pattern.span if at is None else positions.part(pattern, at, at + 1)
        reading.report.error("regex", error.sentence, span, "patterns are RE2: docs/language.md, section 5")
        return None
