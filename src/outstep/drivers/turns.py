"""One response of a model, whatever API it came through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from outstep import codec
from outstep.drivers.base import Status

Finish = Literal["stop", "calls", "length", "refused"]


class Call(Struct, frozen=True, kw_only=True):
    """A call that the model asked for."""

    id: str
    tool: str
    text: str
    """The arguments as they were received."""
    args: Any = None
    """Their value, where they are a JSON object."""
    mistake: str = ""
    """Why they are none."""


class Turn(Struct, frozen=True, kw_only=True):
    """What came back for one request."""

    finish: Finish
    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: dict[str, int] = {}
    model: str = ""
    """As the provider names it."""
    notes: tuple[str, ...] = ()
    raw: Any = None
    """What is sent back as the model's part of the conversation."""


class Failure(Exception):
    """A request that brought no whole response."""

    def __init__(
        self,
        reason: str,
        sentence: str,
        *,
        status: Status = "provider_error",
        can_retry: bool = False,
        wait: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.status: Status = status
        self.can_retry = can_retry
        """Whether the same request may be sent again: never after any of the model's answer was received."""
        self.wait = wait
        """Seconds that the provider asks to wait."""


class Received:
    """As much of a streamed answer as has come: texts by the name of their member, calls by their index."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.calls: dict[int, list[str]] = {}
        """Id, name and arguments."""

    def __bool__(self) -> bool:
        return bool(self.texts or self.calls)

    def add(self, name: str, text: object) -> None:
        """Add a part of a text."""
        if isinstance(text, str) and text:
            self.texts[name] = self.texts.get(name, "") + text

    def call(self, index: int) -> list[str]:
        """Return the call at an index, to write on."""
        return self.calls.setdefault(index, ["", "", ""])

    @property
    def parts(self) -> list[tuple[str, str, str]]:
        """Id, name and arguments of each call, in order."""
        return [(call[0], call[1], call[2]) for _, call in sorted(self.calls.items())]


class WireNames:
    """Names of tools as APIs take them: letters, digits, `_` and `-` (OpenAI and Anthropic, 64 signs)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._own: dict[str, str] = {}
        for name in names:
            wire = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_-") else "_" for sign in name)[:64]
            while wire in self._own:
                wire = f"{wire[:62]}_2" if not wire.endswith("_2") else f"{wire[:-1]}{len(self._own)}"
            self._wire[name] = wire
            self._own[wire] = name

    def wire(self, name: str) -> str:
        """Return a name as it is sent."""
        return self._wire.get(name, name)

    def own(self, wire: str) -> str:
        """Return the tool that a received name means; a name that was never sent means itself."""
        return self._own.get(wire, wire)


def call_of(id: str, tool: str, text: str) -> Call:
    """Return a call; arguments that are no JSON object are kept as text, and no value is put in their place."""
    if not text.strip():
        # vLLM: the parser of Hermes templates streams nothing for a call without parameters (#28806).
        return Call(id=id, tool=tool, text=text, args={})
    try:
        value = codec.loads(text)
    except codec.Unreadable as error:
        return Call(id=id, tool=tool, text=text, mistake=f"the arguments are no JSON: {error}")
    if not isinstance(value, dict):
        return Call(id=id, tool=tool, text=text, mistake="the arguments are no JSON object")
    return Call(id=id, tool=tool, text=text, args=value)


def looks_like_a_call(text: str) -> bool:
    """Return whether an answer in words is what some models write in place of a call."""
    text = text.strip()
    if text.startswith("<tool_call>"):
        return True
    text = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    if not text.lstrip().startswith("{"):
        return False
    try:
        value = codec.loads(text)
    except codec.Unreadable:
        return False
    return isinstance(value, dict) and "name" in value and ("arguments" in value or "parameters" in value)


def clean(text: str) -> str:
    """Return text with halves of characters, which some models emit at a cut, replaced."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def plain_usage(usage: Any, paths: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the counts of tokens by our names; `paths` says where each stands in what a provider tells."""
    found: dict[str, int] = {}
    for name, path in paths.items():
        value = usage
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, int):
            found[name] = value
    return found
