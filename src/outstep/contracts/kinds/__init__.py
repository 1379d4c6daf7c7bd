"""The kinds of rules, one module each: data of the kind, and the monitor that judges it in one pass."""

from __future__ import annotations

from outstep.contracts.kinds.at_least import AtLeast
from outstep.contracts.kinds.at_most import AtMost
from outstep.contracts.kinds.exactly import Exactly
from outstep.contracts.kinds.integrity import Integrity
from outstep.contracts.kinds.needs import Needs
from outstep.contracts.kinds.never import Never
from outstep.contracts.kinds.python import Python
from outstep.contracts.kinds.require import Require
from outstep.contracts.kinds.scope import Scope
from outstep.contracts.kinds.then import Then, Within

Kind = Require | Never | Needs | Then | AtMost | AtLeast | Exactly | Scope | Python | Integrity

__all__ = [
    "AtLeast",
    "AtMost",
    "Exactly",
    "Integrity",
    "Kind",
    "Needs",
    "Never",
    "Python",
    "Require",
    "Scope",
    "Then",
    "Within",
]
