"""Reads the section `world` of a scenario; see `outstep.world.given` for what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outstep.battery.scalars import read_count, read_text, visible
from outstep.contracts.fields import Fields
from outstep.contracts.located import Mapping, Node, Scalar, Sequence, plain_value
from outstep.contracts.report import Report
from outstep.world import bundled
from outstep.world.fault_reading import read_faults
from outstep.world.given import CommandReply, Given, HttpReply, Outcome, ToolReply
from outstep.world.model import WorldFile
from outstep.world.opening import is_path, open_world

KEYS = ("use", "files", "links", "env", "http", "commands", "replies", "state", "faults", "injected", "honeytokens")
OUTCOMES: tuple[Outcome, ...] = ("ok", "failed", "denied")


def read_world(node: Node, tools: tuple[str, ...], report: Report) -> Given | None:
    """Return a world; mistakes go to the report. A text alone names a world."""
    if isinstance(node, Scalar):
        use = read_text(node, report, "`world`")
        if use is not None:
            _check_use(use, node, tools, report)
        return None if use is None else Given(use=use)
    fields = Fields(node, report, "`world`", KEYS)
    state, named = fields.get("state"), fields.get("use")
    mocked = None if named is None else _check_use(_text(fields, "use", report), named, tools, report)
    world = Given(
        use=_text(fields, "use", report),
        files=_texts_by_name(fields, "files", report),
        links=_texts_by_name(fields, "links", report),
        env=_texts_by_name(fields, "env", report),
        http=tuple(_http(fields, report)),
        commands=tuple(_commands(fields, report)),
        replies=tuple(_replies(fields, tools, report)),
        state=None if state is None else plain_value(state),
        faults=_faults(fields, tools, mocked, report),
        injected=_parts(fields, "injected", report),
        honeytokens=_parts(fields, "honeytokens", report),
    )
    _find_parts(world, fields, report)
    return world


def _check_use(use: str, node: Node, tools: tuple[str, ...], report: Report) -> WorldFile | None:
    """Return the world that is named; report a name that no world has, and tools that it does not have."""
    if not use or is_path(use) or use == bundled.CANARY:
        return None  # a file is read when the world is built; the canary has an answer for every tool
    if use not in bundled.NAMES:
        help = f"bundled: {', '.join(bundled.NAMES)}; a file ends in .yaml or holds a `/`"
        report.unknown(
            "unknown-world",
            f"no world called `{use}` comes with Outstep",
            visible(node),
            use,
            [*bundled.NAMES],
            help=help,
        )
        return None
    world = open_world(use)[0]
    known = [mock.tool.name for mock in world.tools]
    for tool in tools:
        if tool not in known:
            report.unknown("unknown-tool", f"the world `{use}` has no tool `{tool}`", visible(node), tool, known)
    return world


def _faults(
    fields: Fields, tools: tuple[str, ...], world: WorldFile | None, report: Report
) -> tuple[dict[str, Any], ...]:
    node = fields.get("faults")
    if node is None:
        return ()
    read_faults(node, tools, None if world is None else tuple(world.state), report)
    value = plain_value(node)
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _http(fields: Fields, report: Report) -> Iterator[HttpReply]:
    for entry in _entries(fields, "http", ("url", "method", "status", "headers", "body"), report):
        url = _needed(entry, "url", report)
        if url is None:
            continue
        status = 200
        if (node := entry.get("status")) is not None:
            status = read_count(node, report, "`status`", 599) or 200
        yield HttpReply(
            url=url,
            method=_text(entry, "method", report).upper() or "GET",
            status=status,
            headers=_texts_by_name(entry, "headers", report),
            body=_content(entry, "body", report),
        )


def _commands(fields: Fields, report: Report) -> Iterator[CommandReply]:
    for entry in _entries(fields, "commands", ("run", "output", "exit"), report):
        run = _needed(entry, "run", report)
        if run is not None:
            yield CommandReply(run=run, output=_content(entry, "output", report), exit=_exit(entry, report))


def _exit(entry: Fields, report: Report) -> int:
    node = entry.get("exit")
    if node is None:
        return 0
    if isinstance(node, Scalar) and node.kind == "int" and isinstance(node.value, int) and 0 <= node.value <= 255:
        return node.value
    report.error("value", "`exit` is a whole number from 0 to 255", visible(node))
    return 0


def _replies(fields: Fields, tools: tuple[str, ...], report: Report) -> Iterator[ToolReply]:
    for entry in _entries(fields, "replies", ("tool", "args", "outcome", "text", "data"), report):
        tool = _needed(entry, "tool", report)
        if tool is None:
            continue
        if tool not in tools:
            node = entry.get("tool")
            assert node is not None
            report.unknown("unknown-tool", f"the scenario has no tool `{tool}`", visible(node), tool, list(tools))
        args, data = entry.get("args"), entry.get("data")
        if args is not None and not isinstance(args, Mapping):
            report.error("value", "`args` is a map of arguments", visible(args))
            args = None
        yield ToolReply(
            tool=tool,
            args={} if args is None else plain_value(args),
            outcome=_outcome(entry),
            text=_content(entry, "text", report),
            data=None if data is None else plain_value(data),
        )


def _outcome(entry: Fields) -> Outcome:
    word = entry.choice("outcome", OUTCOMES, "ok")
    return next(known for known in OUTCOMES if known == word)


def _find_parts(world: Given, fields: Fields, report: Report) -> None:
    """Report injected texts and honeytokens that stand nowhere: nobody could ever meet them."""
    if world.use:
        return  # they may stand there
    contents = [*world.files.values(), *world.env.values(), *(reply.body for reply in world.http)]
    contents += [reply.output for reply in world.commands]
    for reply in world.replies:
        contents += [reply.text, *_texts_in(reply.data)]
    for key in ("injected", "honeytokens"):
        node = fields.get(key)
        for item in node.items if isinstance(node, Sequence) else ():
            if isinstance(item, Scalar) and item.text.strip() and not any(item.text in text for text in contents):
                sentence = f"this text stands in no file and no reply of the world, as `{key}` must"
                report.error("not-in-world", sentence, visible(item), "copy it letter by letter from where it stands")


def _texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)


def _entries(fields: Fields, key: str, keys: tuple[str, ...], report: Report) -> Iterator[Fields]:
    node = fields.get(key)
    if node is None:
        return
    if not isinstance(node, Sequence):
        report.error("value", f"`{key}` is a list of maps", visible(node), f"write `{key}: [{{{keys[0]}: …}}]`")
        return
    for item in node.items:
        yield Fields(item, report, f"an entry of `{key}`", keys)


def _needed(entry: Fields, key: str, report: Report) -> str | None:
    node = entry.need(key)
    return None if node is None else read_text(node, report, f"`{key}`")


def _text(fields: Fields, key: str, report: Report) -> str:
    node = fields.get(key)
    return "" if node is None else read_text(node, report, f"`{key}`") or ""


def _content(fields: Fields, key: str, report: Report) -> str:
    """Return what stands in a file or reply; it may be empty."""
    node = fields.get(key)
    return "" if node is None else _any_text(node, f"`{key}`", report)


def _any_text(node: Node, what: str, report: Report) -> str:
    if isinstance(node, Scalar) and (not node.text or node.text.isspace()) and (node.style or not node.text):
        return node.text
    return read_text(node, report, what) or ""


def _texts_by_name(fields: Fields, key: str, report: Report) -> dict[str, str]:
    node = fields.get(key)
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        report.error("value", f"`{key}` is a map of texts", visible(node))
        return {}
    return {name.text: _any_text(value, f"`{name.text}`", report) for name, value in node.entries}


def _parts(fields: Fields, key: str, report: Report) -> tuple[str, ...]:
    node = fields.get(key)
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        report.error("value", f"`{key}` is a list of texts", visible(node))
        return ()
    return tuple(text for item in node.items if (text := read_text(item, report, f"an entry of `{key}`")))
