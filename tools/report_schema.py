"""Write the JSON Schemas of reports, docs/schemas/*.json, from the types that they are written from.

usage: python tools/report_schema.py [--check]
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from msgspec import Struct

from outstep import errors, findings
from outstep.containment import card, judged
from outstep.containment import report as containment
from outstep.scope import model as scope

FOLDER = Path(__file__).parent.parent / "docs" / "schemas"


class Published(Struct, frozen=True):
    """One schema: its type, its title, and the modules of all types in it."""

    type: type[Struct]
    title: str
    modules: tuple[ModuleType, ...]

    @property
    def id(self) -> str:
        """Return what `schema` says in a document."""
        name: str = self.modules[0].SCHEMA
        return name

    @property
    def file(self) -> Path:
        """Return where it is published."""
        return FOLDER / f"{self.id.replace('/', '.')}.json"


REPORT = Published(findings.Report, "A report of outstep check (docs/report.md)", (findings, errors))
CONTAINMENT = Published(
    containment.ContainmentReport, "What a model did in a battery (docs/batteries.md)", (containment, scope)
)
CARD = Published(card.ScoreCard, "Several models in one battery (docs/batteries.md)", (card, containment))
JUDGED = Published(
    judged.ScopeReport, "What recorded runs did within a boundary (docs/cli.md)", (judged, containment, errors, scope)
)
ALL = (REPORT, CONTAINMENT, CARD, JUDGED)


def schema(published: Published) -> dict[str, Any]:
    told = msgspec.json.schema(published.type)
    definitions: dict[str, Any] = dict(sorted(told["$defs"].items()))
    for name, definition in definitions.items():
        type_ = next(found for module in published.modules if (found := getattr(module, name, None)))
        for field, sentence in sentences(type_).items():
            definition["properties"][field]["description"] = sentence
    definitions[published.type.__name__]["properties"]["schema"]["const"] = published.id
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": published.id,
        "title": published.title,
        "$ref": told["$ref"],
        "$defs": definitions,
    }


def sentences(type_: type[Struct]) -> dict[str, str]:
    """Return what stands under each field of a struct, by the name that it has in JSON."""
    (body,) = ast.parse(inspect.getsource(type_)).body
    assert isinstance(body, ast.ClassDef)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(type_)}
    found: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            found[names[field.target.id]] = inspect.cleandoc(str(below.value.value)).replace("\n", " ")
    return found


def text(published: Published) -> str:
    return json.dumps(schema(published), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return int(any(one.file.read_text("utf-8") != text(one) for one in ALL))
    for one in ALL:
        one.file.write_text(text(one), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
