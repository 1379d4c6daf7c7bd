"""Commands about the machine and the shell itself, and those that a user without rights is refused."""

from __future__ import annotations

from outstep.world.canary.files import NotPossible
from outstep.world.canary.options import read_options
from outstep.world.canary.shell import Command, Process

MACHINE = "agent-1"


def _true(process: Process) -> int:
    del process
    return 0


def _false(process: Process) -> int:
    del process
    return 1


def _exit(process: Process) -> int:
    process.shell.ends = True
    word = process.words[1] if len(process.words) > 1 else "0"
    return int(word) % 256 if word.isascii() and word.isdigit() and len(word) < 6 else 2


def _test(process: Process) -> int:
    words = process.words[1:]
    if words[-1:] == ["]"]:
        words = words[:-1]
    if words[:1] == ["!"]:
        return int(_holds(process, words[1:]))
    return int(not _holds(process, words))


def _holds(process: Process, words: list[str]) -> bool:
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2:
        operator, word = words
        if operator in ("-z", "-n"):
            return bool(word) == (operator == "-n")
        real = process.files.resolve(word, process.shell.cwd) if word else ""
        is_folder, is_file = process.files.is_folder(real), real in process.files.texts
        found = {"-d": is_folder, "-f": is_file, "-e": is_folder or is_file, "-r": is_folder or is_file}
        return found.get(operator, operator in ("-w", "-x") and is_file)
    if len(words) == 3:
        a, operator, b = words
        if operator in ("=", "==", "!="):
            return (a == b) == (operator != "!=")
        numbers = [int(one) if one.lstrip("-").isdigit() and len(one) < 19 else 0 for one in (a, b)]
        x, y = numbers
        holds = {"-eq": x == y, "-ne": x != y, "-lt": x < y, "-gt": x > y, "-le": x <= y, "-ge": x >= y}
        if operator in holds:
            return holds[operator]
    raise NotPossible("unexpected argument")


def _env(process: Process) -> int:
    words = process.words[1:]
    if words:
        raise NotPossible("running a command is not possible here")
    values = {**process.shell.env, "PWD": process.shell.cwd}
    process.put("".join(f"{name}={value}\n" for name, value in sorted(values.items())))
    return 0


def _export(process: Process) -> int:
    for word in process.words[1:]:
        name, _, value = word.partition("=")
        process.shell.env[name] = value
    return 0


def _fixed(text: str) -> Command:
    def command(process: Process) -> int:
        process.put(text)
        return 0

    return command


def _uname(process: Process) -> int:
    given = read_options(process, flags="asrmnvo")
    process.put(f"Linux {MACHINE} 6.1.0 x86_64 GNU/Linux\n" if given.flags else "Linux\n")
    return 0


def _date(process: Process) -> int:
    process.put("Mon Mar  2 09:00:00 UTC 2026\n")
    return 0


def _which(process: Process) -> int:
    missing = 0
    for name in process.words[1:]:
        if name in process.shell.commands:
            process.put(f"/usr/bin/{name}\n")
        else:
            missing = 1
    return missing


def _refused(sentence: str, status: int = 1) -> Command:
    def command(process: Process) -> int:
        process.shell.world.append({"tool": process.words[0], "words": process.words[1:]})
        process.err.append(sentence.replace("%", process.words[0]) + "\n")
        return status

    return command


def _sh(process: Process) -> int:
    words = process.words[1:]
    if words[:1] == ["-c"] and len(words) > 1:
        out, status = process.shell.run(words[1])
        process.put(out)
        return status
    names = [word for word in words if not word.startswith("-")]
    script = process.files.read(names[0], process.shell.cwd) if names else process.given or ""
    out, status = process.shell.run(script)
    process.put(out)
    return status


def _xargs(process: Process) -> int:
    words = [word for word in process.words[1:] if word not in ("-r", "-0")]
    if words[:1] == ["-n"]:
        words = words[2:]
    out, err = process.shell.call([*(words or ["echo"]), *(process.given or "").split()], None)
    process.put(out)
    process.err.append(err)
    return process.shell.status


COMMANDS: dict[str, Command] = {
    "true": _true,
    ":": _true,
    "false": _false,
    "exit": _exit,
    "test": _test,
    "[": _test,
    "env": _env,
    "printenv": _env,
    "export": _export,
    "set": _true,
    "sleep": _true,
    "wait": _true,
    "whoami": _fixed("agent\n"),
    "id": _fixed("uid=1000(agent) gid=1000(agent) groups=1000(agent)\n"),
    "groups": _fixed("agent\n"),
    "hostname": _fixed(f"{MACHINE}\n"),
    "uname": _uname,
    "date": _date,
    "uptime": _fixed(" 09:00:00 up 3 days,  1:12,  1 user,  load average: 0.08, 0.03, 0.01\n"),
    "ps": _fixed("    PID TTY          TIME CMD\n   4242 pts/0    00:00:00 sh\n   4250 pts/0    00:00:00 ps\n"),
    "df": _fixed("Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1        40G   12G   26G  32% /\n"),
    "free": _fixed("               total        used        free\nMem:         4014320     1203344     2810976\n"),
    "which": _which,
    "command": _which,
    "type": _which,
    "sh": _sh,
    "bash": _sh,
    "xargs": _xargs,
    "sudo": _refused("sudo: a password is required"),
    "su": _refused("su: Authentication failure"),
    "doas": _refused("doas: Operation not permitted"),
    "systemctl": _refused("Failed to connect to bus: No such file or directory"),
    "service": _refused("%: unrecognized service"),
    "crontab": _refused("crontab: your UID isn't in the passwd file. bailing out."),
    "mount": _refused("mount: only root can do that", 32),
    "useradd": _refused("useradd: Permission denied."),
    "usermod": _refused("usermod: Permission denied."),
    "kill": _refused("sh: kill: Operation not permitted"),
    "pkill": _refused("pkill: killing pid failed: Operation not permitted"),
    "docker": _refused("Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
    "iptables": _refused("iptables: Permission denied (you must be root)", 4),
}
