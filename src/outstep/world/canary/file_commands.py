"""Commands over files and folders: `ls`, `cp`, `mv`, `rm`, `find` and their kin."""

from __future__ import annotations

from fnmatch import fnmatchcase

from outstep.world.canary.files import NotPossible, joined
from outstep.world.canary.options import read_options
from outstep.world.canary.shell import Command, Process


def _ls(process: Process) -> int:
    given = read_options(process, flags="laAhR1dtrSFin")
    names = given.words or ["."]
    files, folders = [], []
    for name in names:
        real = process.files.resolve(name, process.shell.cwd)
        if not process.files.exists(real):
            process.complain(f"cannot access '{name}': No such file or directory")
        elif process.files.is_folder(real) and "d" not in given.flags:
            folders.append((name, real))
        else:
            files.append((name, real))
    for name, real in files:
        process.put(_row(process, name, real, given.flags))
    for at, (name, real) in enumerate(folders):
        if len(names) > 1 or "R" in given.flags:
            process.put(("\n" if at or files else "") + f"{name}:\n")
        _folder(process, name, real, given.flags)
    return 2 if process.err else 0


def _folder(process: Process, name: str, real: str, flags: str) -> None:
    children = process.files.children(real)
    if "a" in flags:
        children = [".", "..", *children]
    elif "A" not in flags:
        children = [child for child in children if not child.startswith(".")]
    if "l" in flags:
        process.put(f"total {4 * len(children)}\n")
    for child in children:
        process.put(_row(process, child, f"{real.rstrip('/')}/{child}", flags))
    if "R" in flags:
        for child in children:
            below = f"{real.rstrip('/')}/{child}"
            if child not in (".", "..") and process.files.is_folder(below):
                process.put(f"\n{name}/{child}:\n")
                _folder(process, f"{name}/{child}", below, flags)


def _row(process: Process, name: str, real: str, flags: str) -> str:
    if "l" not in flags:
        return f"{name}\n"
    links = process.files.links
    if real in links:
        return f"lrwxrwxrwx 1 agent agent {len(links[real]):6} Mar  2 09:00 {name} -> {links[real]}\n"
    if real in process.files.texts:
        return f"-rw-r--r-- 1 agent agent {len(process.files.texts[real].encode()):6} Mar  2 09:00 {name}\n"
    return f"drwxr-xr-x 2 agent agent   4096 Mar  2 09:00 {name}\n"


def _target(process: Process, source: str, target: str) -> str:
    """Return where a file goes that is copied or moved: into a folder, or to a name of its own."""
    real = process.files.resolve(target, process.shell.cwd)
    if process.files.is_folder(real):
        return f"{real.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}"
    parent = real.rpartition("/")[0] or "/"
    if not process.files.is_folder(parent) or target.endswith("/"):
        raise NotPossible(f"cannot create '{target}': No such file or directory")
    return real


def _transfer(process: Process, *, moves: bool) -> int:
    given = read_options(process, flags="rRapfnvif", values="t")
    words = given.words + ([given.values["t"]] if "t" in given.values else [])
    if len(words) < 2:
        raise NotPossible(
            "missing file operand" if not words else f"missing destination file operand after '{words[0]}'"
        )
    *sources, target = words
    real_target = process.files.resolve(target, process.shell.cwd)
    if len(sources) > 1 and not process.files.is_folder(real_target):
        raise NotPossible(f"target '{target}' is not a directory")
    for source in sources:
        real = process.files.resolve(source, process.shell.cwd, follow_last=not moves)
        if not process.files.exists(real):
            process.complain(f"cannot stat '{source}': No such file or directory")
            continue
        is_deep = moves or any(flag in given.flags for flag in "rRa")
        if process.files.is_folder(real) and not is_deep:
            process.complain(f"-r not specified; omitting directory '{source}'")
            continue
        there = _target(process, source, target)
        if there == real or there.startswith(f"{real}/"):
            process.complain(f"'{source}' and '{target}' are the same file")
            continue
        process.files.copy(real, there)
        if moves:
            process.files.remove(real)
    return int(bool(process.err))


def _cp(process: Process) -> int:
    return _transfer(process, moves=False)


def _mv(process: Process) -> int:
    return _transfer(process, moves=True)


def _rm(process: Process) -> int:
    given = read_options(process, flags="rRfivd")
    if not given.words and "f" not in given.flags:
        raise NotPossible("missing operand")
    for name in given.words:
        real = process.files.resolve(name, process.shell.cwd, follow_last=False)
        if real == "/":
            process.complain("it is dangerous to operate recursively on '/'")
        elif not process.files.exists(real):
            if "f" not in given.flags:
                process.complain(f"cannot remove '{name}': No such file or directory")
        elif process.files.is_folder(real) and real not in process.files.links and "r" not in given.flags.lower():
            process.complain(f"cannot remove '{name}': Is a directory")
        else:
            process.files.remove(real)
    return int(bool(process.err))


def _rmdir(process: Process) -> int:
    for name in read_options(process, flags="pv").words:
        real = process.files.resolve(name, process.shell.cwd)
        if not process.files.is_folder(real):
            process.complain(f"failed to remove '{name}': No such file or directory")
        elif process.files.children(real):
            process.complain(f"failed to remove '{name}': Directory not empty")
        else:
            process.files.remove(real)
    return int(bool(process.err))


def _mkdir(process: Process) -> int:
    given = read_options(process, flags="pv", values="m")
    for name in given.words:
        try:
            process.files.make_folder(name, process.shell.cwd, parents="p" in given.flags)
        except NotPossible as refusal:
            process.complain(f"cannot create directory '{name}': {refusal}")
    return int(bool(process.err))


def _touch(process: Process) -> int:
    for name in read_options(process, flags="acm", values="dtr").words:
        process.files.write(name, "", process.shell.cwd, append=True)
    return 0


def _ln(process: Process) -> int:
    given = read_options(process, flags="sfnv")
    if len(given.words) != 2:
        raise NotPossible("missing file operand")
    target, name = given.words
    there = _target(process, target, name)
    if process.files.exists(there) and "f" not in given.flags:
        raise NotPossible(f"failed to create link '{name}': File exists")
    if "s" in given.flags:
        process.files.links[there] = target
    else:
        process.files.copy(process.files.resolve(target, process.shell.cwd), there)
    return 0


def _chmod(process: Process) -> int:
    words = [word for word in process.words[1:] if word == "--" or not word.startswith("-")]
    for name in words[1:]:
        if not process.files.exists(process.files.resolve(name, process.shell.cwd)):
            process.complain(f"cannot access '{name}': No such file or directory")
    process.shell.world.append({"tool": process.words[0], "words": process.words[1:]})
    return int(bool(process.err))


def _cd(process: Process) -> int:
    name = process.words[1] if len(process.words) > 1 else process.shell.env.get("HOME", "/")
    real = process.files.resolve(name, process.shell.cwd)
    if not process.files.is_folder(real):
        process.complain(f"{name}: No such file or directory")
        return 1
    process.shell.cwd = real
    return 0


def _pwd(process: Process) -> int:
    process.put(process.shell.cwd + "\n")
    return 0


def _find(process: Process) -> int:
    words = process.words[1:]
    roots: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        roots.append(words.pop(0))
    tests = {"-name": "*", "-iname": "", "-type": "", "-maxdepth": "99", "-path": ""}
    acts = ""
    while words:
        word = words.pop(0)
        if word in tests and words:
            tests[word] = words.pop(0)
        elif word in ("-print", "-delete"):
            acts = word
        else:
            raise NotPossible(f"unknown predicate '{word}'")
    for root in roots or ["."]:
        real = process.files.resolve(root, process.shell.cwd)
        if not process.files.exists(real):
            process.complain(f"'{root}': No such file or directory")
            continue
        for path in list(process.files.below(real)):
            shown = root.rstrip("/") + path[len(real.rstrip("/")) :] if path != real else root
            if not _passes(process, path, shown, tests, path[len(real) :].count("/")):
                continue
            if acts == "-delete":
                process.files.remove(path)
            else:
                process.put(f"{shown}\n")
    return int(bool(process.err))


def _passes(process: Process, path: str, shown: str, tests: dict[str, str], depth: int) -> bool:
    name = path.rpartition("/")[2]
    kind = "l" if path in process.files.links else "d" if process.files.is_folder(path) else "f"
    return (
        fnmatchcase(name, tests["-name"])
        and (not tests["-iname"] or fnmatchcase(name.lower(), tests["-iname"].lower()))
        and (not tests["-path"] or fnmatchcase(shown, tests["-path"]))
        and tests["-type"] in ("", kind)
        and (not tests["-maxdepth"].isdigit() or depth <= int(tests["-maxdepth"]))
    )


def _stat(process: Process) -> int:
    for name in read_options(process, values="c").words:
        real = process.files.resolve(name, process.shell.cwd)
        if not process.files.exists(real):
            process.complain(f"cannot statx '{name}': No such file or directory")
            continue
        kind = "directory" if process.files.is_folder(real) else "regular file"
        size = len(process.files.texts.get(real, "").encode())
        process.put(f"  File: {name}\n  Size: {size}\t{kind}\nAccess: (0644/-rw-r--r--)  Uid: ( 1000/   agent)\n")
    return int(bool(process.err))


def _du(process: Process) -> int:
    given = read_options(process, flags="shac")
    for name in given.words or ["."]:
        real = process.files.resolve(name, process.shell.cwd)
        size = sum(len(process.files.texts.get(path, "")) for path in process.files.below(real))
        process.put(f"{max(4, -(-size // 1024))}{'K' if 'h' in given.flags else ''}\t{name}\n")
    return 0


def _name(process: Process) -> int:
    path = process.words[1].rstrip("/") if len(process.words) > 1 else ""
    folder, _, name = path.rpartition("/")
    process.put((name if process.words[0] == "basename" else folder or ".") + "\n")
    return 0


def _realpath(process: Process) -> int:
    for name in read_options(process, flags="fem").words:
        process.put(process.files.resolve(joined(process.shell.cwd, name), "/") + "\n")
    return 0


COMMANDS: dict[str, Command] = {
    "ls": _ls,
    "cp": _cp,
    "mv": _mv,
    "rm": _rm,
    "rmdir": _rmdir,
    "mkdir": _mkdir,
    "touch": _touch,
    "ln": _ln,
    "chmod": _chmod,
    "chown": _chmod,
    "cd": _cd,
    "pwd": _pwd,
    "find": _find,
    "stat": _stat,
    "du": _du,
    "basename": _name,
    "dirname": _name,
    "realpath": _realpath,
    "readlink": _realpath,
}
