"""How far a long check has come: on stderr, for a person only, and not before a second has passed."""

from __future__ import annotations

from typing import TextIO

PATIENCE = 1.0
EVERY = 0.2


class Progress:
    """Counts traces."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._traces = 0
        self._next = 0.0
        self._has_written = False

    def step(self) -> None:
        """Count one more trace."""
        from time import monotonic

        self._traces += 1
        now = monotonic()
        if not self._next:
            self._next = now + PATIENCE
        elif now >= self._next:
            self._next = now + EVERY
            self._has_written = True
            self._stream.write(f"\r\x1b[K{self._traces} traces judged …")
            self._stream.flush()

    def close(self) -> None:
        """Leave no trace of it."""
        if self._has_written:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
