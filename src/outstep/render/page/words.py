"""Sentences of a page in the languages it speaks: a catalogue by key, English first."""

from __future__ import annotations

import re
from collections.abc import Mapping

Words = Mapping[str, tuple[str, str]]
"""By key: English, Chinese. `{name}` stands for a value; `one|many` are two forms, chosen by the value `n`."""

SHELL: Words = {
    "skip": ("Skip to the content", "跳到正文"),
    "theme": ("Dark or light", "深色或浅色"),
    "made-by": (
        "Made by {tool}. This page is one file: it loads nothing and sends nothing.",
        "由 {tool} 生成。本页为单一文件：不加载也不发送任何内容。",
    ),
    "copy": ("Copy", "复制"),
    "copied": ("Copied", "已复制"),
    "close": ("Close", "关闭"),
}
"""What every page says."""


def in_words(catalogue: Words, language: str) -> dict[str, str]:
    """Return a catalogue in one language; English where the language is not spoken."""
    index = 1 if language == "zh" else 0
    return {key: forms[index] for key, forms in catalogue.items()}


def say(words: Mapping[str, str], key: str, **values: object) -> str:
    """Return a sentence with its values: `say(words, "findings", n=2)`."""
    sentence = words[key]
    if "|" in sentence:
        one, many = sentence.split("|", 1)
        sentence = one if values.get("n") == 1 else many
    return re.sub(r"\{(\w+)\}", lambda found: _shown(values.get(found[1], found[0])), sentence)


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
