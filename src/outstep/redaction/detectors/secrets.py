"""Secrets: what `secrets(x)` knows in contracts, bearer tokens, and what a name such as `api_key` announces."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern
from outstep.expr.secrets import secret_patterns, secret_spans
from outstep.redaction.detectors.base import Hit

_NAMED = (
    r"(?i)(?:api[_-]?key|apikey|secret[_-]?key|access[_-]?key|client[_-]?secret|private[_-]?token|"
    r"(?:access|auth|refresh|session|bearer|api|secret)[_-]?token)"
    r"[\"'\\]{0,4}\s{0,2}[:=]\s{0,2}[\"'\\]{0,4}([A-Za-z0-9_\-./+~]{16,}=*)"
)
_FORMS = {
    "bearer": r"(?i)\bbearer[\"']?[ \t:=]{1,3}([A-Za-z0-9._~+/-]{16,}=*)",
    "basic_auth": r"(?i)\bauthorization[\"'\\]{0,4}\s?[:=]\s?[\"'\\]{0,4}basic[ \t]{1,3}([A-Za-z0-9+/_-]{8,}=*)",
    "api_key": _NAMED,
    "url_password": r"://[^\s/@:\"'<>\\]{0,80}:([^\s/@\"'<>\\]{3,200})@[A-Za-z0-9]",
}
"""What is sought besides; the first group is the value."""
_DIFFERENT = 8


def find(text: bytes) -> Iterator[Hit]:
    """Yield secrets."""
    for start, end, kind in secret_spans(text):
        yield Hit(start, end, kind)
    for kind, pattern in _patterns().items():
        place = 0
        while (spans := pattern.spans(text, place)) is not None:
            start, end = spans[1]
            if _is_right(kind, text[start:end]):
                yield Hit(start, end, kind)
            place = max(end, place + 1)


def hints() -> list[str]:
    """Return what every secret holds."""
    return [*secret_patterns(), *(form.replace(r"\b", "") for form in _FORMS.values())]


def _is_right(kind: str, value: bytes) -> bool:
    if kind == "basic_auth":
        return True
    if kind == "url_password":
        return value[:1] not in (b"$", b"{", b"<", b"*", b"%") or (len(set(value)) > 1 and value[:1] == b"%")
    # Something drawn has digits and letters; `bearer authentication-required`, `api_key=your_key_goes_here` have not.
    has_both = any(48 <= sign < 58 for sign in value) and any(sign > 64 for sign in value)
    return has_both and len(set(value)) >= _DIFFERENT


@cache
def _patterns() -> dict[str, Pattern]:
    return {kind: compile_pattern(form) for kind, form in _FORMS.items()}
