"""Warnings that need only the contract: what is allowed, and probably not meant.

One module a lint. A warning is given only where the text itself shows it; what traces show is for other places to tell.
"""

from __future__ import annotations

from outstep.contracts.including import Parts
from outstep.contracts.lints import (
    conditions,
    keyed_facts,
    money,
    pairs,
    patterns,
    rules,
    shadowed,
    spellings,
    unused,
    values,
)
from outstep.contracts.lints.base import Subject
from outstep.contracts.model import Contract
from outstep.contracts.reading import Reading

LINTS = (unused, shadowed, values, conditions, pairs, money, keyed_facts, patterns, spellings, rules)


def warn(contract: Contract, reading: Reading, parts: Parts) -> None:
    """Add the warnings to the report."""
    subject = Subject(contract, reading, parts)
    for lint in LINTS:
        lint.warn(subject)
