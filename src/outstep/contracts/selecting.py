"""Selectors of a contract: their names held against what is declared, and their `where` against what is bound."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from outstep.contracts.bindings import BOUND, without_this
from outstep.contracts.grammar import GRAMMAR, Parsed, SelectorError, Word, parse_selector
from outstep.contracts.located import Node, Sequence
from outstep.contracts.names import EFFECTS, is_glob
from outstep.contracts.reading import Piece, Reading
from outstep.contracts.selectors import Expr, Selector
from outstep.expr.nodes import Binary, conjuncts, names_of
from outstep.expr.nodes import Node as Tree


class Role(Struct, frozen=True, kw_only=True):
    """What a selector is for, and with it what its `where` may say."""

    key: str
    """`for`, `never`, `from`, `forget`, `needs`, `then`, `since`, `after` or `until`."""
    above: int | None = None
    """How many facts may be used, where not all."""
    more: tuple[str, ...] = ()
    """Names of `let`, `each`, `about` and `match`: they belong to the event of `for`."""
    this: tuple[str, ...] | None = None
    """What `for` picks; none where the selector picks the event itself."""
    this_tools: tuple[str, ...] = ()
    """The tools of `this`, where they are settled."""

    @property
    def is_second(self) -> bool:
        """Whether the selector picks another event than that of `for`."""
        return self.this is not None


def read_selectors(reading: Reading, node: Node, role: Role) -> tuple[Selector, ...]:
    """Return one selector or those of a list; mistakes go to the report."""
    if not isinstance(node, Sequence):
        found = read_selector(reading, node, role)
        return () if found is None else (found,)
    if not node.items:
        reading.report.error("selector", f"`{role.key}` holds no selector", node.span, GRAMMAR)
    return tuple(found for item in node.items if (found := read_selector(reading, item, role)) is not None)


def read_selector(reading: Reading, node: Node, role: Role) -> Selector | None:
    """Return one selector, or none after a mistake."""
    piece = reading.piece(node, "a selector")
    if piece is None:
        return None
    parsed = _parsed(reading, piece)
    if parsed is None:
        return None
    if refusal := _refusal(parsed.what, role):
        reading.report.error("selector", refusal[0], piece.whole, refusal[1])
        return None
    where = None
    if parsed.where is not None:
        more = _further(role, parsed.what)
        tools = _settled(parsed.what, tuple(word.text for word in parsed.names), reading)
        names = reading.names_at(
            (parsed.what,), more=more, this=role.this, above=role.above, tools=tools, this_tools=role.this_tools
        )
        condition = piece.behind(parsed.where)
        where = reading.checked(condition, names)
        if where is None:
            return None
        if role.is_second and role.key != "then":
            _check_join(reading, where, condition, role, parsed.what)
    return _selector(reading, piece, parsed, where)


def settled_tools(selectors: Iterable[Selector], reading: Reading) -> tuple[str, ...]:
    """Return the tools whose calls or results are picked, or nothing where others may be picked too."""
    found: dict[str, None] = {}
    for selector in selectors:
        tools = _settled(selector.what, selector.names, reading)
        if not tools:
            return ()
        found.update(dict.fromkeys(tools))
    return tuple(found)


def _settled(what: str, names: tuple[str, ...], reading: Reading) -> tuple[str, ...]:
    """Return the names, where a selector picks calls or results of declared tools only."""
    return names if what in ("call", "result") and all(name in reading.tools for name in names) else ()


def read_known(reading: Reading, piece: Piece) -> Selector | None:
    """Return the selector inside `known(v, "…")`, or none after a mistake."""
    parsed = _parsed(reading, piece)
    if parsed is None:
        return None
    if refusal := _refusal(parsed.what, Role(key="known", this=())):
        reading.report.error("selector", refusal[0], piece.whole, refusal[1])
        return None
    where = None
    if parsed.where is not None:
        what = parsed.what
        names = reading.once(f"known {what}", lambda: without_this(reading.names_at((what,))))
        where = reading.checked(piece.behind(parsed.where), names)
        if where is None:
            return None
    return _selector(reading, piece, parsed, where)


def _parsed(reading: Reading, piece: Piece) -> Parsed | None:
    try:
        return parse_selector(piece.text)
    except SelectorError as error:
        if not reading.report_if_apart(piece.scalar):
            help = f"{error.help}; a selector is {GRAMMAR}" if error.help else f"a selector is {GRAMMAR}"
            reading.report.error("selector", error.sentence, piece.span(error.at, error.end), help)
        return None


def _selector(reading: Reading, piece: Piece, parsed: Parsed, where: Expr | None) -> Selector:
    if parsed.what == "claim" and not parsed.names:
        reading.used["claims"] = None
    for word in parsed.names:
        if parsed.what == "claim":
            _check_claim(reading, piece, word)
        else:
            _check_tool(reading, piece, word)
    return Selector(
        what=parsed.what,  # type: ignore[arg-type]
        outcome=parsed.outcome,  # type: ignore[arg-type]
        names=tuple(word.text for word in parsed.names),
        by=parsed.by,
        where=where,
        text=" ".join(piece.text.split()),
        spot=piece.whole.spot,
    )


def _check_tool(reading: Reading, piece: Piece, word: Word) -> None:
    span, name = piece.span(word.at, word.end), word.text
    if name.startswith("@"):
        known = [*EFFECTS, *(group for group in reading.groups if group not in EFFECTS)]
        if name[1:] not in known:
            listed = [f"@{group}" for group in known]
            reading.report.unknown("unknown-tag", f"no tool has the tag `{name}`", span, name, listed)
        reading.use("group", name[1:])
    elif is_glob(name):
        reading.use("glob", name)
    elif name not in reading.tools:
        help = f"declare it in `tools`: `{name}: {{}}` is enough"
        sentence = f"`tools` does not declare `{name}`"
        reading.report.unknown("unknown-tool", sentence, span, name, list(reading.tools), help=help)
    else:
        reading.use("tool", name)


def _check_claim(reading: Reading, piece: Piece, word: Word) -> None:
    if word.text in reading.claims:
        reading.use("claim", word.text)
        return
    known, span = list(reading.claims), piece.span(word.at, word.end)
    if is_glob(word.text) or word.text.startswith("@"):
        sentence = f"`claim` takes names of claims, without `*` or `@`, not `{word.text}`"
        reading.report.error("unknown-claim", sentence, span, "name the claims, parted by `|`, or none for all")
        return
    sentence = f"`claims` does not declare `{word.text}`"
    reading.report.unknown("unknown-claim", sentence, span, word.text, known, help="declare it in `claims`")


def _refusal(what: str, role: Role) -> tuple[str, str] | None:
    """Return why an event of this sort cannot be picked here, and what to write, or none."""
    if what == "its result" and role.key != "then":
        return "`its result` stands behind `then` only", "write `result` and the names of the tools"
    if what == "its result" and role.this is not None and any(sort != "call" for sort in role.this):
        return "`its result` belongs to a call, and `for` picks no calls", "write `result` and a `where`"
    if what == "final message" and role.key not in ("for", "then"):
        help = "a message is final once the run has ended: write `for: final message` and `require`"
        return f"`{role.key}` cannot ask for the `final message`", help
    return None


def _further(role: Role, what: str) -> tuple[str, ...]:
    """Return the names of the event of `for` that the picked event does not have itself."""
    return tuple(name for name in role.more if name not in BOUND[what])


def _check_join(reading: Reading, where: Expr, piece: Piece, role: Role, what: str) -> None:
    """Report a condition over both events that is no equality of one with the other (SEMANTICS section 3)."""
    this_side = frozenset(("this", *_further(role, what)))
    picked_side = frozenset((*BOUND[what], "agent", "turn", *reading.facts))
    for node in conjuncts(where.node):
        sides = _sides(node, this_side, picked_side)
        if sides != (True, True) or _is_equality(node, this_side, picked_side):
            continue
        sentence = f"`{role.key}` would have to keep every earlier event for this condition over both events"
        help = 'write `X == this.Y`, or use a fact, or `known(v, "selector")`'
        reading.report.error("unbounded-where", sentence, piece.span(node.at, node.end), help)


def _is_equality(node: Tree, this_side: frozenset[str], picked_side: frozenset[str]) -> bool:
    if not isinstance(node, Binary) or node.op != "==":
        return False
    left = _sides(node.left, this_side, picked_side)
    right = _sides(node.right, this_side, picked_side)
    return {left, right} == {(True, False), (False, True)}


def _sides(node: Tree, this_side: frozenset[str], picked_side: frozenset[str]) -> tuple[bool, bool]:
    used: Iterable[str] = names_of(node)
    return any(name in this_side for name in used), any(name in picked_side for name in used)
