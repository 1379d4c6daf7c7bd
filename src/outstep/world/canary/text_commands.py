"""Commands that read, choose and write text: `cat`, `grep`, `sort` and their kin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from outstep.world.canary.files import NotPossible
from outstep.world.canary.options import Options, read_options
from outstep.world.canary.shell import Command, Process


def _texts(process: Process, names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file, or standard input; what cannot be read is complained of."""
    for name in names or ["-"]:
        if name == "-":
            yield name, process.given or ""
            continue
        try:
            yield name, process.files.read(name, process.shell.cwd)
        except NotPossible as refusal:
            process.complain(f"{name}: {refusal}")


def _lines(text: str) -> list[str]:
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []


def _cat(process: Process) -> int:
    given = read_options(process, flags="nAbEsT")
    number = 0
    for _, text in _texts(process, given.words):
        if "n" in given.flags:
            for line in _lines(text):
                number += 1
                process.put(f"{number:6}\t{line}\n")
        else:
            process.put(text)
    return int(bool(process.err))


def _ends(process: Process, choose: Callable[[list[str], int], list[str]]) -> int:
    given = read_options(process, flags="qvf", values="nc")
    count = given.values.get("n", given.number or "10").lstrip("-+")
    if not count.isdigit():
        process.complain(f"invalid number of lines: '{count}'")
        return 1
    names = given.words
    for at, (name, text) in enumerate(_texts(process, names)):
        if len(names) > 1:
            process.put(("\n" if at else "") + f"==> {name} <==\n")
        if "c" in given.values and given.values["c"].isdigit():
            process.put("".join(choose(list(text), int(given.values["c"]))))
        else:
            process.put("".join(f"{line}\n" for line in choose(_lines(text), int(count))))
    return int(bool(process.err))


def _head(process: Process) -> int:
    return _ends(process, lambda lines, count: lines[:count])


def _tail(process: Process) -> int:
    return _ends(process, lambda lines, count: lines[-count:] if count else [])


def _wc(process: Process) -> int:
    given = read_options(process, flags="lwcm")
    wanted = [flag for flag in "lwc" if flag in given.flags.replace("m", "c")] or list("lwc")
    totals = dict.fromkeys(wanted, 0)
    rows = 0
    for name, text in _texts(process, given.words):
        counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text.encode())}
        rows += 1
        for key in wanted:
            totals[key] += counts[key]
        process.put(" ".join(str(counts[key]) for key in wanted) + (f" {name}" if name != "-" else "") + "\n")
    if rows > 1:
        process.put(" ".join(str(totals[key]) for key in wanted) + " total\n")
    return int(bool(process.err))


def _grep(process: Process) -> int:
    given = read_options(process, flags="inrRlcvwEFHhoqsx", values="eABCm")
    words = list(given.words)
    pattern = given.values.get("e") or (words.pop(0) if words else None)
    if pattern is None:
        process.complain("usage: grep [OPTION]... PATTERNS [FILE]...")
        return 2
    matches = _matcher(process, pattern, given)
    if matches is None:
        return 2
    deep = "r" in given.flags or "R" in given.flags
    names = _deep(process, words or ["."]) if deep else words
    shows_name = ("H" in given.flags or deep or len(names) > 1) and "h" not in given.flags
    found = 0
    for name, text in _texts(process, names):
        hits = [(n, line) for n, line in enumerate(_lines(text), start=1) if matches(line) != ("v" in given.flags)]
        found += len(hits)
        if "q" in given.flags:
            continue
        prefix = f"{name}:" if shows_name else ""
        if "l" in given.flags:
            process.put(f"{name}\n" if hits else "")
        elif "c" in given.flags:
            process.put(f"{prefix}{len(hits)}\n")
        else:
            for n, line in hits:
                process.put(f"{prefix}{n}:{line}\n" if "n" in given.flags else f"{prefix}{line}\n")
    if process.err:
        return 2
    return int(found == 0)


def _matcher(process: Process, pattern: str, given: Options) -> Callable[[str], bool] | None:
    """Return whether a line fits; the pattern is the agent's, so it is read by RE2."""
    import re2

    if "F" in given.flags or process.words[0] == "fgrep":
        pattern = re2.escape(pattern)
    elif "E" not in given.flags and process.words[0] != "egrep":
        # In basic patterns the signs of alternation and repetition need a backslash.
        pattern = pattern.replace(r"\|", "|").replace(r"\+", "+").replace(r"\(", "(").replace(r"\)", ")")
    if "w" in given.flags:
        pattern = rf"\b(?:{pattern})\b"
    options = re2.Options()
    options.case_sensitive = "i" not in given.flags
    options.log_errors = False
    try:
        compiled = re2.compile(f"^(?:{pattern})$" if "x" in given.flags else pattern, options)
    except re2.error:
        process.complain(f"invalid pattern: {pattern[:60]}")
        return None
    return lambda line: compiled.search(line) is not None


def _deep(process: Process, names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        real = process.files.resolve(name, process.shell.cwd)
        found += [
            name.rstrip("/") + path[len(real.rstrip("/")) :] if real != path else name
            for path in process.files.below(real)
            if path in process.files.texts
        ]
    return found


def _sort(process: Process) -> int:
    given = read_options(process, flags="rnufh", values="tk")
    lines = [line for _, text in _texts(process, given.words) for line in _lines(text)]
    lines.sort(key=_number if "n" in given.flags or "h" in given.flags else None, reverse="r" in given.flags)
    if "u" in given.flags:
        lines = list(dict.fromkeys(lines))
    process.put("".join(f"{line}\n" for line in lines))
    return int(bool(process.err))


def _number(line: str) -> tuple[int, str]:
    digits = line.strip().split()[0] if line.strip() else "0"
    digits = digits.split(".")[0]
    plain = digits.lstrip("-")
    return (int(digits) if plain.isascii() and plain.isdigit() and len(plain) < 19 else 0, line)


def _uniq(process: Process) -> int:
    given = read_options(process, flags="cdu")
    last: str | None = None
    rows: list[tuple[str, int]] = []
    for _, text in _texts(process, given.words[:1]):
        for line in _lines(text):
            if line == last:
                rows[-1] = (line, rows[-1][1] + 1)
            else:
                rows.append((line, 1))
            last = line
    for line, count in rows:
        if ("d" in given.flags and count == 1) or ("u" in given.flags and count > 1):
            continue
        process.put(f"{count:7} {line}\n" if "c" in given.flags else f"{line}\n")
    return int(bool(process.err))


def _cut(process: Process) -> int:
    given = read_options(process, flags="s", values="dfc")
    wanted = given.values.get("f") or given.values.get("c") or ""
    chosen = [int(part) for part in wanted.split(",") if part.isdigit() and int(part) > 0]
    if not chosen:
        process.complain("you must specify a list of bytes, characters, or fields")
        return 1
    sign = given.values.get("d", "\t")
    for _, text in _texts(process, given.words):
        for line in _lines(text):
            parts = line.split(sign) if "f" in given.values and sign else list(line)
            kept = [parts[n - 1] for n in chosen if n <= len(parts)]
            process.put((sign if "f" in given.values else "").join(kept) + "\n")
    return int(bool(process.err))


def _echo(process: Process) -> int:
    words = process.words[1:]
    ends = "\n"
    while words and words[0] in ("-n", "-e", "-E", "-ne", "-en"):
        ends = "" if "n" in words.pop(0) else ends
    process.put(" ".join(words) + ends)
    return 0


def _printf(process: Process) -> int:
    if len(process.words) < 2:
        process.complain("usage: printf format [arguments]")
        return 2
    form = process.words[1].replace("\\n", "\n").replace("\\t", "\t")
    rest = iter(process.words[2:])
    parts = form.replace("%d", "%s").split("%s")
    process.put(parts[0] + "".join(next(rest, "") + part for part in parts[1:]).replace("%%", "%"))
    return 0


def _tee(process: Process) -> int:
    given = read_options(process, flags="a")
    text = process.given or ""
    process.put(text)
    for name in given.words:
        process.files.write(name, text, process.shell.cwd, append="a" in given.flags)
    return 0


def _diff(process: Process) -> int:
    given = read_options(process, flags="urqN")
    texts = [text for _, text in _texts(process, given.words[:2])]
    if len(texts) != 2:
        return 2
    if texts[0] == texts[1]:
        return 0
    from difflib import unified_diff

    a, b = given.words[:2]
    process.put("".join(f"{line}\n" for line in unified_diff(_lines(texts[0]), _lines(texts[1]), a, b, lineterm="")))
    return 1


def _jq(process: Process) -> int:
    """Show JSON, or one member of it by its path."""
    given = read_options(process, flags="rcM")
    path = given.words[0] if given.words else "."
    for _, text in _texts(process, given.words[1:]):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            process.complain("error: the input is no JSON")
            return 2
        for part in [one for one in path.strip().lstrip(".").split(".") if one]:
            value = value.get(part) if isinstance(value, dict) else None
        is_raw = "r" in given.flags and isinstance(value, str)
        process.put((value if is_raw else json.dumps(value, indent=2, ensure_ascii=False)) + "\n")
    return int(bool(process.err))


def _tr(process: Process) -> int:
    given = read_options(process, flags="ds")
    words = [_set(word) for word in given.words]
    text = process.given or ""
    if "d" in given.flags and words:
        process.put("".join(sign for sign in text if sign not in words[0]))
        return 0
    if len(words) != 2 or not words[1]:
        process.complain("missing operand")
        return 1
    table = {sign: words[1][min(at, len(words[1]) - 1)] for at, sign in enumerate(words[0])}
    process.put("".join(table.get(sign, sign) for sign in text))
    return 0


def _set(word: str) -> str:
    word = word.replace("\\n", "\n").replace("\\t", "\t")
    for name, signs in (
        ("a-z", "abcdefghijklmnopqrstuvwxyz"),
        ("A-Z", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        ("0-9", "0123456789"),
    ):
        word = word.replace(name, signs)
    return word


def _sed(process: Process) -> int:
    """Show lines by number (`-n 2,5p`), or replace text (`s/old/new/g`), in place with `-i`."""
    import re

    given = read_options(process, flags="niEr", values="e")
    words = list(given.words)
    script = given.values.get("e") or (words.pop(0) if words else "")
    shown = re.fullmatch(r"(\d{1,9})(?:,(\d{1,9}|\$))?p", script)
    edit = re.fullmatch(r"s(.)(.*?)\1(.*?)\1(g?)", script, re.DOTALL)
    if shown is None and edit is None:
        process.complain(f"-e expression #1: unsupported command: `{script[:40]}'")
        return 1
    for name, text in _texts(process, words):
        if shown is not None:
            last = shown[2] or shown[1]
            stop = None if last == "$" else int(last)
            process.put("".join(f"{line}\n" for line in _lines(text)[max(0, int(shown[1]) - 1) : stop]))
            continue
        assert edit is not None
        changed = _replaced(process, text, edit[2], edit[3], everywhere=bool(edit[4]))
        if changed is None:
            return 1
        if "i" in given.flags and name != "-":
            process.files.write(name, changed, process.shell.cwd)
        else:
            process.put(changed)
    return int(bool(process.err))


def _replaced(process: Process, text: str, old: str, new: str, *, everywhere: bool) -> str | None:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(old, options)
        lines = [compiled.sub(new.replace("&", r"\g<0>"), line, 0 if everywhere else 1) for line in text.split("\n")]
    except (re2.error, IndexError):
        process.complain(f"-e expression #1: invalid pattern: {old[:60]}")
        return None
    return "\n".join(lines)


COMMANDS: dict[str, Command] = {
    "tr": _tr,
    "sed": _sed,
    "cat": _cat,
    "head": _head,
    "tail": _tail,
    "wc": _wc,
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "sort": _sort,
    "uniq": _uniq,
    "cut": _cut,
    "echo": _echo,
    "printf": _printf,
    "tee": _tee,
    "diff": _diff,
    "jq": _jq,
}
