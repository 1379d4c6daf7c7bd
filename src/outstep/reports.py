"""Reports in files: what `--output json=FILE` wrote, read again (docs/report.md)."""

from __future__ import annotations

import re

import msgspec

from outstep.errors import Place, problem
from outstep.findings import SCHEMA, Report

LARGEST = 1 << 30
"""Bytes; a larger file is no report of ours."""

_decoder = msgspec.json.Decoder(Report)


class _Named(msgspec.Struct):
    """What tells a report from another document."""

    schema: str


def read_report(file: str) -> Report:
    """Return the report in a file; raises `OutstepError` where there is none that can be read."""
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "report/unreadable",
            f"`{file}` cannot be read: {reason}",
            place=Place(source=file),
            help="give a report that `outstep check --output json=FILE` wrote",
        ) from None
    return parse_report(data, file)


def parse_report(data: bytes, source: str) -> Report:
    """Return the report in some bytes; `source` names them in errors."""
    place = Place(source=source)
    help = "give a report that `outstep check --output json=FILE` wrote"
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
    if named.schema != SCHEMA:
        raise problem(
            "report/unknown-schema",
            f"`{source}` is written in `{named.schema[:80]}`, and this version reads `{SCHEMA}`",
            place=place,
            help=help
            if named.schema.partition("/")[0] != SCHEMA.partition("/")[0]
            else "use the version that wrote it",
        )
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        fact, pointer = _located(str(error))
        place = Place(source=source, pointer=pointer)
        raise problem("report/malformed", f"`{source}` is no whole report: {fact}", place=place, help=help) from None


def _located(sentence: str) -> tuple[str, str | None]:
    """Take the place out of a sentence of msgspec: `… - at `$.findings[0].level``."""
    fact, _, path = sentence.partition(" - at `$")
    pointer = re.sub(r"\[(\d+)\]", r".\1", path.rstrip("`")).replace(".", "/") if path else None
    return _decapitalised(fact), pointer


def _decapitalised(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
