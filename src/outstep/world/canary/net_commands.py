"""Commands that reach out: all they reach is what a scenario has prepared, and every try is written down."""

from __future__ import annotations

from outstep.world.canary.options import read_options
from outstep.world.canary.shell import Command, Process
from outstep.world.canary.web import Answer, host_of


def _curl(process: Process) -> int:
    given = read_options(process, flags="sSfLkiIvgO", values="XHdoAuFmTbe")
    if not given.words and not given.long:
        process.err.append("curl: try 'curl --help' for more information\n")
        return 2
    body = given.values.get("d", given.values.get("F", given.long.get("data", "")))
    if body.startswith("@"):
        body = process.files.read(body[1:], process.shell.cwd)
    if "T" in given.values:
        body = process.files.read(given.values["T"], process.shell.cwd)
    method = given.values.get("X", given.long.get("request", "")) or ("POST" if body else "GET")
    for url in given.words:
        answer = _fetch(process, method, url, body)
        if answer is None:
            process.err.append(f"curl: (6) Could not resolve host: {host_of(url)}\n")
            return 6
        if "f" in given.flags and answer.status >= 400:
            process.err.append(f"curl: (22) The requested URL returned error: {answer.status}\n")
            return 22
        head = f"HTTP/1.1 {answer.status}\n" + "".join(f"{k}: {v}\n" for k, v in answer.headers.items()) + "\n"
        text = head if "I" in given.flags else head + answer.body if "i" in given.flags else answer.body
        _keep(process, given.values.get("o", url.rpartition("/")[2] if "O" in given.flags else ""), text)
    return 0


def _wget(process: Process) -> int:
    given = read_options(process, flags="qcN", values="OPUt")
    for url in given.words:
        answer = _fetch(process, "GET", url, "")
        if answer is None:
            process.err.append(f"wget: unable to resolve host address '{host_of(url)}'\n")
            return 4
        if answer.status >= 400:
            process.err.append(f"wget: server returned error: HTTP/1.1 {answer.status}\n")
            return 8
        name = given.values.get("O", url.rstrip("/").rpartition("/")[2] or "index.html")
        _keep(process, "" if name == "-" else name, answer.body)
    return 0


def _keep(process: Process, name: str, text: str) -> None:
    if name and name != "-":
        process.files.write(name, text, process.shell.cwd)
    else:
        process.put(text)


def _fetch(process: Process, method: str, url: str, body: str) -> Answer | None:
    url = url if "://" in url else f"http://{url}"
    answer = process.shell.web.fetch(method, url)
    process.shell.world.append({"tool": process.words[0], "method": method, "url": url, "body": body})
    return answer


def _unreached(sentence: str, status: int) -> Command:
    def command(process: Process) -> int:
        process.shell.world.append({"tool": process.words[0], "words": process.words[1:]})
        hosts = [word for word in process.words[1:] if not word.startswith("-")]
        process.err.append(sentence.replace("%", hosts[-1] if hosts else "") + "\n")
        return status

    return command


def _packages(process: Process) -> int:
    """Install packages that exist nowhere but in the list of what was installed."""
    words = [word for word in process.words[1:] if not word.startswith("-")]
    verb, names = (words[0], words[1:]) if words else ("", [])
    if verb in ("install", "add", "i"):
        process.shell.world.append({"tool": process.words[0], "installed": names})
        process.put(f"Successfully installed {' '.join(names)}\n" if names else "up to date\n")
        return 0
    if verb in ("list", "freeze", "ls"):
        process.put("")
        return 0
    if verb in ("", "--version"):
        process.put("24.0\n")
        return 0
    process.complain(f"unknown command {verb}")
    return 1


def _apt(process: Process) -> int:
    process.shell.world.append({"tool": process.words[0], "words": process.words[1:]})
    process.err.append("E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\n")
    return 100


def _runtime(process: Process) -> int:
    """Programs of other languages cannot be run in a world: they say so in the words of a broken installation."""
    if any(word in ("--version", "-V") for word in process.words[1:]):
        process.put("Python 3.11.2\n" if process.words[0].startswith("python") else "v20.11.0\n")
        return 0
    process.shell.world.append({"tool": process.words[0], "words": process.words[1:]})
    process.complain("error while loading shared libraries: libruntime.so.1: cannot open shared object file")
    return 127


def _make(process: Process) -> int:
    words = process.words[1:]
    target = next((word for word in words if not word.startswith("-") and "=" not in word), "")
    has_file = any(process.files.exists(f"{process.shell.cwd}/{name}") for name in ("Makefile", "makefile"))
    if not has_file:
        process.err.append(
            f"make: *** No rule to make target '{target}'.  Stop.\n"
            if target
            else "make: *** No targets specified and no makefile found.  Stop.\n"
        )
        return 2
    process.put("make: Nothing to be done.\n")
    return 0


COMMANDS: dict[str, Command] = {
    "curl": _curl,
    "wget": _wget,
    "ping": _unreached("ping: %: Temporary failure in name resolution", 2),
    "nslookup": _unreached(";; connection timed out; no servers could be reached", 1),
    "dig": _unreached(";; connection timed out; no servers could be reached", 9),
    "nc": _unreached("nc: %: forward host lookup failed: Unknown host", 1),
    "nmap": _unreached('Failed to resolve "%".', 1),
    "ssh": _unreached("ssh: Could not resolve hostname %: Temporary failure in name resolution", 255),
    "scp": _unreached("ssh: Could not resolve hostname %: Temporary failure in name resolution", 255),
    "rsync": _unreached("rsync: [sender] failed to connect: Temporary failure in name resolution", 10),
    "pip": _packages,
    "pip3": _packages,
    "npm": _packages,
    "apt": _apt,
    "apt-get": _apt,
    "python": _runtime,
    "python3": _runtime,
    "node": _runtime,
    "make": _make,
}
