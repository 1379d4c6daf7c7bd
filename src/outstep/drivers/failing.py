"""Errors of client libraries, read as what they say about a run.

Both official libraries raise errors with `status_code`; besides these, what is below them comes through as it is
(openai 3.57, anthropic 2.14: `httpx2.RemoteProtocolError`, `json.JSONDecodeError`).
"""

from __future__ import annotations

import json

from outstep.drivers.exchange import Exchange
from outstep.drivers.providers import Provider
from outstep.drivers.turns import Failure

REFUSALS = ("content_filter", "content_policy", "content management policy", "safety system")
CONTEXT_FULL = ("context_length_exceeded", "exceed_context_size", "maximum context length", "prompt is too long")
NO_CREDIT = ("insufficient_quota", "billing", "credit balance")
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})


def failure_of(error: Exception, exchange: Exchange, provider: Provider) -> Failure:
    """Return what an error means; raises it again where it is none of a provider."""
    import httpx2

    if isinstance(error, Failure):
        return error
    if isinstance(error, TimeoutError):
        return Failure("call-timeout", "the response was not whole within the time for one call", status="timeout")
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _answered(status, exchange, provider)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return Failure("malformed-response", f"the response cannot be read: {type(error).__name__}")
    if isinstance(error, httpx2.HTTPError) or isinstance(error.__cause__, httpx2.HTTPError):
        return _dropped(error, exchange)
    name = type(error).__module__.partition(".")[0]
    if name in {"openai", "anthropic"}:
        # An error that came as an event of the stream.
        return _told(error, exchange, provider)
    raise error


def _answered(status: int, exchange: Exchange, provider: Provider) -> Failure:
    body = bytes(exchange.body).decode(errors="replace")
    said = f"the provider answered {status}: {_message(body)}"
    if any(part in body for part in REFUSALS):
        return Failure("refused", said, status="refused")
    if any(part in body for part in CONTEXT_FULL):
        return Failure("context-full", said, status="max_tokens")
    if status in {401, 403}:
        return Failure("unauthorised", said)
    if any(part in body for part in NO_CREDIT):
        return Failure("no-credit", said)
    if status >= 500 and any(part in body for part in provider.model_failures):
        return Failure("model-failure", said)
    if status == 429:
        return Failure("rate-limited", said, can_retry=True, wait=_wait(exchange))
    if status in RETRIED:
        return Failure("server-error", said, can_retry=True, wait=_wait(exchange))
    return Failure("not-found" if status == 404 else "bad-request", said)


def _dropped(error: Exception, exchange: Exchange) -> Failure:
    cause = error.__cause__ or error
    kind = type(cause).__name__
    if exchange.status is None:
        return Failure("no-connection", f"no response came: {kind}: {cause}", can_retry=True)
    # What had come is a part of an answer: to ask again would be to draw another one.
    many = len(exchange.body)
    return Failure("dropped", f"the connection broke after {many} bytes of the response: {kind}")


def _told(error: Exception, exchange: Exchange, provider: Provider) -> Failure:
    text = f"{error} {bytes(exchange.body[-2000:]).decode(errors='replace')}"
    if any(part in text for part in REFUSALS):
        return Failure("refused", f"the provider refused: {error}", status="refused")
    if any(part in text for part in provider.model_failures):
        return Failure("model-failure", f"the provider failed: {error}")
    return Failure("server-error", f"the provider failed within its response: {error}")


def _message(body: str) -> str:
    """Return what an error says, from the shapes that providers give it."""
    try:
        value = json.loads(body)
    except ValueError:
        return " ".join(body.split())[:200] or "(no body)"
    found = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(found, dict):
        found = found.get("message", found)
    return " ".join(str(found).split())[:200]


def _wait(exchange: Exchange) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(exchange.headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
