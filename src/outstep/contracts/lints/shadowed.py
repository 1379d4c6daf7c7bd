"""`shadowed`: a variable of a macro, or a fact of a nearer file, hides what else has its name."""

from __future__ import annotations

from outstep.contracts.bindings import RESERVED
from outstep.contracts.contents import contract_expressions, expressions_of
from outstep.contracts.facts import is_keyed
from outstep.contracts.lints.base import Subject
from outstep.contracts.selectors import Expr
from outstep.expr.nodes import Macro, walk


def warn(subject: Subject) -> None:
    """Warn of variables called as a fact, a `let`, or a name of the event."""
    lets: dict[int, tuple[str, ...]] = {}
    for rule in subject.rules():
        lets.update((id(expr), tuple(name for name, _ in rule.let)) for expr in expressions_of(rule))
    for earlier, entry in subject.replaced:
        # To replace a fact is what including is for; its rules read it in the way in which it was kept.
        if entry.key.file.index in subject.files and is_keyed(earlier.node) != is_keyed(entry.node):
            name, file = entry.key.text, earlier.key.file.name
            kept = ("one value", "kept by key") if is_keyed(earlier.node) else ("kept by key", "one value")
            sentence = f"`{name}` takes the place of the fact of `{file}`: it is {kept[0]}, and that one was {kept[1]}"
            help = "rules of that file read it in the other way; give this fact another name"
            subject.reading.report.warning("shadowed", sentence, entry.key.span, help)
    for expr in contract_expressions(subject.contract):
        _warn(subject, expr, lets.get(id(expr), ()))


def _warn(subject: Subject, expr: Expr, lets: tuple[str, ...]) -> None:
    for node in walk(expr.node):
        for name in node.variables if isinstance(node, Macro) else ():
            if name in subject.reading.facts:
                what = "the fact"
            elif name in lets:
                what = "what `let` calls"
            elif name in RESERVED and name not in ("it", "at"):
                what = "the event's"
            else:
                continue
            sentence = f"the variable `{name}` of `{node.name}` hides {what} `{name}`"  # type: ignore[union-attr]
            subject.tell_of("shadowed", sentence, expr, node, "give the variable another name")
