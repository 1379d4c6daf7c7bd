"""What the commands about batteries share: the battery, the model, and where a report goes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from outstep.battery.files import is_path, open_battery
from outstep.battery.model import Battery
from outstep.cli import console
from outstep.cli.arguments import Arguments, is_text
from outstep.errors import Place, Problem, problem
from outstep.render.wording import count

DEFAULT = "canary_v1"


def battery_options(parser: Arguments) -> None:
    """Take the options for a battery and a model."""
    parser.value("-b", "--battery", metavar="NAME|FILE", help=f"a bundled battery, or a file (default {DEFAULT})")
    parser.value("-m", "--model", metavar="MODEL", help="the model; also OUTSTEP_MODEL")


def read_battery(name: str | None) -> Battery:
    """Return a battery, its warnings told on stderr; raises `OutstepError`."""
    name = DEFAULT if name is None else name
    battery, warnings = open_battery(name)
    tell_warnings(warnings, name)
    return battery


def tell_warnings(warnings: Sequence[Problem], name: str) -> None:
    """Tell the warnings of a battery; nobody here can mend a bundled one, so its warnings are counted."""
    if is_path(name):
        console.say_problems(warnings)
    elif warnings:
        console.say(f"{name}: {count(len(warnings), 'warning')}; `outstep battery lint {name}` shows them")


def model_of(given: str | None) -> str:
    """Return the model that an option or the environment names; empty where none does."""
    model = os.environ.get("OUTSTEP_MODEL", "") if given is None else given
    if not is_text(model):
        raise problem("usage/arguments", "the name of the model is no UTF-8", help="write it as UTF-8")
    if given is not None and not model.strip():
        raise problem("usage/arguments", "`--model` is empty", help="name a model, or leave the option out")
    return model.strip()


def check_may_write(file: str, schema: str, title: str) -> None:
    """Refuse to write a report over a file that is none: JSON of a schema, or Markdown with a title."""
    from outstep.reports import LARGEST, schema_of

    folder = os.path.dirname(file) or "."
    if not os.path.isdir(folder):
        raise problem(
            "output/unwritable",
            f"`{file}` cannot be written: there is no folder `{folder}`",
            place=Place(source=file),
            help="make the folder first",
        )
    if os.path.isdir(file):
        raise problem("output/unwritable", f"`{file}` is a folder", place=Place(source=file), help="name a file in it")
    if not os.path.isfile(file):
        return
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem("output/unwritable", f"`{file}` cannot be read: {reason}", help="name another file") from None
    kind = schema.partition("/")[0]
    if data.strip() and not data.startswith(title.encode()) and schema_of(data).partition("/")[0] != kind:
        raise problem(
            "output/not-a-report",
            f"`{file}` is there, and is no report of this kind: it would be lost",
            place=Place(source=file),
            help="name another file, or remove this one first",
        )
