"""From the text of a small trace to its events, or to every mistake in it."""

from __future__ import annotations

from collections.abc import Callable
from re import compile as linear_pattern
from typing import Any, ClassVar

from msgspec import Raw, Struct

from outstep.codec import NO_RAW, Unreadable, compact, loads
from outstep.errors import OutstepError, Place, Problem, suggestion
from outstep.events import (
    EVENT_TYPES,
    SCHEMA,
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    Lane,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

OUTCOMES = ("ok", "failed", "denied", "unknown", "unrecorded")


def parse_trace(text: str, *, source: str = "trace") -> tuple[Header, list[Event]]:
    """Return the header and events that a text spells; `seq` counts the events from 0.

    Raises `OutstepError` with every mistake found, each with its line and column in `source`.
    """
    reader = _Reader()
    problems: list[Problem] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            reader.read(_tokens(line))
        except _Mistake as mistake:
            problems.append(_problem(mistake, line, Place(source=source, line=number, column=mistake.token.at + 1)))
    if problems:
        raise OutstepError(*problems)
    return reader.header(), reader.settled()


class _Token(Struct, frozen=True):
    """A piece of a line: a bare word, a JSON text in quotes, or a JSON object or array."""

    at: int
    text: str
    kind: str
    """`word`, `text` or `json`."""

    @property
    def value(self) -> str:
        """What a word or text stands for."""
        return str(loads(self.text)) if self.kind == "text" else self.text


class _Mistake(Exception):
    """Something in a line could not be read."""

    def __init__(self, token: _Token, sentence: str, help: str = "") -> None:
        super().__init__(sentence)
        self.token = token
        self.sentence = sentence
        self.help = help


def _problem(mistake: _Mistake, line: str, place: Place) -> Problem:
    token = mistake.token
    return Problem(
        code="trace/text",
        sentence=mistake.sentence,
        place=place,
        excerpt=line,
        underline=(token.at, token.at + max(1, len(token.text))),
        help=mistake.help,
    )


_BLANK = linear_pattern(r"\s+")
_WORD = linear_pattern(r'[^\s"{}\[\]]+')
_TEXT = linear_pattern(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_CLOSES = {"{": "}", "[": "]"}


def _tokens(line: str) -> list[_Token]:
    """Split a line; JSON objects and arrays are one token each."""
    found: list[_Token] = []
    at = 0
    while at < len(line):
        if blank := _BLANK.match(line, at):
            at = blank.end()
            continue
        token = _token(line, at)
        found.append(token)
        at += len(token.text)
    return found


def _token(line: str, at: int) -> _Token:
    if line[at] in _CLOSES:
        token = _Token(at, line[at : _json_end(line, at)], "json")
    elif text := _TEXT.match(line, at):
        token = _Token(at, text[0], "text")
    elif word := _WORD.match(line, at):
        return _Token(at, word[0], "word")
    else:
        raise _Mistake(_Token(at, line[at:], "word"), f"`{line[at]}` opens nothing that is closed on this line")
    try:
        loads(token.text)
    except Unreadable as error:
        raise _Mistake(token, f"`{token.text}` is no JSON: {error}") from None
    return token


def _json_end(line: str, at: int) -> int:
    """Return where the object or array that begins at `at` ends."""
    open_: list[str] = []
    place = at
    while place < len(line):
        char = line[place]
        if char == '"':
            text = _TEXT.match(line, place)
            if text is None:
                break
            place = text.end()
            continue
        if char in _CLOSES:
            open_.append(_CLOSES[char])
        elif open_ and char == open_[-1]:
            open_.pop()
            if not open_:
                return place + 1
        place += 1
    raise _Mistake(_Token(at, line[at:], "json"), f"`{line[at]}` is not closed on this line")


class _Line:
    """The tokens of one line, read from the left; what no one has read at the end is a mistake."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 1
        last = tokens[-1]
        self._end = _Token(last.at + len(last.text), "", "word")

    def peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def take(self, what: str, *kinds: str) -> _Token:
        """Return the next token; `what` says what stands here."""
        token = self.peek()
        if token is None:
            raise _Mistake(self._end, f"the line ends where {what} is expected")
        if kinds and token.kind not in kinds:
            raise _Mistake(token, f"`{token.text}` stands where {what} is expected")
        self._next += 1
        return token

    def word(self, what: str) -> str:
        """Return the next word; quotes allow any text, also the empty one."""
        return self.take(what, "word", "text").value

    def one_of(self, what: str, words: tuple[str, ...]) -> Any:
        """Return the next word, which must be one of `words`."""
        token = self.take(what, "word")
        if token.text not in words:
            help = suggestion(token.text, words) or f"one of {', '.join(words)}"
            raise _Mistake(token, f"`{token.text}` stands where {what} is expected", help)
        return token.text

    def number(self, what: str) -> int:
        """Return the next word as a whole number."""
        token = self.take(what, "word")
        digits = token.text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise _Mistake(token, f"`{token.text}` stands where {what} is expected", "a whole number")
        return int(token.text)

    def names(self, what: str) -> tuple[str, ...]:
        """Return the next word, split at its commas."""
        return tuple(filter(None, self.word(what).split(",")))

    def payload(self) -> _Token | None:
        """Return a JSON value that stands next, if one does."""
        token = self.peek()
        if token is None or token.kind == "word":
            return None
        self._next += 1
        return token

    def options(self, **readers: Callable[[str], Any]) -> dict[str, Any]:
        """Read the rest of the line as `word value` pairs, each word at most once."""
        found: dict[str, Any] = {}
        while (token := self.peek()) is not None:
            name = token.text
            if token.kind != "word" or name not in readers:
                help = suggestion(name, tuple(readers)) or f"here may stand: {', '.join(readers) or 'nothing more'}"
                raise _Mistake(token, f"`{name}` means nothing here", help)
            if name in found:
                raise _Mistake(token, f"`{name}` is said twice")
            self._next += 1
            found[name] = readers[name](f"what `{name}` says")
        return found


class _Reader:
    """Turns lines into events, and remembers which calls wait for a result."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._lanes: list[Lane] = []
        self._records: tuple[str, ...] = EVENT_TYPES
        self._fields: dict[str, Any] = {}
        self._calls: dict[str, ToolCall] = {}
        self._count = 0
        """Calls read: the n-th one is `cn` unless it says `as`."""
        self._waiting: list[str] = []
        self._approved: list[int] = []
        """Indices of approvals whose first word may be a call id or a tool."""

    def read(self, tokens: list[_Token]) -> None:
        """Read one line."""
        first = tokens[0]
        reader = self._READERS.get(first.text) if first.kind == "word" else None
        if reader is None:
            words = tuple(self._READERS)
            raise _Mistake(
                first,
                f"no line begins with `{first.text}`",
                suggestion(first.text, words) or f"a line begins with {', '.join(words)}",
            )
        reader(self, _Line(tokens))

    def header(self) -> Header:
        """Return the header."""
        return Header(schema=SCHEMA, lanes=tuple(self._lanes), records=self._records, **self._fields)

    def settled(self) -> list[Event]:
        """Return the events; an approval of a word that is the id of a call is of that call, else of a tool."""
        for index in self._approved:
            event = self._events[index]
            if isinstance(event, Approval) and event.call_id not in self._calls:
                fields = {name: getattr(event, name) for name in event.__struct_fields__}
                self._events[index] = Approval(**{**fields, "tool": event.call_id, "call_id": ""})
        return self._events

    def _add(self, build: Callable[..., Event], options: dict[str, Any], **fields: Any) -> None:
        if "lane" in options:
            options["agent"] = options.pop("lane")
        self._events.append(build(seq=len(self._events), **fields, **options))

    def _read_id(self, line: _Line) -> None:
        self._fields["id"] = line.word("the id of the trace")
        line.options()

    def _read_trace(self, line: _Line) -> None:
        self._fields.update(line.options(harness=line.word, model=line.word, cwd=line.word))

    def _read_lane(self, line: _Line) -> None:
        id = line.word("the id of a lane")
        options = line.options(
            kind=lambda what: line.one_of(what, ("agent", "program", "branch", "user")),
            parent=line.word,
            call=line.word,
            forked_at=line.number,
            cwd=line.word,
        )
        self._lanes.append(Lane(id=id, **options))

    def _read_records(self, line: _Line) -> None:
        token = line.take("a list of event types", "word")
        for name in token.text.split(","):
            if name not in EVENT_TYPES:
                raise _Mistake(token, f"`{name}` is no event type", suggestion(name, EVENT_TYPES))
        self._records = tuple(token.text.split(","))
        line.options()

    def _read_complete(self, line: _Line) -> None:
        line.options()
        self._fields["complete"] = True

    def _read_user(self, line: _Line) -> None:
        text = line.take("a text in quotes", "text").value
        self._add(UserMessage, line.options(**_head(line)), text=text)

    def _read_say(self, line: _Line) -> None:
        text = line.take("a text in quotes", "text").value
        self._add(AssistantMessage, line.options(turn=line.number, **_head(line)), text=text)

    def _read_call(self, line: _Line) -> None:
        tool = line.word("a tool")
        args = line.payload()
        options = line.options(
            turn=line.number,
            by=lambda what: line.one_of(what, ("model", "program", "user", "harness")),
            parent=line.word,
            **{"as": line.word},
            **_head(line),
        )
        self._count += 1
        unreadable = args is not None and args.kind == "text"
        call_id = options.pop("as", f"c{self._count}")
        self._add(
            ToolCall,
            options,
            tool=tool,
            call_id=call_id,
            args=NO_RAW if unreadable else _raw(args, "{}"),
            args_raw=args.value if unreadable and args is not None else None,
        )
        call = self._events[-1]
        assert isinstance(call, ToolCall)
        self._calls[call_id] = call
        self._waiting.append(call_id)

    def _read_result(self, line: _Line) -> None:
        token = line.take("the id of a call, or an outcome", "word", "text")
        if token.text in OUTCOMES:
            if not self._waiting:
                raise _Mistake(token, "no call waits for a result here", "name the call: `result c1 ok`")
            call_id, outcome = self._waiting[-1], token.text
        else:
            call_id, outcome = token.value, line.one_of("an outcome", OUTCOMES)
        content = line.payload()
        options = line.options(
            turn=line.number, error=line.word, exit=line.number, text=line.word, of=line.number, **_head(line)
        )
        if "of" in options:
            options["call"] = options.pop("of")
        if content is not None and content.kind == "text":
            options["text"] = content.value
        call = self._calls.get(call_id)
        options.setdefault("lane", call.agent if call is not None else "main")
        data = _raw(content, "") if content is not None and content.kind == "json" else NO_RAW
        self._add(ToolResult, options, call_id=call_id, outcome=outcome, data=data)
        if call_id in self._waiting:
            self._waiting.remove(call_id)

    def _read_gap(self, line: _Line) -> None:
        options: dict[str, Any] = {}
        token = line.peek()
        if token is not None and token.kind == "word" and token.text.startswith("may_hide="):
            line.take("what may be hidden")
            options["may_hide"] = tuple(filter(None, token.text.removeprefix("may_hide=").split(",")))
            for name in options["may_hide"]:
                if name not in EVENT_TYPES:
                    raise _Mistake(token, f"`{name}` is no event type", suggestion(name, EVENT_TYPES))
        options |= line.options(turn=line.number, lane=line.word, reason=line.word)
        self._add(Gap, options)

    def _read_approval(self, line: _Line) -> None:
        subject = line.word("the id of a call, or a tool")
        decision = line.one_of("a decision", ("asked", "allowed", "denied"))
        self._approved.append(len(self._events))
        self._add(Approval, line.options(by=line.word, **_head(line)), call_id=subject, decision=decision)

    def _read_context(self, line: _Line) -> None:
        what = line.word("what was put before the model")
        name = ""
        if (token := line.peek()) is not None and token.text == "name":
            line.take("`name`")
            name = line.word("a name")
        text = line.take("a text in quotes", "text").value if line.peek() is not None else ""
        self._add(
            Context, line.options(version=line.word, digest=line.word, **_head(line)), what=what, name=name, text=text
        )

    def _read_state(self, line: _Line) -> None:
        state = line.take("a JSON value", "json")
        self._add(State, line.options(time=line.number, hidden=line.names), state=_raw(state, ""))

    def _read_decision(self, line: _Line) -> None:
        options: dict[str, Any] = {}
        if (token := line.peek()) is not None and token.text == "turn":
            line.take("`turn`")
            options["turn"] = line.number("a turn")
        usage = line.payload()
        readers = {"model": line.word, **_head(line)} | ({} if options else {"turn": line.number})
        options |= line.options(**readers)
        self._add(Decision, options, usage=loads(usage.text) if usage is not None else {})

    def _read_end(self, line: _Line) -> None:
        end = line.one_of("how the run ended", ("completed", "aborted", "cut_off"))
        self._add(RunEnd, line.options(time=line.number, reason=line.word), end=end)

    _READERS: ClassVar[dict[str, Callable[[_Reader, _Line], None]]] = {
        "id": _read_id,
        "trace": _read_trace,
        "lane": _read_lane,
        "records": _read_records,
        "complete": _read_complete,
        "user": _read_user,
        "say": _read_say,
        "call": _read_call,
        "result": _read_result,
        "gap": _read_gap,
        "approval": _read_approval,
        "context": _read_context,
        "state": _read_state,
        "decision": _read_decision,
        "end": _read_end,
    }


def _head(line: _Line) -> dict[str, Callable[[str], Any]]:
    """Return the options that every event of a lane may have."""
    return {"lane": line.word, "time": line.number, "hidden": line.names}


def _raw(token: _Token | None, default: str) -> Raw:
    return compact(default if token is None else token.text)
