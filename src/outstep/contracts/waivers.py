"""The section `waivers`: findings that someone has accepted until a day.

docs: docs/language.md, section 1
"""

from __future__ import annotations

from re import compile as linear_pattern

from outstep.contracts.fields import Fields
from outstep.contracts.including import Part
from outstep.contracts.located import Sequence
from outstep.contracts.model import Rule, Waiver
from outstep.contracts.report import Report

KEYS = ("rule", "trace", "owner", "reason", "until")
MOST_WAIVERS = 2000
_DATE = linear_pattern(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def read_waivers(part: Part, rules: tuple[Rule, ...], report: Report) -> tuple[Waiver, ...]:
    """Return the waivers of one file; mistakes go to the report."""
    node = part.fields.get("waivers")
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        report.error("value", "`waivers` is a list", part.fields.key("waivers"))
        return ()
    known = [rule.id for rule in rules]
    found: list[Waiver] = []
    for item in node.items[:MOST_WAIVERS]:
        fields = Fields(item, report, "a waiver", KEYS)
        for key in ("owner", "reason"):
            fields.need(key, "a waiver says who accepts the finding, and why")
        rule, until = fields.need("rule"), fields.need("until", "write the last day, as `2026-03-31`")
        name = fields.text("rule")
        if rule is not None and name and name not in known:
            report.unknown("unknown-rule", f"no rule has the id `{name}`", rule.span, name, known)
        day = fields.text("until")
        if until is not None and day and not is_date(day):
            report.error("value", f"`{day}` is no date", until.span, "write `2026-03-31`")
        waiver = Waiver(
            rule=name,
            trace=fields.text("trace", "*"),
            owner=fields.text("owner"),
            reason=fields.text("reason"),
            until=day,
            spot=item.span.spot,
        )
        found.append(waiver)
    return tuple(found)


def is_date(text: str) -> bool:
    """Return whether a text is a day of the calendar, as `2026-03-31`."""
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= lengths[month - 1] and year > 0
