"""The checked contract: what a contract file says, once every name in it is known to exist.

Plain frozen data that msgspec writes to JSON and reads back, so that a warm run parses neither YAML nor CEL. Names are
those of docs/language.md; `Kind` members live in `contracts/kinds/`.
"""

from typing import Any, Literal

from msgspec import Struct, field

from outstep.contracts.kinds import Kind
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.expr.claim import Prepared
from outstep.findings import Level

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

SCHEMA = "contract/v1"

Reads = Literal["text", "json"]


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One declared tool."""

    name: str
    names: tuple[str, ...] = ()
    """Recorded names that mean this tool, besides its own name."""
    effect: Literal["read", "write"] | None = None
    tags: tuple[str, ...] = ()
    args: dict[str, Any] | None = None
    """JSON Schema of the arguments."""
    reads: str | None = None
    """How a result's text becomes data: `text`, `json`, or a pattern with named groups."""
    denied_when: Expr | None = None
    unknown_when: Expr | None = None
    fails_when: Expr | None = None
    succeeds_when: Expr | None = None
    targets: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    """`path`, `command`, `url`, `host`: the first expression that has a value."""
    spot: Spot


class FactSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One writer of a fact."""

    selectors: tuple[Selector, ...]
    each: Expr | None = None
    key: Expr | None = None
    value: Expr | None = None
    never_null: bool = False
    """The loader saw that `value` is never null nor missing."""


class Forget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What makes an entry (without `key`: every entry) as if never recorded."""

    selectors: tuple[Selector, ...]
    key: Expr | None = None


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value remembered from earlier events."""

    name: str
    sources: tuple[FactSource, ...]
    keyed: bool
    """A map by key, else one value."""
    keep: Literal["last", "first", "all"] = "last"
    forget: tuple[Forget, ...] = ()
    spot: Spot


class Claim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sentences in which the agent says something was done."""

    name: str
    patterns: tuple[str, ...]
    prepared: tuple[Prepared, ...] = ()
    """What the patterns come to, in their order; empty in a contract with mistakes."""
    spot: Spot


class Text(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message with values: literal parts and expressions in turn."""

    parts: tuple[str | Expr, ...]


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One requirement."""

    id: str
    kind: Kind
    triggers: tuple[Selector, ...] = ()
    """The selectors of `for`; for `never`, its own."""
    level: Level = "block"
    cls: str = ""
    when: tuple[Expr, ...] = ()
    let: tuple[tuple[str, Expr], ...] = ()
    """In order of dependence: a name may use those before it."""
    each: Expr | None = None
    about: str | None = None
    after: tuple[Selector, ...] = ()
    until: tuple[Selector, ...] = ()
    since: tuple[Selector, ...] = ()
    per: tuple[Expr, ...] = ()
    per_turn: bool = False
    in_a_row: bool = False
    counting: Literal["attempts", "unless_failed", "effects"] = "attempts"
    total: Expr | None = None
    """The expression of `sum`."""
    missing: Literal["violated", "inconclusive"] = "violated"
    judge: Literal["run", "record"] = "run"
    message: dict[str, Text] = field(default_factory=dict)
    """By language; `en` when the contract gives one text."""
    pack: str = ""
    """Name of the pack it came from; empty for the file itself."""
    spot: Spot


class Waiver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Findings of a rule that someone has accepted until a day."""

    rule: str
    trace: str = "*"
    owner: str = ""
    reason: str = ""
    until: str = ""
    """ISO date; the waiver counts up to and including that day."""
    spot: Spot


class Contract(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole checked contract."""

    id: str
    title: str = ""
    stage: Literal["observe", "shadow", "gate"] = "gate"
    params: dict[str, Any] = field(default_factory=dict)
    applies_when: Expr | None = None
    tools: tuple[Tool, ...] = ()
    defaults: tuple[Tool, ...] = ()
    """Glob entries of `tools`, already merged into `tools`; kept for tools that are met undeclared."""
    facts: tuple[Fact, ...] = ()
    claims: tuple[Claim, ...] = ()
    rules: tuple[Rule, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    known: dict[str, Selector] = field(default_factory=dict)
    """Selectors inside `known(v, "…")`, by their text."""
    sources: tuple[str, ...] = ()
    """File names that `Spot.file` indexes: the contract first, then included files and packs (`pack:NAME`)."""
    sha256: str = ""
    """Of the contract's bytes and those of every included file."""
