"""CEL text to a tree.

docs: LANGUAGE section 7. Depth and length are bounded, so no text can exhaust the interpreter.
"""

from __future__ import annotations

from typing import NoReturn

from outstep.expr.lex import ExprError, Token, tokens
from outstep.expr.nodes import (
    And,
    Binary,
    Call,
    Cond,
    Has,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Name,
    Node,
    Or,
    Select,
    Unary,
    children,
)

MAX_NESTING = 100
"""Brackets inside brackets."""
MAX_DEPTH = 150
"""Levels of the tree."""

_RESERVED = """
    as break const continue else false for function if import in let loop namespace null package return true var
    void while
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that can name nothing."""

MACROS: dict[str, dict[int, tuple[str, int]]] = {
    "all": {2: ("all", 1), 3: ("all", 2)},
    "exists": {2: ("exists", 1), 3: ("exists", 2)},
    "exists_one": {2: ("exists_one", 1), 3: ("exists_one", 2)},
    "existsOne": {2: ("exists_one", 1), 3: ("exists_one", 2)},
    "map": {2: ("map", 1), 3: ("map", 1)},
    "filter": {2: ("filter", 1)},
    "transformList": {3: ("transformList", 2), 4: ("transformList", 2)},
    "transformMap": {3: ("transformMap", 2), 4: ("transformMap", 2)},
    "optMap": {2: ("optMap", 1)},
    "optFlatMap": {2: ("optFlatMap", 1)},
}
"""Macro as written, to its arguments, to its name in the tree and how many of them are variables."""

_LEVELS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
_LEVELS.update(dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3))
_FLAT: dict[str, type[And] | type[Or]] = {"&&": And, "||": Or}
_Spanned = tuple[Node, int, int]
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_OPTIONALS = frozenset({"of", "none", "ofNonZeroValue"})
_SLIPS = {"and": "write `&&`", "or": "write `||`", "not": "write `!`", "is": "write `==`", "if": "write `a ? b : c`"}


def parse(text: str) -> Node:
    """Return the tree of an expression; raises `ExprError` at its first mistake of form."""
    parser = _Parser(text)
    try:
        node = parser.expression()
    except RecursionError:
        raise ExprError("the expression is nested too deeply", 0, len(text)) from None
    parser.close()
    _refuse_depth(node)
    return node


def _refuse_depth(node: Node) -> None:
    rest = [(node, 1)]
    while rest:
        node, depth = rest.pop()
        if depth > MAX_DEPTH:
            raise ExprError(
                f"the expression is more than {MAX_DEPTH} levels deep", node.at, node.end, "give parts a name in `let`"
            )
        rest.extend((child, depth + 1) for child in children(node))


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._nesting = 0
        self._rooted: dict[int, str] = {}
        """Names behind a leading dot, by their place: `.y` is the `y` outside of every macro."""

    def expression(self) -> Node:
        """Read `a`, or `a ? b : c`."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            token = self._peek()
            raise ExprError(
                f"more than {MAX_NESTING} brackets inside each other",
                token.at,
                token.end,
                "give parts a name in `let`",
            )
        at = self._peek().at
        node = self._operators()
        if self._take("?"):
            then = self._operators()
            self._expect(":", "a condition `a ? b : c` needs its `:`")
            other = self.expression()
            node = Cond(at, self._last.end, node, then, other)
        self._nesting -= 1
        return node

    def close(self) -> None:
        """Refuse anything that is left over."""
        token = self._peek()
        if token.kind != "end":
            help = _SLIPS.get(token.value, "") if token.kind == "name" else ""
            raise ExprError(f"{_named(token)} follows a complete expression", token.at, token.end, help)

    def _operators(self) -> Node:
        """Read operands and the operators between them, by their levels."""
        operands = [self._spanned()]
        waiting: list[str] = []
        while True:
            token = self._peek()
            level = _LEVELS.get(token.value, 0) if token.kind in ("op", "name") else 0
            while waiting and _LEVELS[waiting[-1]] >= level:
                if level and waiting[-1] == token.value and token.value in _FLAT:
                    break
                _join(operands, waiting)
            if not level:
                return operands[0][0]
            self._at += 1
            waiting.append(token.value)
            operands.append(self._spanned())

    def _spanned(self) -> _Spanned:
        """Read an operand, with the span of its text, brackets included."""
        at = self._peek().at
        return self._operand(), at, self._last.end

    def _operand(self) -> Node:
        """Read signs, one value, and what is selected or called on it."""
        signs: list[Token] = []
        at = self._peek().at
        while self._peek().kind == "op" and self._peek().value in ("!", "-"):
            signs.append(self._next())
            at = self._peek().at
            if len(signs) > MAX_NESTING:
                raise ExprError(f"more than {MAX_NESTING} signs in a row", signs[0].at, signs[-1].end)
        if signs and signs[-1].value == "-" and self._peek().kind in ("int", "decimal"):
            at = signs[-1].at
            node: Node = self._number(self._next(), signs.pop())
        else:
            node = self._primary()
        node = self._suffixes(node, at)
        for sign in reversed(signs):
            node = Unary(sign.at, self._last.end, sign.value, node)
        return node

    def _primary(self) -> Node:
        token = self._next()
        if token.kind in ("int", "decimal"):
            return self._number(token, None)
        if token.kind == "text":
            return Literal(token.at, token.end, token.value)
        if token.kind == "op" and token.value == ".":
            token = self._next()
            if token.kind != "name":
                self._refuse(token)
            self._rooted[token.at] = token.value
        if token.kind == "name":
            return self._named(token)
        if token.kind == "op" and token.value == "(":
            node = self.expression()
            self._expect(")", "the bracket `(` is not closed", token)
            return node
        if token.kind == "op" and token.value == "[":
            return self._list(token)
        if token.kind == "op" and token.value == "{":
            return self._map(token)
        return self._refuse(token)

    def _number(self, token: Token, sign: Token | None) -> Literal:
        at = token.at if sign is None else sign.at
        if token.kind == "decimal":
            return Literal(at, token.end, None, ("-" if sign else "") + token.value)
        value = -token.value if sign else token.value
        if -(1 << 63) <= value < 1 << 63:
            return Literal(at, token.end, value)
        return Literal(at, token.end, None, str(value))

    def _named(self, token: Token) -> Node:
        if token.value in _CONSTANTS:
            return Literal(token.at, token.end, _CONSTANTS[token.value])
        self._refuse_reserved(token)
        if not self._take("("):
            return Name(token.at, token.end, token.value)
        args = self._arguments(token)
        end = self._last.end
        if token.value == "has":
            if len(args) != 1 or not isinstance(args[0], Select):
                raise ExprError("`has` asks for one member: `has(a.b)`", token.at, end)
            return Has(token.at, end, args[0])
        return Call(token.at, end, token.value, None, args)

    def _suffixes(self, node: Node, at: int) -> Node:
        while True:
            token = self._peek()
            if token.kind != "op":
                return node
            if token.value == ".":
                self._at += 1
                node = self._member(node, at)
            elif token.value == "[":
                self._at += 1
                optional = self._take("?")
                index = self.expression()
                self._expect("]", "the bracket `[` is not closed", token)
                node = Index(at, self._last.end, node, index, optional)
            elif token.value == "{" and isinstance(node, Name | Select):
                raise ExprError(
                    "messages (`Type{field: value}`) are not offered",
                    node.at,
                    token.end,
                    'write an object: `{"field": value}`',
                )
            else:
                return node

    def _member(self, node: Node, at: int) -> Node:
        optional = self._take("?")
        token = self._next()
        if token.kind == "name" and token.value in (*_CONSTANTS, "in"):
            raise ExprError(
                f"`{token.value}` cannot be selected with a point", token.at, token.end, f'write `["{token.value}"]`'
            )
        if token.kind not in ("name", "member"):
            raise ExprError(f"the name of a member must follow the point, not {_named(token)}", token.at, token.end)
        if token.kind == "name" and not optional and self._take("("):
            return self._method(node, at, token)
        return Select(at, token.end, node, token.value, optional)

    def _method(self, node: Node, at: int, token: Token) -> Node:
        args = self._arguments(token)
        end = self._last.end
        if isinstance(node, Name) and node.name == "optional" and token.value in _OPTIONALS:
            return Call(at, end, f"optional.{token.value}", None, args)
        forms = MACROS.get(token.value)
        if forms is None:
            return Call(at, end, token.value, node, args)
        if len(args) not in forms:
            counts = " or ".join(map(str, forms))
            raise ExprError(
                f"`{token.value}` takes {counts} arguments, not {len(args)}",
                token.at,
                end,
                f"write `list.{token.value}(x, …)`, with x for each element",
            )
        name, count = forms[len(args)]
        variables: list[str] = []
        for arg in args[:count]:
            if not isinstance(arg, Name):
                raise ExprError(f"`{token.value}` needs a plain name for each element here", arg.at, arg.end)
            if arg.name in variables:
                raise ExprError(f"`{arg.name}` names two things", arg.at, arg.end)
            variables.append(arg.name)
        for place, hidden in self._rooted.items():
            if hidden in variables and args[count - 1].end <= place < end:
                raise ExprError(
                    f"`.{hidden}` is the `{hidden}` outside, which is hidden here",
                    place - 1,
                    place + len(hidden),
                    f"call the variable of `{token.value}` otherwise",
                )
        return Macro(at, end, name, node, tuple(variables), args[count:])

    def _arguments(self, opening: Token) -> tuple[Node, ...]:
        args: list[Node] = []
        if self._take(")"):
            return ()
        while True:
            args.append(self.expression())
            if self._take(")"):
                return tuple(args)
            self._expect(",", f"the arguments of `{opening.value}` are not closed", opening, ")")

    def _list(self, opening: Token) -> ListOf:
        items: list[Node] = []
        optional: list[int] = []
        while not self._take("]"):
            if self._take("?"):
                optional.append(len(items))
            items.append(self.expression())
            if not self._is("]"):
                self._expect(",", "the bracket `[` is not closed", opening, "]")
        return ListOf(opening.at, self._last.end, tuple(items), tuple(optional))

    def _map(self, opening: Token) -> MapOf:
        entries: list[tuple[Node, Node]] = []
        optional: list[int] = []
        while not self._take("}"):
            if self._take("?"):
                optional.append(len(entries))
            key = self.expression()
            self._expect(":", "a key of an object needs its `:` and value")
            entries.append((key, self.expression()))
            if not self._is("}"):
                self._expect(",", "the bracket `{` is not closed", opening, "}")
        return MapOf(opening.at, self._last.end, tuple(entries), tuple(optional))

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    @property
    def _last(self) -> Token:
        return self._tokens[self._at - 1]

    def _is(self, value: str) -> bool:
        token = self._tokens[self._at]
        return token.kind == "op" and token.value == value

    def _take(self, value: str) -> bool:
        if self._is(value):
            self._at += 1
            return True
        return False

    def _expect(self, value: str, sentence: str, opening: Token | None = None, closing: str = "") -> None:
        if self._take(value):
            return
        token = self._peek()
        if opening is not None and token.kind == "end":
            raise ExprError(sentence, opening.at, opening.end, f"close it with `{closing or value}`")
        raise ExprError(f"{sentence}: expected `{value}`, found {_named(token)}", token.at, token.end)

    def _refuse_reserved(self, token: Token) -> None:
        if token.value in RESERVED:
            raise ExprError(f"`{token.value}` is a reserved word", token.at, token.end, _SLIPS.get(token.value, ""))

    def _refuse(self, token: Token) -> NoReturn:
        if token.kind == "end":
            sentence = "a value is missing at the end" if self._at else "the expression is empty"
        else:
            sentence = f"a value is missing before {_named(token)}"
        raise ExprError(sentence, token.at, token.end)


def _join(operands: list[_Spanned], waiting: list[str]) -> None:
    """Replace the last operands by the node of the last operator; a run of `&&` or `||` becomes one node."""
    op = waiting.pop()
    count = 2
    while op in _FLAT and waiting and waiting[-1] == op:
        waiting.pop()
        count += 1
    parts = [node for node, _, _ in operands[-count:]]
    at, end = operands[-count][1], operands[-1][2]
    del operands[-count:]
    if op in _FLAT:
        kind = _FLAT[op]
        terms = (term for part in parts for term in (part.terms if isinstance(part, kind) else (part,)))
        operands.append((kind(at, end, tuple(terms)), at, end))
    else:
        operands.append((Binary(at, end, op, *parts), at, end))


def _named(token: Token) -> str:
    if token.kind == "end":
        return "the end"
    if token.kind == "text":
        return "a text"
    return f"`{token.value}`"
