"""A stdio MCP server that carries bytes to the world of a run and back: `python bridge.py PORT TOKEN`.

Harnesses start their MCP servers themselves. This one knows nothing of MCP and needs the standard library alone, so it
is there at once; the world, and the record of what it was asked, stay in the process that runs the battery.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

PIECE = 1 << 16


def main(words: list[str]) -> int:
    """Carry bytes until either side has had enough."""
    port, token = words
    try:
        link = socket.create_connection(("127.0.0.1", int(port)))
    except OSError as error:
        print(f"error: the world of this run is not there any more: {error}", file=sys.stderr)
        return 2
    link.sendall(token.encode() + b"\n")
    threading.Thread(target=_replies, args=(link,), daemon=True).start()
    while data := os.read(0, PIECE):
        link.sendall(data)
    link.shutdown(socket.SHUT_WR)
    return 0


def _replies(link: socket.socket) -> None:
    while data := link.recv(PIECE):
        while data:
            data = data[os.write(1, data) :]
    # The world has ended: a harness that waits for it must learn so.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
