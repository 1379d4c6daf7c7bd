"""`condition/never-present`: a condition reads a member that no event of some traces ever had.

Most likely it is misspelt: an absent member is null in a condition, so the rule silently never applies.
docs: docs/lint.md#over-recorded-traces
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from outstep.codec import Unreadable, loads
from outstep.contracts.contents import contract_expressions
from outstep.contracts.lints.values import Place as Read
from outstep.contracts.lints.values import places
from outstep.contracts.model import Contract
from outstep.contracts.names import ToolNames
from outstep.contracts.schemas import strange_member
from outstep.contracts.selectors import Expr, Selector
from outstep.errors import Place, Problem, suggestion
from outstep.events import ToolCall, ToolResult
from outstep.expr.nodes import Has, Index, Literal, Name, Node, Select, walk
from outstep.workflow.traces import Trace

MOST_MEMBERS = 200
"""Names of members that are kept to suggest one of them."""


class _Asked(Struct, kw_only=True):
    """One member that a condition reads."""

    expr: Expr
    path: tuple[str, ...]
    """`args` or `data`, then members."""
    selectors: tuple[Selector, ...]
    events: int = 0
    """How many events of the selectors had readable arguments or data."""
    is_there: bool = False
    beside: dict[str, None]
    """What stands where the last member was looked for."""


def never_present(contract: Contract, traces: Iterable[Trace]) -> tuple[Problem, ...]:
    """Return a warning for each member that is read in a condition and stands in no event that it is read at."""
    tested = _tested(contract)
    asked = [one for one in _asked(contract) if one.path not in tested and not _is_declared(one, contract)]
    names = ToolNames(contract)
    tools = {tool.name: tool for tool in contract.tools}
    for trace in traces:
        if all(one.is_there for one in asked):
            break
        calls: dict[tuple[str, str], str] = {}
        for event in trace.events:
            if isinstance(event, ToolCall):
                calls[event.agent, event.call_id] = event.tool
                _look(asked, "args", event.tool, names, bytes(event.args))
            elif isinstance(event, ToolResult) and (recorded := calls.get((event.agent, event.call_id))):
                tool = tools.get(names.canonical(recorded))
                if tool is None or tool.reads in (None, "json"):
                    text = bytes(event.data) or (event.text or "").strip().encode("utf-8", "replace")
                    _look(asked, "data", recorded, names, text)
    found = [_problem(one, contract) for one in asked if one.events and not one.is_there]
    return tuple(dict.fromkeys(found))


def _asked(contract: Contract) -> Iterator[_Asked]:
    conditions = {id(expr) for rule in contract.rules for expr in rule.when}
    conditions.update(id(source.key) for fact in contract.facts for source in fact.sources)
    for read in places(contract):
        is_where = any(selector.where is read.expr for selector in read.own)
        is_bundled = contract.sources[read.expr.spot.file].startswith("pack:") if contract.sources else False
        if not is_bundled and (is_where or id(read.expr) in conditions):
            yield from _members(read)


def _members(read: Read) -> Iterator[_Asked]:
    inner = {id(node.operand) for node in walk(read.expr.node) if isinstance(node, Select | Index)}
    for node in walk(read.expr.node):
        if not isinstance(node, Select | Index) or id(node) in inner:
            continue
        path = _path(node)
        selectors = read.own
        if path[:1] == ("this",):
            path, selectors = path[1:], read.this
        if len(path) > 1 and path[0] in ("args", "data") and selectors:
            yield _Asked(expr=read.expr, path=path, selectors=selectors, beside={})


def _tested(contract: Contract) -> set[tuple[str, ...]]:
    """Return the paths that the contract asks for with `has`: it knows that they may be absent."""
    return {
        _path(node.select)
        for expr in contract_expressions(contract)
        for node in walk(expr.node)
        if isinstance(node, Has)
    }


def _path(node: Node) -> tuple[str, ...]:
    """Return the members that are surely read, from the root on; nothing where the root is something else."""
    fields: list[str] = []
    while isinstance(node, Select | Index):
        if node.optional:
            fields = []
        elif isinstance(node, Select):
            fields.insert(0, node.field)
        else:
            member = node.index.value if isinstance(node.index, Literal) else None
            fields = [member, *fields] if isinstance(member, str) else []
        node = node.operand
    return (node.name, *fields) if isinstance(node, Name) else ()


def _is_declared(one: _Asked, contract: Contract) -> bool:
    """Return whether the schema of a tool knows an argument: then it may be absent in all calls, and is no slip."""
    if one.path[0] != "args":
        return False
    schemas = [tool.args for tool in contract.tools if any(tool.name in selector.names for selector in one.selectors)]
    known = [schema for schema in schemas if schema is not None and schema.get("properties")]
    return bool(known) and strange_member(known, one.path[1:]) is None


def _look(asked: list[_Asked], root: str, recorded: str, names: ToolNames, text: bytes) -> None:
    what = ("call", "result", "its result") if root == "args" else ("result", "its result")
    canonical = names.canonical(recorded)
    open_ = [
        one
        for one in asked
        if not one.is_there
        and one.path[0] == root
        and any(s.what in what and names.matches(s.names, recorded, canonical) for s in one.selectors)
    ]
    if not open_ or text[:1] != b"{":
        return
    try:
        value = loads(text)
    except Unreadable:
        return
    for one in open_:
        one.events += 1
        _find(one, value)


def _find(one: _Asked, value: Any) -> None:
    for member in one.path[1:]:
        if not isinstance(value, dict):
            return
        if member not in value:
            if len(one.beside) < MOST_MEMBERS:
                one.beside.update(dict.fromkeys(value))
            return
        value = value[member]
    one.is_there = True


def _problem(one: _Asked, contract: Contract) -> Problem:
    name = ".".join(one.path)
    events = "call" if one.path[0] == "args" else "result"
    tools = " or ".join(dict.fromkeys(f"`{selector.text}`" for selector in one.selectors))
    spot = one.expr.spot
    counted = f"{one.events} {events}" + ("" if one.events == 1 else "s")
    return Problem(
        code="condition/never-present",
        sentence=f"`{name}` is read at {tools}, and none of the {counted} in these traces has it",
        place=Place(source=contract.sources[spot.file], line=spot.line, column=spot.column),
        help=suggestion(one.path[-1], tuple(one.beside))
        or f"an absent member is null here; where it may be absent, write `has({name})`",
        level="warning",
    )
