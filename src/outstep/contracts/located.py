"""YAML as a tree that knows where everything stands, read by the 1.2 core schema.

`yes`, `no`, `on` and `off` are text, numbers are exact, and what YAML would hide (a second value for one key, tags,
merge keys) is a mistake. An expression that YAML took apart is put together again, so that every other mistake of the
file is found in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from re import compile as linear_pattern
from typing import Any, Literal

from msgspec import Struct

from outstep.contracts import quoting
from outstep.contracts.report import File, Report, Span

LARGEST_FILE = 1 << 20
"""Characters of one file."""

DEEPEST = 48
"""Levels of lists and maps."""

MOST_NODES = 100_000
"""Values of one file, what an alias repeats counted each time."""

MOST_REPAIRS = 20
"""Expressions put together again before the rest of the file is left unread."""

Kind = Literal["text", "int", "number", "bool", "null"]


class Scalar(Struct, frozen=True, kw_only=True):
    """One value without parts."""

    file: File
    start: int
    end: int
    kind: Kind
    text: str
    """The value as text, escapes and folding undone."""
    value: bool | int | Decimal | str | None
    """The value by the core schema."""
    style: str = ""
    """The quote (`'`, `"`) or block mark (`|`, `>`); empty for a plain scalar."""
    in_flow: bool = False
    """Inside `[…]` or `{…}`."""

    @property
    def span(self) -> Span:
        """Where it stands, quotes included."""
        return Span(self.file, self.start, self.end)


class Sequence(Struct, frozen=True, kw_only=True):
    """A list."""

    file: File
    start: int
    end: int
    items: tuple[Node, ...]

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.file, self.start, self.end)


class Mapping(Struct, frozen=True, kw_only=True):
    """A map with text keys, in the order of the file, each key once."""

    file: File
    start: int
    end: int
    entries: tuple[tuple[Scalar, Node], ...]

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.file, self.start, self.end)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or none."""
        for name, value in self.entries:
            if name.text == key:
                return value
        return None


Node = Scalar | Sequence | Mapping


def decode(data: bytes, name: str, index: int, report: Report) -> File | None:
    """Return the text of a file, or none where it is no readable UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        file = File(index, name, data[: error.start].decode("utf-8", "replace"))
        end = len(file.text)
        span = Span(file, max(0, end - 1), end)
        report.error("yaml", f"`{name}` is not UTF-8: byte {error.start} cannot be read", span, "save it as UTF-8")
        return None
    file = File(index, name, text.removeprefix("\ufeff"))
    if len(text) > LARGEST_FILE:
        report.error("yaml", f"`{name}` holds {len(text)} characters; {LARGEST_FILE} are read", Span(file, 0, 1))
        return None
    if odd := _ODD.search(file.text):
        sign = f"U+{ord(odd.group()):04X}"
        help = "remove it, or write it as an escape in a double-quoted text"
        report.error("yaml", f"the file holds the character {sign}", Span(file, odd.start(), odd.end()), help)
        return None
    return file


# Control characters, and the three that YAML 1.1 takes for line ends and YAML 1.2 does not.
_ODD = linear_pattern("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\ufeff\\ufffe\\uffff]")


def read(file: File, report: Report) -> Node | None:
    """Return the tree of a file, or none where it cannot be read at all; mistakes go to the report."""
    import yaml  # costs more than everything else of a warm run

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    taken: dict[int, tuple[int, int]] = {}
    text = file.text
    while True:
        builder = _Builder(file, taken, report.family)
        try:
            root = builder.build(yaml.parse(text, Loader=loader))
        except _TooMuch as limit:
            report.error("yaml", str(limit), Span(file, limit.at, limit.at + 1))
            return None
        except (yaml.YAMLError, _Apart) as error:
            at, sentence = _failure(error, len(text))
            if not text[at:].strip() and builder.outermost_flow is not None:
                at = builder.outermost_flow  # what is missing at the end of the file was opened there
            is_list = "block sequence entries" in sentence
            region = None if is_list else quoting.region(text, at, builder.outermost_flow)
            if region is None or region[0] in taken or len(taken) >= MOST_REPAIRS:
                report.error("yaml", *_unreadable(text, at, sentence, file, report.family))
                return None
            quoting.report_apart(file, region, report)
            taken[region[0]] = region
            text = text[: region[0]] + "q" * (region[1] - region[0]) + text[region[1] :]
            continue
        for sentence, span, help in builder.mistakes:
            report.error("yaml", sentence, span, help)
        return root


def plain_value(node: Node) -> Any:
    """Return a node as a JSON value, numbers exact."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain_value(item) for item in node.items]
    return {key.text: plain_value(value) for key, value in node.entries}


class _Apart(Exception):
    """A tag or an alias stands where an expression was meant, or may have been."""

    def __init__(self, at: int, sentence: str) -> None:
        super().__init__(sentence)
        self.at = at


class _TooMuch(Exception):
    """A limit was reached."""

    def __init__(self, at: int, sentence: str) -> None:
        super().__init__(sentence)
        self.at = at


class _Open:
    """A list or map whose end has not come yet."""

    def __init__(self, start: int, anchor: str | None, is_mapping: bool, is_flow: bool) -> None:
        self.start = start
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.is_flow = is_flow
        self.nodes: list[Node] = []
        self.size = 1


class _Builder:
    """Makes the tree from the parser's events, without recursion."""

    def __init__(self, file: File, taken: dict[int, tuple[int, int]], family: str) -> None:
        self.mistakes: list[tuple[str, Span, str]] = []
        self._what = f"a {family}"
        self._file = file
        self._taken = taken
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int] | None] = {}
        self._root: Node | None = None

    @property
    def outermost_flow(self) -> int | None:
        """Where the outermost open `[` or `{` stands."""
        return next((part.start for part in self._open if part.is_flow), None)

    def build(self, events: Iterator[Any]) -> Node | None:
        """Return the root of the first document."""
        documents = 0
        for event in events:
            name = type(event).__name__
            start, end = event.start_mark.index, event.end_mark.index
            if name == "ScalarEvent":
                self._check_tag(event, start)
                self._add(self._scalar(event, start, end), 1, event.anchor)
            elif name in ("MappingStartEvent", "SequenceStartEvent"):
                self._check_tag(event, start)
                self._begin(event, start, name == "MappingStartEvent")
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                self._end(end)
            elif name == "AliasEvent":
                self._alias(event.anchor, start)
            elif name == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    self._mistake(f"{self._what} is one YAML document; a second one begins here", start, start + 3)
                    break
        return self._root

    def _mistake(self, sentence: str, start: int, end: int, help: str = "") -> None:
        self.mistakes.append((sentence, Span(self._file, start, end), help))

    def _check_tag(self, event: Any, start: int) -> None:
        tag = event.tag
        if tag is None or (tag == "!" and type(event).__name__ == "ScalarEvent" and event.style):
            return
        if tag.startswith("tag:yaml.org,2002:"):
            written = "!!" + tag.removeprefix("tag:yaml.org,2002:")
            self._mistake(f"`{written}` is a tag; {self._what} has none", start, start + len(written), "leave it out")
            return
        raise _Apart(start, f"`{tag}` is a tag; {self._what} has none")

    def _begin(self, event: Any, start: int, is_mapping: bool) -> None:
        if len(self._open) >= DEEPEST:
            raise _TooMuch(start, f"lists and maps are nested more than {DEEPEST} levels deep")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append(_Open(start, event.anchor, is_mapping, bool(event.flow_style)))

    def _end(self, end: int) -> None:
        part = self._open.pop()
        text = self._file.text
        while not part.is_flow and end > part.start and text[end - 1] in " \t\r\n":
            end -= 1
        if part.is_mapping:
            entries = tuple(self._entries(part.nodes))
            node: Node = Mapping(file=self._file, start=part.start, end=end, entries=entries)
        else:
            node = Sequence(file=self._file, start=part.start, end=end, items=tuple(part.nodes))
        self._add(node, part.size, part.anchor)

    def _alias(self, anchor: str, start: int) -> None:
        if anchor not in self._anchors:
            raise _Apart(start, f"`*{anchor}` stands for an anchor that the file does not have")
        target = self._anchors[anchor]
        if target is None:
            raise _TooMuch(start, f"`*{anchor}` stands inside the value that it repeats")
        self._add(target[0], target[1], None)

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = (node, size)
        if not self._open:
            self._root = node
            return
        part = self._open[-1]
        part.nodes.append(node)
        part.size += size
        if sum(above.size for above in self._open) > MOST_NODES:
            raise _TooMuch(node.start, f"the file holds more than {MOST_NODES} values, with what its aliases repeat")

    def _scalar(self, event: Any, start: int, end: int) -> Scalar:
        style = event.style if event.style in ("'", '"', "|", ">") else ""
        in_flow = bool(self._open) and self._open[-1].is_flow
        text: str = event.value
        kind: Kind = "text"
        value: bool | int | Decimal | str | None
        if start in self._taken:
            end = self._taken[start][1]
            text = value = self._file.text[start:end]
        elif style:
            value = text
        else:
            kind, value = _resolve(text)
        return Scalar(
            file=self._file,
            start=start,
            end=end,
            kind=kind,
            text=text,
            value=value,
            style=style,
            in_flow=in_flow,
        )

    def _entries(self, nodes: list[Node]) -> Iterator[tuple[Scalar, Node]]:
        first: dict[str, Scalar] = {}
        for key, value in zip(nodes[::2], nodes[1::2], strict=True):
            if not isinstance(key, Scalar):
                self._mistake(
                    "a key is a list or a map; keys are text", key.start, key.end, "quote it if text is meant"
                )
                continue
            if key.text == "<<" and not key.style:
                self._mistake(f"`<<` is a merge key; {self._what} has none", key.start, key.end, "write the keys out")
                continue
            if key.kind != "text":
                shown = f"`{key.text}`" if key.text else "nothing"
                self._mistake(f"{shown} as a key is no text", key.start, max(key.end, key.start + 1), "quote it")
                continue
            if key.text in first:
                line, _ = self._file.line_column(first[key.text].start)
                self._mistake(f"`{key.text}` is given twice; first in line {line}", key.start, key.end)
                continue
            first[key.text] = key
            yield key, value


_INT = linear_pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = linear_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, tuple[Kind, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
}
LONGEST_NUMBER = 1000
"""Digits of a number in a contract."""


def _resolve(text: str) -> tuple[Kind, bool | int | Decimal | str | None]:
    """Return kind and value of a plain scalar by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > LONGEST_NUMBER or text[0] not in "+-.0123456789":
        return "text", text
    if _INT.fullmatch(text):
        if text[:2] in ("0o", "0x"):
            return "int", int(text[2:], 8 if text[1] == "o" else 16)
        return "int", int(text)
    if _NUMBER.fullmatch(text):
        try:
            number = Decimal(text)
        except InvalidOperation:  # an exponent that no number can have
            return "text", text
        return "number", number
    return "text", text  # `.inf` and `.nan` too: a contract knows finite numbers only


def _failure(error: Exception, end: int) -> tuple[int, str]:
    """Return the offset and the sentence of what went wrong."""
    if isinstance(error, _Apart):
        return error.at, str(error)
    context, what = getattr(error, "context", None), getattr(error, "problem", None)
    mark = getattr(error, "problem_mark", None)
    if mark is None or (context and (mark.index >= end or what == "could not find expected ':'")):
        mark = getattr(error, "context_mark", None) or mark  # what is open at the end of the file begins there
    sentence = ", ".join(part for part in (context, what) if part)
    return (min(mark.index, end) if mark else 0), sentence or "the file is no YAML"


def _unreadable(text: str, at: int, sentence: str, file: File, family: str) -> tuple[str, Span, str]:
    help = ""
    start, _ = file.line_range(at)
    if "\t" in text[start : at + 1] and not text[start:at].strip():
        sentence, help = "a tab indents this line", "YAML indents with spaces only"
    elif text.startswith("{") and "\n{" in text:
        help = "this may be a recorded trace (JSON Lines)"
        if family == "contract":
            help = "JSON Lines are a recorded trace: a contract is named with `--contract`, a trace without it"
    else:
        sentence, help = next(
            (told for words, *told in _IN_PLAIN_WORDS if words in sentence), [sentence.replace("`", "'"), ""]
        )
    return sentence, Span(file, at, at + 1), help.replace("a contract is", f"a {family} is")


# libyaml 0.2.5: what its parser says, and what it means for whoever wrote the file.
_IN_PLAIN_WORDS = (
    (
        "did not find expected '-' indicator",
        "this line stands in another column than the list that it belongs to",
        "every entry of a list begins with `- ` in one column, and the keys of an entry stand in one column behind it",
    ),
    (
        "did not find expected key",
        "this line stands in another column than the keys above it",
        "the keys of one map stand in one column",
    ),
    (
        "mapping values are not allowed in this context",
        "a key with `:` cannot stand here",
        "the keys of one map stand in one column, and the value of the key above is already complete; "
        "a text that holds `: ` is quoted",
    ),
    ("could not find expected ':'", "a `:` is missing behind this key", "write `key: value`, with a blank behind `:`"),
    ("did not find expected ',' or '}'", "this `{` is not closed, or a comma is missing", "write `{key: value, …}`"),
    ("did not find expected ',' or ']'", "this `[` is not closed, or a comma is missing", "write `[a, b, …]`"),
    ("found unexpected end of stream", "this quote is never closed", "end the text with the quote that begins it"),
    (
        "found character that cannot start any token",
        "this character cannot begin a value",
        "quote the value",
    ),
    (
        "did not find expected node content",
        "a value is missing here, or this `[` or `{` is not closed",
        "close every `[` and `{`",
    ),
    (
        "did not find expected <document start>",
        "what stands here belongs to no key",
        "a contract is one map: every line at its left edge is `key: value`",
    ),
    (
        "block sequence entries are not allowed in this context",
        "a list cannot begin in the line of its key",
        "write it below: `key:`, and `  - …` in the next line, or as `key: [a, b]`",
    ),
)
