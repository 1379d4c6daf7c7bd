"""Reports in files: what `--output json=FILE` or `outstep report` wrote, read again (docs/report.md)."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from outstep import codec
from outstep.containment.report import SCHEMA as CONTAINMENT
from outstep.containment.report import ContainmentReport, is_whole
from outstep.errors import Place, problem
from outstep.findings import SCHEMA, Report

LARGEST = 1 << 30
"""Bytes; a larger file is no report of ours."""

HOW = "give a report that `outstep check --output json=FILE` wrote"
HOW_CONTAINMENT = "give a report that `outstep report --out json --file FILE` wrote"

AnyReport = TypeVar("AnyReport", Report, ContainmentReport)


class _Named(msgspec.Struct):
    """What tells a report from another document."""

    schema: str


def read_report(file: str) -> Report:
    """Return the report in a file; raises `OutstepError` where there is none that can be read."""
    return parse_report(_bytes(file, HOW), file)


def parse_report(data: bytes, source: str) -> Report:
    """Return the report in some bytes; `source` names them in errors."""
    return _parsed(data, source, SCHEMA, Report, HOW)


def read_containment_report(file: str) -> ContainmentReport:
    """Return the containment report in a file; raises `OutstepError` where there is none that can be read."""
    return parse_containment_report(_bytes(file, HOW_CONTAINMENT), file)


def parse_containment_report(data: bytes, source: str) -> ContainmentReport:
    """Return the containment report in some bytes, which nobody changed; `source` names them in errors."""
    report = _parsed(data, source, CONTAINMENT, ContainmentReport, HOW_CONTAINMENT)
    if not is_whole(report, codec.loads(data)):
        raise problem(
            "report/altered",
            f"`{source}` was changed after it was written: its digest or its counts do not fit",
            place=Place(source=source, pointer="/digest"),
            help="write the report anew",
        )
    return report


def schema_of(data: bytes) -> str:
    """Return what schema a document names; empty where it is no JSON or names none."""
    try:
        return msgspec.json.decode(data, type=_Named).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _bytes(file: str, help: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise problem(
            "report/unreadable", f"`{file}` cannot be read: {reason}", place=Place(source=file), help=help
        ) from None


def _parsed(data: bytes, source: str, schema: str, type_: type[AnyReport], help: str) -> AnyReport:
    place = Place(source=source)
    if len(data) > LARGEST:
        raise problem("report/too-large", f"`{source}` is larger than {LARGEST >> 30} GiB", place=place, help=help)
    try:
        named = msgspec.json.decode(data, type=_Named)
    except msgspec.ValidationError:
        raise problem(
            "report/no-report", f"`{source}` holds JSON without the member `schema`", place=place, help=help
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else _decapitalised(str(error))
        raise problem("report/no-report", f"`{source}` is no JSON: {told}", place=place, help=help) from None
    if named.schema != schema:
        raise problem(
            "report/unknown-schema",
            f"`{source}` is written in `{named.schema[:80]}`, and `{schema}` is read here",
            place=place,
            help=help
            if named.schema.partition("/")[0] != schema.partition("/")[0]
            else "use the version that wrote it",
        )
    try:
        return msgspec.json.Decoder(type_, float_hook=codec.exact).decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        fact, pointer = codec.located(str(error))
        place = Place(source=source, pointer=pointer)
        raise problem("report/malformed", f"`{source}` is no whole report: {fact}", place=place, help=help) from None


def _decapitalised(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
