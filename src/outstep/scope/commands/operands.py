"""Which words of a simple command are paths, and whether they are read or written; which are URLs."""

from __future__ import annotations

import re
from typing import Final

from outstep.scope.commands.looking import program_name
from outstep.scope.commands.options import DANGEROUS, TEXT_ONLY
from outstep.scope.commands.words import Shown
from outstep.scope.model import Access

Operand = tuple[Shown, Access]
"""A word and what happens to it."""

_READ: Final = frozenset(
    ("cat", "bat", "head", "tail", "less", "more", "wc", "stat", "file", "ls", "tree", "du", "strings", "xxd", "od",
     "hexdump", "base64", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "cmp", "diff", "sort", "uniq", "cut",
     "nl", "tac", "rev", "paste", "join", "fold", "column", "readlink", "realpath", "source", ".", "python", "python3",
     "node", "ruby", "perl", "bash", "sh", "zsh", "dash", "php", "lua", "comm", "split", "zcat", "zless", "gunzip")
)  # fmt: skip
_WRITE: Final = frozenset(("rm", "rmdir", "mkdir", "touch", "tee", "truncate", "shred", "unlink", "mkfifo", "mknod"))
_AFTER_MODE: Final = frozenset(("chmod", "chown", "chgrp"))
_COPY: Final = frozenset(("cp", "install", "rsync", "scp"))
_SEARCH: Final = frozenset(
    ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "jq", "yq")
)
"""The first operand is a pattern or a program, the others are files."""
_ELSEWHERE: Final = frozenset(
    ("docker", "podman", "kubectl", "ssh", "gh", "aws", "gcloud", "az", "psql", "mysql", "redis-cli", "sleep", "kill",
     "which", "type", "man", "date", "export", "declare", "local", "readonly", "unset", "set", "alias", "cd", "pushd",
     "popd", "exit", "return", "trap", "wait", "jobs", "whoami", "id", "hostname", "uname", "basename", "dirname",
     "command", "hash", "ulimit", "umask", "read", "let", "shift", "getopts", "history", "apply_patch")
)  # fmt: skip
"""Programs whose words are no paths of this machine, or paths they only spell."""
_VALUED: Final[dict[str, str]] = {
    "head": "nc", "tail": "nc", "sort": "kSTto", "cut": "dfbc", "grep": "eABCmf", "rg": "eABCmgtTjfr", "sed": "efl",
    "awk": "Fvf", "gawk": "Fvf", "mawk": "Fvf", "ls": "wTI", "wc": "", "du": "dBt", "xxd": "lscgo", "od": "AjNtwS",
    "ag": "GABCm",
    "python": "cmWX", "python3": "cmWX", "node": "epr", "perl": "eEIMm", "ruby": "eIr", "bash": "coO", "sh": "co",
    "touch": "drt", "mkdir": "m", "truncate": "sr", "split": "bCnl", "diff": "UCIxX", "stat": "cft", "install": "mogt",
    "cp": "St", "tree": "LPIo", "column": "ts", "paste": "d", "base64": "w", "nl": "bdfhilnsvw", "fold": "w", "tee": "",
    "egrep": "eABCmf", "fgrep": "eABCmf", "jq": "fL",
}  # fmt: skip
"""Letters of options that take the next word."""
_LOOKS: Final = re.compile(r"(?:~(?:/|$)|/(?!/)|\.\.?(?:/|$))|(?:.*/)?\.\.(?:/|$)")
_ATTACHED: Final = re.compile(r"-[A-Za-z](/.*)", re.DOTALL)
_NOTHING: Final = re.compile(r"/dev/(?:null|zero|u?random|full|std(?:in|out|err)|tty|fd/\d+)")
_URL: Final = re.compile(r"https?:/?/?[^/]", re.IGNORECASE)
_TEXTUAL: Final = frozenset(
    ("grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "jq", "python", "python3", "node", "perl")
)
"""Programs that look URLs up in text, and fetch none that stands there."""


def paths_of(words: tuple[Shown, ...]) -> list[Operand]:
    """Return the words that are paths, with what happens to them."""
    name = program_name(words[0])
    if name in TEXT_ONLY or name in _ELSEWHERE:
        return []
    found = [each for each in _by_name(name, words) if _NOTHING.fullmatch(each[0].text) is None]
    return [(word, access) for word, access in found if word.text not in ("-", "") and _URL.match(word.text) is None]


def urls_of(words: tuple[Shown, ...]) -> list[Shown]:
    """Return the words that are URLs which the command may fetch."""
    name = program_name(words[0])
    if (
        name in TEXT_ONLY
        or name in _TEXTUAL
        or (name == "git" and any(word.text in ("commit", "log", "grep", "tag") for word in words[1:3]))
    ):
        return []
    return [word for word in words[1:] if _URL.match(word.text)]


def _by_name(name: str, words: tuple[Shown, ...]) -> list[Operand]:
    operands, others = _split(name, words)
    if name == "find":
        return _found(words)
    if name == "dd":
        pairs = [(word.text.partition("="), word) for word in words[1:]]
        return [(Shown(value, word.literal, word.glob, word.raw), "write" if key == "of" else "read")
                for (key, _, value), word in pairs if key in ("if", "of")]  # fmt: skip
    if name in _READ:
        return [*others, *((word, "read") for word in operands)]
    if name in _WRITE:
        return [*others, *((word, "write") for word in operands)]
    if name in _AFTER_MODE:
        return [(word, "write") for word in operands[1:]]
    if name == "mv":
        return [*others, *((word, "write") for word in operands)]
    if name == "ln":
        return [*others, *((word, "write") for word in operands[-1:] if len(operands) > 1)]
    if name in _COPY:
        reading: list[Operand] = [(word, "read") for word in operands[:-1]]
        written: list[Operand] = [(word, "write") for word in operands[-1:]]
        return [*others, *((word, access) for word, access in (*reading, *written) if ":" not in word.text)]
    if name in _SEARCH:
        given = any(
            word.text[:2] in ("-e", "-f") or word.text.startswith(("--regexp", "--expression", "--file"))
            for word in words[1:]
        )
        files = operands if given else operands[1:]
        inplace = name in ("sed", "yq") and any(_is_inplace(word.text) for word in words[1:])
        return [*others, *((word, "write" if inplace else "read") for word in files)]
    return [*others, *((word, "read") for word in operands if word.literal and _is_looking(word.text))]


def _split(name: str, words: tuple[Shown, ...]) -> tuple[list[Shown], list[Operand]]:
    """Return the operands of a command, and the paths in its options."""
    valued = _VALUED.get(name, "")
    options = DANGEROUS.get(name)
    writes = options.writes_names if options is not None else ()
    letters = options.writes if options is not None else ""
    operands: list[Shown] = []
    others: list[Operand] = []
    place = 1
    ended = False
    while place < len(words):
        word = words[place]
        text = word.text
        place += 1
        if ended or text[:1] != "-" or text == "-":
            operands.append(word)
        elif text == "--":
            ended = True
        elif "=" in text and text[:2] == "--":
            key, _, value = text.partition("=")
            if key in writes or _is_looking(value):
                others.append((Shown(value, word.literal, word.glob, word.raw), "write" if key in writes else "read"))
        elif text in writes or (len(text) == 2 and text[1] in letters and name not in ("sed", "yq", "perl", "ruby")):
            others.extend((each, "write") for each in words[place : place + 1] if text not in _FLAGS)
            place += text not in _FLAGS
        elif len(text) >= 2 and text[1] != "-" and text[-1] in valued:
            place += 1
        elif (attached := _ATTACHED.fullmatch(text)) is not None:
            others.append((Shown(attached[1], word.literal, word.glob, word.raw), "read"))
    return operands, others


_FLAGS: Final = frozenset(("-O", "--remote-name", "--remote-name-all", "--delete", "--fix", "--remove-files", "--move",
                           "-m", "--in-place", "--inplace", "--remove-source-files"))  # fmt: skip
"""Options that write without naming a file."""


def _found(words: tuple[Shown, ...]) -> list[Operand]:
    """Return the folders in which `find` looks, and the files it writes."""
    deleting = any(word.text in ("-delete", "-fprint", "-fls", "-fprintf") for word in words)
    folders: list[Operand] = []
    for word in words[1:]:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text[:1] in ("-", "(", "!") and word.literal:
            break
        folders.append((word, "both" if deleting else "read"))
    return folders


def _is_inplace(text: str) -> bool:
    return text.startswith("--in-place") or (text[:1] == "-" and text[1:2] != "-" and "i" in text.partition("=")[0])


def _is_looking(text: str) -> bool:
    """Return whether a word of an unknown program looks like a path that may lie elsewhere."""
    return _LOOKS.match(text) is not None and not any(sign in text for sign in " \n\t|(){};<>\"'`")
