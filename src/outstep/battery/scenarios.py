"""Reads the scenarios of a battery, each mistake at its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct

from outstep.battery.model import ContractUse, Scenario
from outstep.battery.scalars import read_count, read_text, visible
from outstep.battery.worlds import read_world
from outstep.contracts.fields import Fields
from outstep.contracts.located import Mapping, Node, Scalar, Sequence, plain_value
from outstep.contracts.report import Report, Span
from outstep.scope.model import Rule

KEYS = (
    "id",
    "goal",
    "tools",
    "allowlist",
    "title",
    "description",
    "class",
    "control",
    "rationale",
    "right_behaviour",
    "expect",
    "epochs",
    "cwd",
    "home",
    "protected",
    "targets",
    "shells",
    "case_sensitive",
    "contracts",
    "world",
)
TARGET_KINDS = ("path", "command", "url", "host")
CWD = Scenario(id="", goal="").cwd
"""The working directory of a scenario that names none."""
MOST_EPOCHS = 10_000
OWN = "x-"

Shell = Literal["stateless", "persistent"]
Item = TypeVar("Item")


class ReadRule(Struct, frozen=True):
    """A rule with its places, and what its scenario says about its tool."""

    rule: Rule
    scope: Span
    scenario: int
    """Index of the scenario."""
    targets: dict[str, tuple[str, ...]] | None
    """What the scenario declares for the tool: kind to arguments."""
    cwd: str
    """Where relative paths of the scenario begin."""
    protected: tuple[str, ...] = ()
    """Path patterns of the scenario that no rule opens."""


class ScenarioReader:
    """Reads one scenario after the other, and knows the ids and rules so far."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._ids: dict[str, Span] = {}
        self._count = 0
        self._cwd = CWD
        self._protected: tuple[str, ...] = ()
        self.read_rules: list[ReadRule] = []
        """All rules without a mistake, in the order of the file."""

    def read(self, node: Node) -> Scenario | None:
        """Return a scenario, or none after a mistake that leaves it without id, goal or tools."""
        report = self._report
        if not isinstance(node, Mapping):
            report.error("value", "a scenario is a map with `id`, `goal`, `tools` and `allowlist`", visible(node))
            return None
        fields = Fields(node, report, "a scenario", KEYS, OWN)
        id = self._id(fields)
        goal = self._needed(fields, "goal", "say what the agent is asked to do")
        tools = self._tools(fields)
        targets = self._targets(fields, tools)
        more: dict[str, Any] = {key: text for key in ("cwd", "home") if (text := self._folder(fields, key))}
        self._cwd = more.get("cwd", CWD)
        self._protected = self._list(
            fields, "protected", lambda item: read_text(item, report, "an entry of `protected`")
        )
        scenario_rules = self._allowlist(fields, tools, targets)
        world = fields.get("world")
        if "case_sensitive" in fields:
            more["case_sensitive"] = fields.flag("case_sensitive")
        found = Scenario(
            id=id or "?",
            goal=goal or "?",
            tools=tools,
            allowlist=scenario_rules,
            title=self._prose(fields, "title"),
            description=self._prose(fields, "description"),
            cls=fields.choice("class", ("ordered", "induced"), ""),  # type: ignore[arg-type]
            control=fields.flag("control"),
            rationale=self._prose(fields, "rationale"),
            right_behaviour=self._prose(fields, "right_behaviour"),
            expect=fields.choice("expect", ("contained", "escaped"), ""),  # type: ignore[arg-type]
            epochs=self._epochs(fields),
            targets=targets,
            shells=self._shells(fields, tools),
            protected=self._protected,
            contracts=self._list(fields, "contracts", self._contract),
            world=None if world is None else read_world(world, tools, report),
            **more,
        )
        self._count += 1
        return None if id is None or goal is None or not tools else found

    def _id(self, fields: Fields) -> str | None:
        id = self._needed(fields, "id", "reports name a scenario by its id")
        if id is None:
            return None
        node = fields.get("id")
        assert node is not None
        if id in self._ids:
            first = self._ids[id]
            line, _ = first.file.line_column(first.start)
            sentence = f"`{id}` is the id of two scenarios; the first one is in line {line}"
            self._report.error("duplicate-id", sentence, visible(node), "every scenario has an id of its own")
        else:
            self._ids[id] = node.span
        return id

    def _needed(self, fields: Fields, key: str, help: str) -> str | None:
        node = fields.need(key, help)
        return None if node is None else read_text(node, self._report, f"`{key}`")

    def _prose(self, fields: Fields, key: str) -> str:
        node = fields.get(key)
        return "" if node is None else read_text(node, self._report, f"`{key}`") or ""

    def _tools(self, fields: Fields) -> tuple[str, ...]:
        report = self._report
        node = fields.need("tools", "name the tools that the agent is given: `tools: [file_read]`")
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            is_word = isinstance(node, Scalar) and node.kind == "text" and node.span.text == node.text
            help = f"write `tools: [{node.span.text}]`" if is_word else "write `tools: [file_read, …]`"
            report.error("value", "`tools` is a list of tool names", visible(node), help)
            return ()
        if not node.items:
            report.error("empty", "`tools` is empty: an agent without tools cannot do anything", visible(node))
        found: dict[str, None] = {}
        for item in node.items:
            tool = read_text(item, report, "the name of a tool", may_be_number=False)
            if tool is not None and tool in found:
                report.warning("duplicate-tool", f"`{tool}` is listed twice in `tools`", item.span, "leave one out")
            elif tool is not None:
                found[tool] = None
        return tuple(found)

    def _allowlist(
        self, fields: Fields, tools: tuple[str, ...], targets: dict[str, dict[str, tuple[str, ...]]]
    ) -> tuple[Rule, ...]:
        node = fields.get("allowlist")
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            sentence = "`allowlist` is a list of rules"
            help = 'write `- {tool: file_read, scope: "workspace/**"}` below it, or `[]` where nothing is allowed'
            self._report.error("value", sentence, visible(node), help)
            return ()
        return tuple(rule for item in node.items if (rule := self._rule(item, tools, targets)) is not None)

    def _rule(self, node: Node, tools: tuple[str, ...], targets: dict[str, dict[str, tuple[str, ...]]]) -> Rule | None:
        report = self._report
        if not isinstance(node, Mapping):
            help = 'write `- {tool: file_read, scope: "workspace/**"}`'
            report.error("value", "a rule is a map with `tool` and `scope`", visible(node), help)
            return None
        fields = Fields(node, report, "a rule", ("tool", "scope"), OWN)
        tool = self._needed(fields, "tool", "say which tool is allowed")
        node_of_tool = fields.get("tool")
        if tool is not None and node_of_tool is not None and tools and tool not in tools:
            sentence = f"the rule is for `{tool}`, a tool that the scenario does not have"
            report.unknown("unknown-tool", sentence, visible(node_of_tool), tool, list(tools))
            tool = None
        node_of_scope = fields.need("scope", 'say what the tool may touch: `scope: "workspace/**"`')
        if node_of_scope is None:
            return None
        if isinstance(node_of_scope, Sequence):
            sentence = "`scope` is one pattern, not a list"
            report.error("value", sentence, visible(node_of_scope), "write a rule for each pattern")
            return None
        scope = read_text(node_of_scope, report, "`scope`")
        if tool is None or scope is None:
            return None
        rule = Rule(tool=tool, scope=scope)
        self.read_rules.append(
            ReadRule(rule, node_of_scope.span, self._count, targets.get(tool), self._cwd, self._protected)
        )
        return rule

    def _targets(self, fields: Fields, tools: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return what is declared of tools: kind of target to the arguments that hold one."""
        report = self._report
        node = fields.get("targets")
        if node is None:
            return {}
        help = "write `targets: {upload: {path: file, url: [to, callback]}}`"
        if not isinstance(node, Mapping):
            report.error("value", "`targets` is a map of tools", visible(node), help)
            return {}
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for tool, kinds in node.entries:
            if tools and tool.text not in tools:
                sentence = f"`targets` speaks of `{tool.text}`, a tool that the scenario does not have"
                report.unknown("unknown-tool", sentence, tool.span, tool.text, list(tools))
            inner = Fields(kinds, report, f"`targets` of `{tool.text}`", TARGET_KINDS)
            found[tool.text] = {kind: self._arguments(inner, kind) for kind in inner}
        return found

    def _shells(self, fields: Fields, tools: tuple[str, ...]) -> dict[str, Shell]:
        """Return which shell tools keep their working directory from call to call."""
        node = fields.get("shells")
        if node is None:
            return {}
        # Every tool is a key that may be there: what is no tool is reported with the nearest one.
        inner = Fields(node, self._report, "`shells`", tools)
        return {tool: inner.choice(tool, get_args(Shell), "stateless") for tool in inner}  # type: ignore[misc]

    def _arguments(self, fields: Fields, kind: str) -> tuple[str, ...]:
        node = fields.get(kind)
        assert node is not None
        items = node.items if isinstance(node, Sequence) else (node,)
        texts = (read_text(item, self._report, "the name of an argument") for item in items)
        return tuple(text for text in texts if text)

    def _folder(self, fields: Fields, key: str) -> str:
        node = fields.get(key)
        text = "" if node is None else read_text(node, self._report, f"`{key}`") or ""
        if node is not None and text and not text.startswith("/"):
            sentence = f"`{key}` is an absolute path, not `{text}`"
            self._report.error("value", sentence, visible(node), f"write `/{text.lstrip('./~')}`")
        return text

    def _epochs(self, fields: Fields) -> int:
        node = fields.get("epochs")
        return 1 if node is None else read_count(node, self._report, "`epochs`", MOST_EPOCHS) or 1

    def _list(self, fields: Fields, key: str, read: Callable[[Node], Item | None]) -> tuple[Item, ...]:
        node = fields.get(key)
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            self._report.error("value", f"`{key}` is a list", visible(node), f"write `{key}: […]`")
            return ()
        return tuple(found for item in node.items if (found := read(item)) is not None)

    def _contract(self, node: Node) -> ContractUse | None:
        if isinstance(node, Mapping):
            fields = Fields(node, self._report, "an entry of `contracts`", ("contract", "params"))
            name = self._needed(fields, "contract", "name a pack, or a file")
            params = fields.get("params")
            if params is not None and not isinstance(params, Mapping):
                self._report.error("value", "`params` is a map of parameters", visible(params))
                return None
            given = {} if params is None else plain_value(params)
            return None if name is None else ContractUse(contract=name, params=given)
        found = read_text(node, self._report, "the name of a contract")
        return None if found is None else ContractUse(contract=found)
