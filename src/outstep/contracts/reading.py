"""What is known of a contract while it is read: the names it declares, and its expressions one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from msgspec import Struct

from outstep.contracts import positions, quoting
from outstep.contracts.bindings import RESERVED, Names, names_at, of_run, owners_of
from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.report import Report, Span
from outstep.contracts.schemas import argument_kinds, strange_member
from outstep.contracts.selectors import Expr, Spot
from outstep.expr.check import Scope, check
from outstep.expr.lex import ExprError
from outstep.expr.nodes import Call, Has, Literal, Name, Select, names_of, walk
from outstep.expr.nodes import Node as Tree
from outstep.expr.parse import parse


class Piece(Struct, frozen=True, kw_only=True):
    """A part of a scalar that is read on its own: an expression behind `where`, one in a message."""

    scalar: Scalar
    start: int = 0
    text: str
    inside: tuple[int, int] | None = None
    """Set where the text stands in quotes inside an expression: the part of the scalar to point at."""

    def span(self, at: int, end: int) -> Span:
        """Return where characters of the text stand in the file."""
        if self.inside is not None:
            return positions.part(self.scalar, *self.inside)
        return positions.part(self.scalar, self.start + at, self.start + end)

    @property
    def whole(self) -> Span:
        """Where all of it stands."""
        return self.span(0, len(self.text))

    def behind(self, at: int) -> Piece:
        """Return the rest of the text from an offset on."""
        return Piece(scalar=self.scalar, start=self.start + at, text=self.text[at:], inside=self.inside)


class Reading:
    """Names declared by all files of a contract, and the mistakes found so far."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.tools: dict[str, Any] = {}
        """Declared tools, with the JSON Schema of their arguments."""
        self.groups: dict[str, None] = {}
        """Effects and tags that some tool, or some glob entry, has."""
        self.facts: dict[str, bool] = {}
        """Facts in the order of declaration, and whether they are kept by key."""
        self.claims: dict[str, None] = {}
        self.params: dict[str, Any] = {}
        self.known_texts: dict[str, Piece] = {}
        """Selectors inside `known(v, "…")`, not yet read."""
        self.used: dict[str, None] = {}
        """`fact NAME`, `claim NAME`, `param NAME`, `tool NAME`: what something in the contract asks for."""
        self.broken: set[Spot] = set()
        """Where rules begin that hold a mistake: what is left of them says nothing of what was meant."""
        self.lets: list[Span] = []
        """Where the names of every `let` stand."""
        self._parsed: dict[tuple[int, int, int, str], Expr | None] = {}
        self._checked: set[tuple[int, int, int, int]] = set()
        self._names: dict[tuple[tuple[str, ...] | None, ...], Names] = {}
        self._special: dict[str, Names] = {}
        self._scopes: dict[int, Scope] = {}

    def names_at(
        self,
        whats: tuple[str, ...],
        *,
        more: tuple[str, ...] = (),
        this: tuple[str, ...] | None = None,
        above: int | None = None,
        tools: tuple[str, ...] = (),
        this_tools: tuple[str, ...] = (),
    ) -> Names:
        """Return the names at an event of any of `whats`, each set of names made once.

        `more` are names of `let`, `each` and `about`; `this` what `for` picks, where that is another event; `above`
        says how many facts may be used, where not all; `tools` are those that the event, and `this`, may be of.
        """
        key = (whats, more, this, None if above is None else (str(above),), tools, this_tools)
        if key not in self._names:
            facts = tuple(self.facts)
            cut = len(facts) if above is None else above
            own = [self.tools.get(tool) for tool in tools]
            of_this = own if this is None else [self.tools.get(tool) for tool in this_tools]
            kinds = argument_kinds(own, ("args",))
            kinds.update(argument_kinds(of_this, ("this", "args")))
            self._names[key] = names_at(
                whats,
                facts=facts[:cut],
                later=facts[cut:],
                more=more,
                this=this,
                kinds=kinds,
                schemas={"args": tuple(own), "this.args": tuple(of_this)},
            )
        return self._names[key]

    def names_anywhere(self, more: tuple[str, ...]) -> Names:
        """Return every name there is, for a rule whose selector could not be read."""
        every = (*RESERVED, *more, *self.facts)
        return self.once(f"anywhere {' '.join(more)}", lambda: Names(tuple(sorted(set(every))), {}))

    def names_of_run(self) -> Names:
        """Return the names that a whole run has; facts and events are elsewhere."""
        return self.once("run", lambda: of_run(self.facts))

    def once(self, key: str, make: Callable[[], Names]) -> Names:
        """Return the names under a key, made at first use."""
        if key not in self._special:
            self._special[key] = make()
        return self._special[key]

    def use(self, what: str, name: str) -> None:
        """Remember that something asks for a declared thing."""
        self.used[f"{what} {name}"] = None

    def expression(self, node: Node, names: Names) -> Expr | None:
        """Return the expression in a value, parsed and checked; none after a mistake."""
        piece = self.piece(node)
        return None if piece is None else self.checked(piece, names)

    def expressions(self, node: Node, names: Names) -> tuple[Expr, ...]:
        """Return one expression, or each of a list."""
        if isinstance(node, Sequence):
            if not node.items:
                self.report.error("value", "the list holds no expression", node.span)
            found = [self.expression(item, names) for item in node.items]
        else:
            found = [self.expression(node, names)]
        return tuple(expr for expr in found if expr is not None)

    def checked(self, piece: Piece, names: Names) -> Expr | None:
        """Return the expression of a piece, parsed and checked; none after a mistake in its form."""
        expr = self.parsed(piece)
        if expr is not None:
            self.check(expr, piece, names)
        return expr

    def piece(self, node: Node, what: str = "an expression") -> Piece | None:
        """Return a value as text to be read; none (and a mistake) where it is no text, number or truth value."""
        if isinstance(node, Mapping) and _may_be_taken_apart(node):
            quoting.report_apart(node.file, (node.start, node.end), self.report)
            return None
        if not isinstance(node, Scalar):
            shape = "a map" if isinstance(node, Mapping) else "a list"
            self.report.error("value", f"{what} is expected here, not {shape}", node.span)
            return None
        if node.kind == "null" and not node.text.strip("~"):
            self.report.error("value", f"{what} is missing", Span(node.file, node.start, node.start + 1))
            return None
        return Piece(scalar=node, text=_expression_text(node))

    def parsed(self, piece: Piece) -> Expr | None:
        """Return the expression of a piece, parsed only; none after a mistake."""
        key = (piece.scalar.file.index, piece.scalar.start, piece.start, piece.text)
        if key not in self._parsed:
            self._parsed[key] = self._parse(piece)
        return self._parsed[key]

    def _parse(self, piece: Piece) -> Expr | None:
        try:
            node = parse(piece.text)
        except ExprError as error:
            if not self.report_if_apart(piece.scalar):
                self.report.error(error.code, error.sentence, piece.span(error.at, error.end), error.help)
            return None
        return Expr(text=piece.text, node=node, spot=piece.whole.spot)

    def report_if_apart(self, scalar: Scalar) -> bool:
        """Report a broken value that YAML cut out of a longer one; return whether it is so."""
        if scalar.style or scalar.text != scalar.file.text[scalar.start : scalar.end]:
            return False
        text = scalar.file.text
        end: int | None = None
        if scalar.in_flow:
            end = quoting.whole_entry(text, scalar.start)
        elif (line := quoting.with_comment(text, scalar.end)) and _parses(text[scalar.start : line]):
            end = line
        if end is None or end <= scalar.end:
            return False
        quoting.report_apart(scalar.file, (scalar.start, end), self.report)
        return True

    def check(self, expr: Expr, piece: Piece, names: Names) -> None:
        """Report every name, function and type in an expression that cannot be right.

        `names` is one that this reading made and keeps, so that its identity stands for it.
        """
        key = (piece.scalar.file.index, piece.scalar.start, piece.start, id(names))
        if key in self._checked:
            return
        if self.report.is_full:
            return
        self._checked.add(key)
        scope = self._scopes.get(id(names))
        if scope is None:
            scope = self._scopes[id(names)] = Scope(names.bound, names.elsewhere, names.kinds)
        for error in check(expr.node, scope):
            help = error.help
            if error.code == "unknown-name" and piece.text.isidentifier() and piece.scalar.style in ("'", '"'):
                help = f"text inside an expression has quotes of its own: '\"{piece.text}\"'"
            self.report.error(error.code, error.sentence, piece.span(error.at, error.end), help)
        for name in names_of(expr.node):
            if name in self.facts:
                self.use("fact", name)
        self._check_members(expr.node, piece, names)
        self._note_known(expr.node, piece)

    def _check_members(self, node: Tree, piece: Piece, names: Names) -> None:
        tested = {id(part.select) for part in walk(node) if isinstance(part, Has)}
        for part in walk(node):
            if not isinstance(part, Select) or not isinstance(part.operand, Name):
                continue
            field, span = part.field, piece.span(part.at, part.end)
            if part.operand.name == "params" and "params" in names.bound:
                self.use("param", field)
                if field not in self.params and id(part) not in tested and not part.optional:
                    known = list(self.params)
                    self.report.unknown("unknown-name", f"`params` has no `{field}`", span, field, known)
            elif part.operand.name == "this" and names.this is not None and field not in names.this:
                owners = owners_of(field)
                if owners:
                    self.report.error("not-bound-here", f"`this` has no `{field}` here: it belongs to {owners}", span)
                else:
                    sentence = f"`this` has no `{field}`"
                    self.report.unknown("unknown-name", sentence, span, field, list(names.this))
        if any(names.schemas.values()):
            self._check_arguments(node, piece, names, tested)
        if any(isinstance(part, Name) and part.name == "params" for part in walk(node)):
            self._use_all_params_of(node)

    def _check_arguments(self, node: Tree, piece: Piece, names: Names, tested: set[int]) -> None:
        """Report arguments that no call can have, and warn of what looks like a slip of the pen."""
        for part in walk(node):
            if not isinstance(part, Select):
                continue
            root, path = _rooted(part)
            strange = strange_member(names.schemas.get(root, ()), path) if path else None
            if strange is None or strange.depth != len(path) - 1:
                continue
            name, span = part.field, piece.span(part.at, part.end)
            near = self.report.similar(name, strange.known)
            if strange.is_refused and id(part) not in tested and not part.optional:
                sentence = f"the schema of the tool has no argument `{name}`, and allows no others"
                self.report.unknown("unknown-name", sentence, span, name, list(strange.known))
            elif near:
                self.report.warning("unknown-name", f"the schema of the tool has no argument `{name}`", span, near)

    def _use_all_params_of(self, node: Tree) -> None:
        """Count every parameter as used where `params` is read as a whole."""
        selected = {id(part.operand) for part in walk(node) if isinstance(part, Select)}
        if any(isinstance(part, Name) and part.name == "params" and id(part) not in selected for part in walk(node)):
            for name in self.params:
                self.use("param", name)

    def _note_known(self, node: Tree, piece: Piece) -> None:
        """Keep the selectors in `known(v, "…")`; they are read when everything else is."""
        for part in walk(node):
            if not isinstance(part, Call) or part.function != "known" or part.target is not None or len(part.args) != 2:
                continue
            selector = part.args[1]
            span = (piece.start + selector.at, piece.start + selector.end)
            if isinstance(selector, Literal) and isinstance(selector.value, str):
                inner = Piece(scalar=piece.scalar, text=selector.value, inside=piece.inside or span)
                self.known_texts.setdefault(selector.value, inner)
            else:
                sentence = "the second argument of `known` is a selector, written as text"
                self.report.error("selector", sentence, positions.part(piece.scalar, *span))


def _rooted(node: Select) -> tuple[str, tuple[str, ...]]:
    """Return `args` or `this.args` and the members read below it; nothing where another value is read."""
    fields: list[str] = []
    part: Tree = node
    while isinstance(part, Select):
        fields.insert(0, part.field)
        part = part.operand
    if isinstance(part, Name) and part.name == "args":
        return "args", tuple(fields)
    if isinstance(part, Name) and part.name == "this" and fields[0] == "args":
        return "this.args", tuple(fields[1:])
    return "", ()


def _parses(text: str) -> bool:
    try:
        parse(text)
    except ExprError:
        return False
    return True


def _may_be_taken_apart(node: Mapping) -> bool:
    text = node.file.text[node.start : node.end]
    return bool(text) and "\n" not in text and len(text) <= quoting.LONGEST_REGION


def _expression_text(node: Scalar) -> str:
    """Return a value as an expression: what YAML reads as a number is one, however it was written."""
    if node.kind == "bool":
        return "true" if node.value else "false"
    if node.kind == "null":
        return "null"
    if node.kind == "int" and not _is_plain_number(node.text):
        return str(node.value)
    if node.kind == "number" and not _is_plain_number(node.text) and isinstance(node.value, Decimal):
        return str(node.value)
    return node.text


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits[:1].isdigit() and digits[-1:].isdigit() and "o" not in digits


def ordered(names: Iterable[str], needs: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names in order of dependence (else as given), and those that need themselves."""
    done: dict[str, None] = {}
    looping: dict[str, None] = {}
    state: dict[str, int] = {}
    for first in names:
        stack = [(first, iter(needs.get(first, ())))] if first not in state else []
        if stack:
            state[first] = 1
        while stack:
            name, rest = stack[-1]
            following = next((need for need in rest if need in needs and state.get(need) != 2), None)
            if following is None:
                state[name] = 2
                done[name] = None
                stack.pop()
            elif state.get(following) == 1:
                looping[following] = None
            else:
                state[following] = 1
                stack.append((following, iter(needs[following])))
    return tuple(done), tuple(looping)
