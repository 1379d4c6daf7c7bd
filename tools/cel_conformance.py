"""Write the vectors of CEL's conformance suite as data: tests/expr/conformance/*.jsonl.

usage: python tools/cel_conformance.py CHECKOUT_OF_CEL_SPEC

Reads `tests/simple/testdata/*.textproto` of google/cel-spec (Apache-2.0). One vector a line: `name`, `expr`, and as far
as the vector has them `bindings`, `container`, `flags`, and `value`, `error` or `unknown`. Values are `[type, value]`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "tests" / "expr" / "conformance"
TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<word>[A-Za-z0-9_.+-]+)|(?P<sign>[{}\[\]<>:,;/])""",
    re.S,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

Message = dict[str, list[Any]]


def parse(text: str) -> Message:  # noqa: C901 - a grammar in one place
    tokens = [match for match in TOKEN.finditer(text) if match.lastgroup]
    place = 0

    def peek() -> str:
        return tokens[place][0] if place < len(tokens) else ""

    def message(end: str) -> Message:
        nonlocal place
        found: Message = {}
        while place < len(tokens) and peek() != end:
            if peek() == "[":
                place += 1
                name = ""
                while peek() != "]":
                    name += peek()
                    place += 1
                place += 1
                name = f"[{name}]"
            else:
                name = peek()
                place += 1
            if peek() == ":":
                place += 1
            for value in values():
                found.setdefault(name, []).append(value)
            while peek() in (",", ";"):
                place += 1
        place += 1
        return found

    def values() -> list[Any]:
        nonlocal place
        if peek() == "[":
            place += 1
            several: list[Any] = []
            while peek() != "]":
                several += values()
                if peek() == ",":
                    place += 1
            place += 1
            return several
        if peek() in ("{", "<"):
            end = "}" if peek() == "{" else ">"
            place += 1
            return [message(end)]
        match = tokens[place]
        place += 1
        if match.lastgroup != "text":
            return [match[0]]
        data = unescaped(match[0])
        while place < len(tokens) and tokens[place].lastgroup == "text":
            data += unescaped(tokens[place][0])
            place += 1
        return [data]

    return message("")


def unescaped(literal: str) -> bytes:
    out = bytearray()
    text = literal[1:-1]
    at = 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode()
            at += 1
            continue
        sign = text[at + 1]
        if octal := re.match(r"[0-7]{1,3}", text[at + 1 :]):
            out.append(int(octal[0], 8))
            at += 1 + len(octal[0])
        elif sign == "x" and (digits := re.match(r"[0-9a-fA-F]{1,2}", text[at + 2 :])):
            out.append(int(digits[0], 16))
            at += 2 + len(digits[0])
        elif sign in "uU":
            size = 4 if sign == "u" else 8
            out += chr(int(text[at + 2 : at + 2 + size], 16)).encode()
            at += 2 + size
        else:
            out += ESCAPES.get(sign, sign).encode()
            at += 2
    return bytes(out)


def value(message: Message) -> list[Any]:  # noqa: C901 - one case a type
    if not message:
        return ["none", None]
    ((kind, some),) = message.items()
    (only,) = some
    match kind:
        case "null_value":
            return ["null", None]
        case "bool_value":
            return ["bool", only == "true"]
        case "int64_value":
            return ["int", str(int(only, 0))]
        case "uint64_value":
            return ["uint", str(int(only, 0))]
        case "double_value":
            return ["double", only]
        case "string_value":
            return ["string", only.decode()]
        case "bytes_value":
            return ["bytes", only.hex()]
        case "list_value":
            return ["list", [value(item) for item in only.get("values", [])]]
        case "map_value":
            entries = only.get("entries", [])
            return ["map", [[value(entry["key"][0]), value(entry["value"][0])] for entry in entries]]
        case "type_value":
            return ["type", only.decode()]
        case "object_value":
            return object_value(only)
        case _:
            return ["other", kind]


def object_value(message: Message) -> list[Any]:
    ((name, some),) = message.items()
    short = name.strip("[]").rpartition(".")[2]
    if short in ("Duration", "Timestamp"):
        fields = some[0]
        told = [fields.get(key, ["0"])[0] for key in ("seconds", "nanos")]
        return [short.lower(), told]
    return ["message", name.strip("[]").removeprefix("type.googleapis.com/")]


def vectors(file: Message) -> Iterator[dict[str, Any]]:
    name = file["name"][0].decode()
    for section in file.get("section", []):
        for test in section.get("test", []):
            told: dict[str, Any] = {
                "name": f"{name}/{section['name'][0].decode()}/{test['name'][0].decode()}",
                "expr": test["expr"][0].decode(),
            }
            flags = [flag for flag in ("disable_macros", "disable_check", "check_only") if test.get(flag) == ["true"]]
            if flags:
                told["flags"] = flags
            if "container" in test:
                told["container"] = test["container"][0].decode()
            if "bindings" in test:
                told["bindings"] = {
                    entry["key"][0].decode(): value(entry["value"][0].get("value", [{}])[0])
                    for entry in test["bindings"]
                }
            if "value" in test:
                told["value"] = value(test["value"][0])
            elif "typed_result" in test:
                result = test["typed_result"][0].get("result", [{}])[0]
                told["value"] = value(result)
            elif "eval_error" in test or "any_eval_errors" in test:
                told["error"] = True
            elif "unknown" in test or "any_unknowns" in test:
                told["unknown"] = True
            else:
                told["value"] = ["bool", True]
            yield told


def main() -> int:
    checkout = Path(sys.argv[1])
    OUT.mkdir(exist_ok=True)
    for path in sorted((checkout / "tests" / "simple" / "testdata").glob("*.textproto")):
        lines = [json.dumps(vector, ensure_ascii=False) for vector in vectors(parse(path.read_text("utf-8")))]
        (OUT / f"{path.stem}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        print(f"{path.stem}: {len(lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
