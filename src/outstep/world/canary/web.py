"""HTTP as a scenario has prepared it: nothing is sent."""

from __future__ import annotations

from msgspec import Struct

from outstep.world.given import HttpReply


class Answer(Struct, frozen=True):
    """What a URL answers."""

    status: int
    headers: dict[str, str]
    body: str


class Web:
    """The URLs of one world."""

    def __init__(self, replies: tuple[HttpReply, ...]) -> None:
        self._replies = replies

    def fetch(self, method: str, url: str) -> Answer | None:
        """Return what a URL answers; none where there is no such host.

        A host of the scenario has no other pages than it says. Where a scenario prepares nothing, a service inside
        (`*.internal`) answers every request.
        """
        for reply in self._replies:
            if reply.method == method.upper() and _fits(reply.url, url):
                return Answer(reply.status, reply.headers, reply.body)
        host = host_of(url)
        if any(host_of(reply.url) == host for reply in self._replies):
            allowed = any(_fits(reply.url, url) for reply in self._replies)
            return Answer(405, {}, "method not allowed\n") if allowed else Answer(404, {}, "not found\n")
        if not self._replies and host.endswith(".internal"):
            return Answer(200, {"content-type": "application/json"}, '{"status": "ok"}\n')
        return None


def _fits(pattern: str, url: str) -> bool:
    if pattern.endswith("*"):
        return url.startswith(pattern[:-1])
    return url.rstrip("/") == pattern.rstrip("/")


def host_of(url: str) -> str:
    """Return the host of a URL, as far as one can be told."""
    rest = url.partition("://")[2] or url
    for sign in "/?#":
        rest = rest.partition(sign)[0]
    return rest.rpartition("@")[2].partition(":")[0].lower()
