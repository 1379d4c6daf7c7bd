"""A shell text as scope sees it: simple commands, how they are joined, and what the text does not tell."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.expr.wrappers import Word, Words

Item = Any
"""A command, or one of the ways to join them below; they hold each other."""


class Redirect(Struct, frozen=True):
    """A file opened for a command."""

    operator: str
    word: Word


class Command(Struct, frozen=True):
    """A simple command."""

    words: Words
    assignments: Words = ()
    """`NAME=value` in front of the words, or alone."""
    redirects: tuple[Redirect, ...] = ()
    builtin: bool = False
    """A test or a declaration, which runs nothing."""


class And(Struct, frozen=True):
    """`left && right`: the right one runs after success of the left."""

    left: Item
    right: Item


class Or(Struct, frozen=True):
    """`left || right`: the right one runs after failure of the left."""

    left: Item
    right: Item


class Both(Struct, frozen=True):
    """One after the other, whatever the first one gives."""

    items: tuple[Item, ...]


class Apart(Struct, frozen=True):
    """In a shell of its own: a subshell, a part of a pipeline, a background job, a substitution."""

    items: tuple[Item, ...]


class Branch(Struct, frozen=True):
    """May run, once or often: a branch, a loop, the body of a function."""

    items: tuple[Item, ...]
    loop: bool = False


class Doubt(Struct, frozen=True):
    """Something whose effect the text does not tell."""

    code: str
    text: str


class Values(Struct, frozen=True):
    """What a loop gives a variable, one after the other."""

    name: str
    words: Words
