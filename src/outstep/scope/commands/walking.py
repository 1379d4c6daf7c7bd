"""Follows the working directory through a script: every simple command, with each folder in which it may run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from outstep.expr.wrappers import Words
from outstep.scope.commands.reading import UnreadableCommand
from outstep.scope.commands.script import And, Apart, Both, Branch, Command, Doubt, Item, Or, Values
from outstep.scope.commands.words import shown_words
from outstep.scope.paths.spelling import collapse

Folders = tuple[str | None, ...]
"""Working directories in which a command may run; none stands for one that nobody knows."""

_MOST: Final = 6
_MOST_COMMANDS: Final = 1000
_LEAVES: Final = frozenset(("exit", "return", "break", "continue", "exec"))


class Walk:
    """Hands every command and doubt of a script to a visitor."""

    def __init__(self, visit: Callable[[Command | Doubt | Values, Folders], None], home: str) -> None:
        self._visit = visit
        self._home = home
        self._count = 0

    def walk(self, item: Item, folders: Folders) -> tuple[Folders, Folders]:
        """Return where the shell may be after success, and after failure."""
        if isinstance(item, Command):
            self._count += 1
            if self._count > _MOST_COMMANDS:
                raise UnreadableCommand("command-too-long", f"the text holds more than {_MOST_COMMANDS} commands")
            self._visit(item, folders)
            return self._after(item, folders)
        if isinstance(item, Doubt | Values):
            self._visit(item, folders)
            return folders, folders
        if isinstance(item, And):
            succeeded, failed = self.walk(item.left, folders)
            right, wrong = self.walk(item.right, succeeded or folders)
            return right, _either(failed, wrong)
        if isinstance(item, Or):
            succeeded, failed = self.walk(item.left, folders)
            right, wrong = self.walk(item.right, failed or folders)
            return (succeeded, wrong) if _leaves(item.right) else (_either(succeeded, right), wrong)
        if isinstance(item, Apart):
            self._sequence(item.items, folders)
            return folders, folders
        assert isinstance(item, Both | Branch)
        after, failed = self._sequence(item.items, folders)
        if isinstance(item, Both):
            return after, failed
        reached = _either(folders, after, failed)
        if item.loop and reached != folders:
            # The next round begins where this one ended; a folder that still moves then is anybody's guess.
            after, failed = self._sequence(item.items, reached)
            again = _either(reached, after, failed)
            reached = again if again == reached else (*reached[: _MOST - 1], None)
            if again != reached:
                self._sequence(item.items, (None,))
        return reached, reached

    def _sequence(self, items: tuple[Item, ...], folders: Folders) -> tuple[Folders, Folders]:
        succeeded = failed = folders
        for place, item in enumerate(items):
            succeeded, failed = self.walk(item, _either(succeeded, failed) if place else folders)
        return succeeded, failed

    def _after(self, command: Command, folders: Folders) -> tuple[Folders, Folders]:
        words = command.words
        while words and words[0].text in ("builtin", "command"):
            words = words[1:]
        if not words or words[0].text not in ("cd", "pushd", "popd"):
            return folders, folders
        return tuple(dict.fromkeys(self._changed(command, words, folder) for folder in folders)), folders

    def _changed(self, command: Command, words: Words, folder: str | None) -> str | None:
        shown = [word for word in shown_words(words, self._home)[1:] if word.text not in ("-P", "-L", "--")]
        name = command.words[-len(words)].text
        if any(word.text.startswith("CDPATH=") for word in command.assignments) or len(shown) > 1 or name == "popd":
            return None
        if not shown:
            return self._home or None if name == "cd" else None
        word = shown[0]
        if not word.literal or word.glob or word.choices or not word.text or word.text[:1] in "-+":
            return None
        if word.text[:1] == "/":
            return collapse(word.text, "/")
        return None if folder is None else collapse(word.text, folder)


def _either(*many: Folders) -> Folders:
    found = tuple(dict.fromkeys(folder for folders in many for folder in folders))
    return found if len(found) <= _MOST else (*found[: _MOST - 1], None)


def _leaves(item: Item) -> bool:
    return isinstance(item, Command) and bool(item.words) and item.words[0].text in _LEAVES
