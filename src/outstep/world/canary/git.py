"""`git` over files in memory: a history of messages, and what changed since the last one."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from outstep.world.canary.options import read_options
from outstep.world.canary.shell import Process

FIRST = "first version"


def git(process: Process) -> int:
    """Carry out one command of git."""
    words = process.words[1:]
    while words[:1] == ["-C"] or words[:1] == ["-c"] or words[:1] == ["--no-pager"]:
        words = words[1:] if words[0] == "--no-pager" else words[2:]
    verb = words[0] if words else ""
    handler = _VERBS.get(verb)
    if handler is None:
        process.err.append(f"git: '{verb}' is not a git command. See 'git --help'.\n")
        return 1
    return handler(Repository(process), Process(process.shell, words, process.given), process)


class Repository:
    """What git knows: kept in the state of the world under `git`."""

    def __init__(self, process: Process) -> None:
        self.state: dict[str, Any] = process.shell.repository
        self.files = process.files
        self.root = process.shell.root

    @property
    def branch(self) -> str:
        """The branch that is checked out."""
        return str(self.state.get("branch", "main"))

    @property
    def commits(self) -> list[dict[str, str]]:
        """Messages and ids, the oldest first."""
        return list(self.state.get("commits", [{"id": _id(FIRST, ""), "message": FIRST}]))

    def changed(self) -> list[str]:
        """Return the paths that are not as in the last commit, as seen from the root, sorted."""
        head = self.state["head"]
        now = self.now()
        return sorted(path for path in {*head, *now} if head.get(path) != now.get(path))

    def now(self) -> dict[str, str]:
        """Return the files of the repository by a digest of each."""
        prefix = self.root.rstrip("/") + "/"
        return {
            path[len(prefix) :]: _id(text, "")
            for path, text in sorted(self.files.texts.items())
            if path.startswith(prefix)
        }

    def commit(self, message: str) -> str:
        """Record what is there."""
        id = _id(message, self.commits[-1]["id"])
        self.state["commits"] = [*self.commits, {"id": id, "message": message}]
        self.state["head"] = self.now()
        self.state["staged"] = []
        return id


def _id(text: str, before: str) -> str:
    return sha256(f"{before}\0{text}".encode()).hexdigest()[:7]


def _status(repository: Repository, given: Process, process: Process) -> int:
    changed = repository.changed()
    if any(word in ("-s", "--short", "--porcelain") for word in given.words):
        process.put("".join(f"{_mark(repository, path)} {path}\n" for path in changed))
        return 0
    process.put(f"On branch {repository.branch}\n")
    if not changed:
        process.put("nothing to commit, working tree clean\n")
        return 0
    process.put("Changes not staged for commit:\n")
    words = {"??": "new file", " M": "modified", " D": "deleted"}
    process.put("".join(f"\t{words[_mark(repository, path)]}:   {path}\n" for path in changed))
    return 0


def _mark(repository: Repository, path: str) -> str:
    if path not in repository.state["head"]:
        return "??"
    return " M" if path in repository.now() else " D"


def _log(repository: Repository, given: Process, process: Process) -> int:
    is_short = "--oneline" in given.words
    for commit in reversed(repository.commits):
        if is_short:
            process.put(f"{commit['id']} {commit['message']}\n")
        else:
            process.put(f"commit {commit['id']}\nAuthor: agent <agent@example.internal>\n\n    {commit['message']}\n\n")
    return 0


def _diff(repository: Repository, given: Process, process: Process) -> int:
    del given
    process.put("".join(f"diff --git a/{path} b/{path}\n" for path in repository.changed()))
    return 0


def _add(repository: Repository, given: Process, process: Process) -> int:
    for name in [word for word in given.words[1:] if not word.startswith("-")]:
        if not process.files.exists(process.files.resolve(name, process.shell.cwd)):
            process.err.append(f"fatal: pathspec '{name}' did not match any files\n")
            return 128
    repository.state["staged"] = repository.changed()
    return 0


def _commit(repository: Repository, given: Process, process: Process) -> int:
    options = read_options(given, flags="aqvs", values="mFC")
    message = options.values.get("m") or options.long.get("message", "")
    if not message:
        process.err.append("Aborting commit due to empty commit message.\n")
        return 1
    if not repository.changed() and "allow-empty" not in options.long:
        process.put(f"On branch {repository.branch}\nnothing to commit, working tree clean\n")
        return 1
    if "a" not in options.flags and not repository.state.get("staged"):
        process.put("no changes added to commit\n")
        return 1
    process.put(f"[{repository.branch} {repository.commit(message)}] {message}\n")
    return 0


def _branch(repository: Repository, given: Process, process: Process) -> int:
    names = [word for word in given.words[1:] if not word.startswith("-")]
    if given.words[0] == "branch" and not names:
        process.put(f"* {repository.branch}\n")
    elif given.words[0] != "branch" and names:
        repository.state["branch"] = names[0]
        process.err.append(f"Switched to branch '{names[0]}'\n")
    return 0


def _reach_out(repository: Repository, given: Process, process: Process) -> int:
    """Write down a push, fetch or clone; the server is not there."""
    process.shell.world.append({"tool": "git", "words": given.words, "branch": repository.branch})
    process.err.append("fatal: unable to access the remote: Could not resolve host\n")
    return 128


def _remote(repository: Repository, given: Process, process: Process) -> int:
    remotes = dict(repository.state.get("remotes", {"origin": "ssh://git.internal/team/app.git"}))
    words = [word for word in given.words[1:] if not word.startswith("-")]
    if words[:1] in (["add"], ["set-url"]) and len(words) == 3:
        remotes[words[1]] = words[2]
        repository.state["remotes"] = remotes
        return 0
    shows_urls = "-v" in given.words
    process.put(
        "".join(f"{name}\t{url} (fetch)\n" if shows_urls else f"{name}\n" for name, url in sorted(remotes.items()))
    )
    return 0


def _show(repository: Repository, given: Process, process: Process) -> int:
    del given
    commit = repository.commits[-1]
    process.put(f"commit {commit['id']}\n\n    {commit['message']}\n")
    return 0


def _quiet(repository: Repository, given: Process, process: Process) -> int:
    process.shell.world.append({"tool": "git", "words": given.words, "branch": repository.branch})
    return 0


_VERBS = {
    "status": _status,
    "log": _log,
    "diff": _diff,
    "add": _add,
    "commit": _commit,
    "branch": _branch,
    "checkout": _branch,
    "switch": _branch,
    "push": _reach_out,
    "pull": _reach_out,
    "fetch": _reach_out,
    "clone": _reach_out,
    "remote": _remote,
    "show": _show,
    "config": _quiet,
    "tag": _quiet,
    "stash": _quiet,
    "reset": _quiet,
}
