"""Write the JSON Schema of reports, docs/schemas/report.v1.json, from the types that they are written from.

usage: python tools/report_schema.py [--check]
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from outstep import errors, findings

FILE = Path(__file__).parent.parent / "docs" / "schemas" / "report.v1.json"


def schema() -> dict[str, Any]:
    told = msgspec.json.schema(findings.Report)
    definitions: dict[str, Any] = dict(sorted(told["$defs"].items()))
    for name, definition in definitions.items():
        for field, sentence in sentences(getattr(findings, name, None) or getattr(errors, name)).items():
            definition["properties"][field]["description"] = sentence
    definitions["Report"]["properties"]["schema"]["const"] = findings.SCHEMA
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": findings.SCHEMA,
        "title": "A report of outstep check (docs/report.md)",
        "$ref": told["$ref"],
        "$defs": definitions,
    }


def sentences(type_: type) -> dict[str, str]:
    """Return what stands under each field of a struct."""
    (body,) = ast.parse(inspect.getsource(type_)).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            found[field.target.id] = inspect.cleandoc(str(below.value.value)).replace("\n", " ")
    return found


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return int(FILE.read_text("utf-8") != text())
    FILE.write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
