"""`outstep explain`: what a rule, a kind, a reason, a word or a code means, and what to do.

The texts are data (`explain/*.toml`).
docs: docs/cli.md#explain
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from textwrap import wrap
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import problem, suggestion

WIDTH = 100
FAMILIES = {
    "words": "words of a report",
    "kinds": "kinds of rules",
    "integrity": "rules about the record (always on)",
    "packs": "rules of the bundled packs",
    "reasons": "reasons of findings",
    "contract": "mistakes in contracts",
    "adapter": "what cannot be read or judged",
    "usage": "usage, configuration, output",
    "case": "cases of contracts",
    "compare": "comparisons and baselines",
    "report": "reports that are read again",
    "metrics": "scores beside traces",
    "battery": "batteries, runs of them, comparisons",
    "world": "worlds of mock tools, and their records",
    "driver": "live runs: providers and keys",
    "evidence": "stores of evidence",
    "redact": "redaction",
    "record": "recording",
}
"""The files of texts, in the order in which they are listed."""


def run(words: Sequence[str]) -> int:
    """Explain and return the exit code."""
    parser = Arguments("explain", "say what a rule, a kind, a reason or a code means")
    parser.words("topics", metavar="WORD", help="a rule, kind, reason or code; without one: the list")
    given = parser.read(words)
    texts = read_texts()
    if not given.topics:
        console.put(_list(texts))
    else:
        console.put("\n".join(_told(*_found(topic, texts)) for topic in given.topics))
    console.flush()
    return 0


def read_texts() -> dict[str, dict[str, Any]]:
    """Return every text by family and name."""
    import tomllib

    folder = files("outstep") / "explain"
    return {family: tomllib.loads((folder / f"{family}.toml").read_text("utf-8")) for family in FAMILIES}


def _found(topic: str, texts: dict[str, dict[str, Any]]) -> tuple[str, dict[str, str]]:
    """Return the name and text of a topic, in any case, also without the family of its code."""
    entries = {name: entry for family in texts.values() for name, entry in family.items()}
    word = topic.strip().strip("[]`")
    fits = [name for name in entries if name == word]
    fits = fits or [name for name in entries if name.lower() == word.lower()]
    fits = fits or [name for name in entries if name.rpartition("/")[2] == word.lower()]
    if not fits:
        raise problem(
            "usage/unknown-topic",
            f"there is no explanation of `{topic}`",
            help=suggestion(word, tuple(entries))
            or "`outstep explain` lists all; own rules are explained by their contract",
        )
    return fits[0], entries[fits[0]]


def _told(name: str, entry: dict[str, str]) -> str:
    lines = [name, *_wrapped(entry["means"])]
    if "example" in entry:
        lines += ["", *(f"    {line}".rstrip() for line in entry["example"].strip("\n").splitlines()), ""]
    lines += _wrapped(f"What to do: {entry['do']}")
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _list(texts: dict[str, dict[str, Any]]) -> str:
    blocks = []
    for family, title in FAMILIES.items():
        names = "\n".join(f"  {name}" for name in texts[family])
        blocks.append(f"{title}:\n{names}\n")
    return "\n".join(blocks)
