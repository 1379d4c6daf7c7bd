"""The keys of one map of a file: known ones asked for by name, unknown ones reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Ordered

from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.report import Report, Span


class Fields:
    """One map with a fixed set of keys."""

    def __init__(self, node: Node | None, report: Report, what: str, known: Iterable[str], own: str = "") -> None:
        """`what` names the map in messages, as `a rule`; keys that begin with `own` are left to whoever wrote them."""
        self.report = report
        self.what = what
        self._entries: dict[str, tuple[Scalar, Node]] = {}
        self._strange: list[str] = []
        self.span = Span(node.file, node.start, node.start + 1) if isinstance(node, Mapping) else None
        """Where the map begins; none where there is no map."""
        if not isinstance(node, Mapping):
            if node is not None:
                report.error("value", f"{what} is a map of keys", node.span)
            return
        names = list(known)
        for key, value in node.entries:
            if key.text in names:
                self._entries[key.text] = (key, value)
            elif not own or not key.text.startswith(own):
                self._strange.append(key.text)
                report.unknown("unknown-key", f"{what} has no key `{key.text}`", key.span, key.text, names)

    def __contains__(self, key: str) -> bool:
        """Return whether the key is written."""
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        """Yield the keys that are written, in the order of the file."""
        return iter(self._entries)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or none."""
        entry = self._entries.get(key)
        return None if entry is None else entry[1]

    def key(self, key: str) -> Span:
        """Return where a written key stands."""
        return self._entries[key][0].span

    def need(self, key: str, help: str = "") -> Node | None:
        """Return the value of a key that has to be there; a mistyped one has been told already."""
        if key in self._entries or self.span is None:
            return self.get(key)
        if not any(self.report.similar(word, [key]) for word in self._strange):
            self.report.error("missing-key", f"{self.what} lacks `{key}`", self.span, help)
        return None

    def text(self, key: str, default: str = "") -> str:
        """Return the text of a key."""
        node = self.get(key)
        return default if node is None else text_of(node, self.report, f"`{key}`") or default

    def choice(self, key: str, options: Ordered[str], default: str) -> str:
        """Return one of several words."""
        node = self.get(key)
        if node is None:
            return default
        if isinstance(node, Scalar) and node.kind == "text" and node.text in options:
            return node.text
        listed = ", ".join(f"`{option}`" for option in options)
        shown = f"not `{node.text}`" if isinstance(node, Scalar) else "not this"
        near = self.report.similar(node.text, list(options)) if isinstance(node, Scalar) else ""
        self.report.error("value", f"`{key}` is one of {listed}, {shown}", node.span, near)
        return default

    def flag(self, key: str) -> bool:
        """Return a truth value, false if the key is not there."""
        node = self.get(key)
        if node is None:
            return False
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        shown = f"not `{node.text}`" if isinstance(node, Scalar) else "not this"
        self.report.error("value", f"`{key}` is `true` or `false`, {shown}", node.span)
        return False

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a text or a list of texts."""
        node = self.get(key)
        return () if node is None else tuple(item.text for item in scalars(node, self.report, f"`{key}`"))


def text_of(node: Node, report: Report, what: str) -> str:
    """Return a value as text; a number stands for what was written."""
    if isinstance(node, Scalar) and node.kind != "null":
        return node.text
    report.error("value", f"{what} is a text", Span(node.file, node.start, max(node.end, node.start + 1)))
    return ""


def scalars(node: Node, report: Report, what: str) -> list[Scalar]:
    """Return a text, or each of a list of texts."""
    items = node.items if isinstance(node, Sequence) else (node,)
    found: list[Scalar] = []
    for item in items:
        if isinstance(item, Scalar) and item.kind != "null":
            found.append(item)
        else:
            end = max(item.end, item.start + 1)
            report.error("value", f"{what} is a text or a list of texts", Span(item.file, item.start, end))
    return found


def entries(node: Node | None, report: Report, what: str, most: int) -> tuple[tuple[Scalar, Node], ...]:
    """Return the entries of a map whose keys are names of one's own."""
    if node is None or (isinstance(node, Scalar) and node.kind == "null"):
        return ()
    if not isinstance(node, Mapping):
        report.error("value", f"{what} is a map of names", node.span)
        return ()
    if len(node.entries) > most:
        report.error("value", f"{what} has {len(node.entries)} entries; {most} are read", node.span)
    return node.entries[:most]
