"""Carries out the canary tools over a state that is JSON: nothing here opens a file, a process or a socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from outstep import codec
from outstep.world.canary import file_commands, net_commands, system_commands, text_commands
from outstep.world.canary.declared import declared_tool
from outstep.world.canary.files import Files, NotPossible
from outstep.world.canary.git import git
from outstep.world.canary.shell import Command, Shell
from outstep.world.canary.web import Web
from outstep.world.given import Given
from outstep.world.tools import Outcome, Reply, Tool
from outstep.world.world import Around

CLOCK = 1_772_442_000.0
"""2 March 2026, 09:00 UTC: every run begins then."""
COMMANDS: dict[str, Command] = {
    **text_commands.COMMANDS,
    **file_commands.COMMANDS,
    **system_commands.COMMANDS,
    **net_commands.COMMANDS,
    "git": git,
}
Answered = Callable[["_Call"], Reply]


class CanaryActor:
    """Acts as the tools of a scenario; what they find is what the scenario put there."""

    clock = CLOCK

    def __init__(
        self,
        given: Given,
        tools: tuple[str, ...],
        *,
        cwd: str,
        home: str,
        env: dict[str, str],
        targets: Mapping[str, Mapping[str, Sequence[str]]],
    ) -> None:
        self._given = given
        self._cwd = cwd
        self._home = home
        self._env = env
        self._web = Web(given.http)
        self.tools: tuple[Tool, ...] = tuple(declared_tool(name, given, targets.get(name, {})) for name in tools)

    def first_state(self, files: dict[str, str], links: dict[str, str], folders: list[str]) -> dict[str, Any]:
        """Return the state in which a run begins."""
        tree = Files({"files": files, "links": links, "folders": folders})
        state: dict[str, Any] = {**tree.state(), "sent": [], "git": {}}
        call = _Call(self, state, {}, "")
        state["git"] = {"head": call.shell.head()}
        return state

    def key(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> str | None:
        """Return none: these tools know no idempotency keys."""
        del state, tool, args, around
        return None

    def act(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> tuple[Reply, Any]:
        """Return the reply to a call, and the state after it."""
        del around
        call = _Call(self, state, args, tool)
        prepared = self._prepared_reply(tool, args)
        if prepared is not None:
            call.sent.append({"tool": tool, "args": args})
            return prepared, call.after()
        answer = _TOOLS.get(tool)
        if answer is None and _is_kind_of_git(tool):
            answer = _git
        try:
            reply = _unanswered(call) if answer is None else answer(call)
        except NotPossible as refusal:
            return Reply(outcome="failed", text=f"error: {call.target}: {refusal}"), state
        return reply, call.after()

    def _prepared_reply(self, tool: str, args: dict[str, Any]) -> Reply | None:
        for one in self._given.replies:
            if one.tool == tool and all(name in args and args[name] == value for name, value in one.args.items()):
                outcome: Outcome = one.outcome
                if one.data is not None:
                    return Reply(outcome=outcome, data=one.data)
                return Reply(outcome=outcome, text=one.text)
        return None

    def prepared_command(self, text: str) -> tuple[str, int] | None:
        """Return what the scenario says that a command answers, or none."""
        for one in self._given.commands:
            if text == one.run or (one.run.endswith("*") and text.startswith(one.run[:-1])):
                return one.output, one.exit
        return None

    def new_shell(self, files: Files, sent: list[Any], repository: dict[str, Any]) -> Shell:
        """Return a shell as every call begins with one."""
        return Shell(
            files,
            cwd=self._cwd,
            env=self._env,
            commands=COMMANDS,
            prepared=self.prepared_command,
            web=self._web,
            world=sent,
            repository=repository,
        )

    @property
    def web(self) -> Web:
        """The URLs that answer."""
        return self._web

    @property
    def cwd(self) -> str:
        """The working directory."""
        return self._cwd


class _Call:
    """One call: copies of what it may change."""

    def __init__(self, actor: CanaryActor, state: dict[str, Any], args: dict[str, Any], tool: str) -> None:
        self.actor = actor
        self.args = args
        self.tool = tool
        self.files = Files(state)
        self.sent: list[Any] = list(state["sent"])
        self.repository: dict[str, Any] = dict(state["git"])
        self.shell = actor.new_shell(self.files, self.sent, self.repository)

    @property
    def target(self) -> str:
        """What a refusal is about."""
        return str(self.args.get("path", self.args.get("command", self.args.get("url", self.tool))))

    def text(self, name: str, default: str = "") -> str:
        """Return an argument as text."""
        value = self.args.get(name, default)
        return value if isinstance(value, str) else codec.encode(value).decode()

    def after(self) -> dict[str, Any]:
        """Return the state after the call."""
        return {**self.files.state(), "sent": self.sent, "git": self.repository}


def _file_read(call: _Call) -> Reply:
    return Reply(text=call.files.read(call.text("path"), call.actor.cwd))


def _file_write(call: _Call) -> Reply:
    path, content = call.text("path"), call.text("content")
    if not content and "text" in call.args:
        content = call.text("text")
    call.files.write(path, content, call.actor.cwd, make_folders=True)
    return Reply(text=f"wrote {len(content)} characters to {path}")


def _shell_exec(call: _Call) -> Reply:
    output, status = call.shell.run(call.text("command"))
    return Reply(outcome="ok" if status == 0 else "failed", text=output, exit=status)


def _git(call: _Call) -> Reply:
    command = call.text("command").strip()
    if not command:
        words = call.args.get("args")
        command = " ".join(str(word) for word in words) if isinstance(words, list) else ""
    if not command.startswith("git ") and command != "git":
        command = f"git {command}"
    output, status = call.shell.run(command)
    return Reply(outcome="ok" if status == 0 else "failed", text=output, exit=status)


def _http(method: str) -> Answered:
    def answer(call: _Call) -> Reply:
        url, body = call.text("url"), call.text("body")
        found = call.actor.web.fetch(method, url)
        call.sent.append({"tool": call.tool, "method": method, "url": url, "body": body})
        if found is None:
            return Reply(outcome="failed", text=f"error: {url}: could not resolve host")
        data: dict[str, Any] = {"status": found.status, "body": found.body}
        if found.headers:
            data["headers"] = found.headers
        return Reply(outcome="ok" if found.status < 400 else "failed", data=data)

    return answer


def _sent(sentence: str) -> Answered:
    """Return a tool that does nothing but be written down."""

    def answer(call: _Call) -> Reply:
        call.sent.append({"tool": call.tool, "args": call.args})
        return Reply(text=sentence.format(package=call.text("package"), to=call.text("to")))

    return answer


def _mail_read(call: _Call) -> Reply:
    del call
    return Reply(text="no new mail")


def _unanswered(call: _Call) -> Reply:
    call.sent.append({"tool": call.tool, "args": call.args})
    return Reply(outcome="failed", text=f"error: {call.tool} is not available at the moment")


def _is_kind_of_git(tool: str) -> bool:
    return tool.rpartition("__")[2] in ("git", "git_exec", "git_command")


_TOOLS: dict[str, Answered] = {
    "file_read": _file_read,
    "file_write": _file_write,
    "shell_exec": _shell_exec,
    "git": _git,
    "http_get": _http("GET"),
    "http_post": _http("POST"),
    "package_install": _sent("installed {package}"),
    "email_send": _sent("queued for {to}"),
    "mail_read": _mail_read,
    "subagent": _sent("The helper has finished; it had nothing to report."),
}
KNOWN = tuple(_TOOLS)
"""Tools that answer without a prepared reply."""
