"""What can be said without looking into the trace: nothing is at hand, or another contract holds the same record."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.attribution.answer import FACTORS, Answer, Basis, Reading, RuledOut, cannot_tell, told
from outstep.attribution.matrix import Cell


def without_contract() -> Answer:
    """Return the answer where the contract that judged cannot be had."""
    return cannot_tell(
        "no-contract", "the contract that judged is not at hand", would_tell="that contract: --contract FILE"
    )


def without_record() -> Answer:
    """Return the answer where the record that was judged cannot be had."""
    return cannot_tell("no-trace", "the record is not at hand", would_tell="the recorded trace, as it was judged")


def judged_otherwise(others: Sequence[Cell]) -> Answer:
    """Return the reading of a record that another version of the contract holds otherwise."""
    return told(
        Reading(
            code="judged-otherwise",
            factor="business rule",
            sentence="the very same record holds the rule as another version of the contract has it",
            rests_on=tuple(Basis(event=0, quote=cell.run, note="the same record, held") for cell in others),
            ruled_out=tuple(
                RuledOut(factor=factor, because="the record is the same, byte for byte")
                for factor in FACTORS
                if factor != "business rule"
            ),
        )
    )
