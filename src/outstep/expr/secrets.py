"""`secrets(x)`: the kinds of secrets that a text holds, by the forms that their issuers publish.

Only forms with a fixed mark are here, so that a finding is worth a look. A body of few different characters
(`ghp_xxxxxxxx…`, `sk-XXXX…`) is a placeholder, no secret. What redaction put in the place of a secret tells its kind,
and counts as one: a redacted trace has the same verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from outstep.expr.patterns import Pattern, PatternSet, compile_pattern, encode
from outstep.expr.spelling import texts_in

REPLACED = "redacted_"
"""Every text that stands in the place of a redacted value begins so; the kind follows, then letters drawn by a key."""

_DIFFERENT = 6
"""Different characters, at the least, in a body that somebody drew at random."""


class _Kind(Struct, frozen=True):
    name: str
    pattern: str
    """Its last group is the body."""
    body_only: bool = False
    """What stands before the body is a name, a host: no part of the secret."""


_KINDS = (
    # Anthropic: keys begin with `sk-ant-` (docs.anthropic.com, Admin API: `sk-ant-admin…`; API: `sk-ant-api03-…`).
    _Kind("anthropic-key", r"\bsk-ant-[a-z0-9]{2,12}-([A-Za-z0-9_-]{20,})"),
    # AWS: IAM User Guide, "IAM identifiers", unique ID prefixes AKIA (access key), ASIA (temporary key).
    _Kind("aws-access-key-id", r"\b(?:AKIA|ASIA)([A-Z2-7]{16})\b|\b(AKIA[A-Z0-9]{9}EXAMPLE)\b"),
    # AWS: a secret access key has 40 base64 characters and no mark; so only behind its name in the credentials file.
    _Kind(
        "aws-secret-access-key",
        r"(?i)aws_?secret_?access_?key[\"']?\s{0,3}[=:]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        body_only=True,
    ),
    # RFC 6750 section 2.1: `Authorization: Bearer b64token`.
    _Kind(
        "bearer-token",
        r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?bearer\s{1,3}([A-Za-z0-9._~+/-]{20,}=*)",
        body_only=True,
    ),
    # DigitalOcean API reference: personal (`dop_`), OAuth (`doo_`) and refresh (`dor_`) tokens, 64 hex digits.
    _Kind("digitalocean-token", r"\bdo[opr]_v1_([a-f0-9]{64})\b"),
    # GitHub docs, "About authentication": ghp_, gho_, ghu_, ghs_, ghr_ and github_pat_.
    _Kind("github-token", r"\bgh[pousr]_([A-Za-z0-9]{36,251})\b|\bgithub_pat_([A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b"),
    # GitLab docs, "Token overview": token prefixes.
    _Kind("gitlab-token", r"\b(?:glpat|gldt|glrt|glptt|glcbt|glft|glsoat|glagent)-([A-Za-z0-9_-]{20,})"),
    # Google Cloud docs, "Manage API keys": keys look like `AIza…`, 39 characters in all.
    _Kind("google-api-key", r"\bAIza([0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)"),
    # Google: OAuth client secrets begin with `GOCSPX-` (GitHub secret scanning, supported patterns).
    _Kind("google-oauth-secret", r"\bGOCSPX-([0-9A-Za-z_-]{28})(?:[^0-9A-Za-z_-]|$)"),
    # Hugging Face docs, "User access tokens": `hf_…`.
    _Kind("huggingface-token", r"\bhf_([A-Za-z]{34})\b"),
    # RFC 7519 section 3: three base64url parts, header and claims are JSON objects (`{"` reads `eyJ`).
    _Kind("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.([A-Za-z0-9_-]{16,})"),
    # npm docs / GitHub blog 2021-09-23: `npm_` and 36 characters.
    _Kind("npm-token", r"\bnpm_([A-Za-z0-9]{36})\b"),
    # OpenAI (GitHub secret scanning, supported patterns): `sk-…T3BlbkFJ…`, `sk-proj-…`, `sk-svcacct-…`; the same
    # bare form `sk-` with 32 or more letters and digits is used by other providers of that interface.
    _Kind(
        "openai-key",
        r"\bsk-(?:proj|svcacct|admin|None)-([A-Za-z0-9_-]{20,})|\bsk-([A-Za-z0-9]{32,})\b",
    ),
    # RFC 7468, RFC 1421 (header lines) and OpenPGP (RFC 9580 section 6.2): armour of private keys, with some of the
    # key behind it: code that looks for the armour names it too. Line ends may be quoted, as in JSON.
    _Kind(
        "private-key",
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\\[nr]|\s){1,4}(?:[A-Za-z-]{4,20}: [^\n\\]{1,100}(?:\\[nr]|\s){1,4}){0,4}([A-Za-z0-9+/=]{10,})",
    ),
    # PyPI help: tokens begin with `pypi-`, followed by a macaroon for `pypi.org`.
    _Kind("pypi-token", r"\bpypi-AgE[A-Za-z0-9_-]{5}([A-Za-z0-9_-]{50,})"),
    # Twilio SendGrid docs: `SG.` and two parts of 22 and 43 characters.
    _Kind("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{22}\.([A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)"),
    # Shopify docs, changelog 2020-05: prefixes shpat_, shpca_, shppa_, shpss_, 32 hex digits.
    _Kind("shopify-token", r"\bshp(?:at|ca|pa|ss)_([a-fA-F0-9]{32})\b"),
    # Slack docs, "Token types": xoxb-, xoxp-, xapp-, and configuration tokens xoxe-.
    _Kind("slack-token", r"\b(?:xox[abeoprs]|xapp|xoxe\.xox[bp])-([0-9]{1,14}-[A-Za-z0-9-]{10,})"),
    # Slack docs, "Sending messages using incoming webhooks".
    _Kind(
        "slack-webhook",
        r"https://hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/([A-Za-z0-9]{20,})",
        body_only=True,
    ),
    # Stripe docs, "API keys": secret (sk_) and restricted (rk_) keys, live and test; webhook secrets (whsec_).
    _Kind("stripe-key", r"\b[sr]k_(?:live|test)_([0-9A-Za-z]{16,})\b|\bwhsec_([0-9A-Za-z+/]{24,})"),
    # Telegram Bot API, "Authorizing your bot": `<id>:<35 characters>`, which begin with AA.
    _Kind("telegram-bot-token", r"\b[0-9]{8,10}:(AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)"),
)


def secrets(x: Any) -> list[str]:
    """Return the kinds of secrets found in `x`, or in any text inside it, sorted, each once."""
    known = _patterns()
    found: set[str] = set()
    for text in (x,) if isinstance(x, str) else texts_in(x):
        if len(text) < 16:
            continue
        if REPLACED in text:
            found.update(_replaced(encode(text)))
        for index in known.matches(text):
            if _KINDS[index].name not in found and next(_drawn(known, index, encode(text)), None) is not None:
                found.add(_KINDS[index].name)
    return sorted(found)


def secret_spans(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield where secrets stand in UTF-8 bytes, kind by kind: start, end, kind; of a private key all up to its end."""
    known = _patterns()
    for index in known.occurring(data):
        kind = _KINDS[index]
        for match, body in _drawn(known, index, data):
            end = _end_of_key(data, body[1]) if kind.name == "private-key" else body[1]
            yield (body[0] if kind.body_only else match[0]), end, kind.name


def secret_patterns() -> list[str]:
    """Return a pattern for each kind, as it may stand behind a letter that belongs to an escape."""
    return [kind.pattern.removeprefix(r"\b").replace(r"|\b", "|").replace(r"(?i)\b", "(?i)") for kind in _KINDS]


def _drawn(known: PatternSet, index: int, data: bytes) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield match and body where a body is no placeholder."""
    place = 0
    while (spans := known.patterns[index].spans(data, place)) is not None:
        bodies = [(start, end) for start, end in spans[1:] if start >= 0] or [spans[0]]
        start, end = bodies[-1]
        if len(set(data[start:end].lower())) >= _DIFFERENT:
            yield spans[0], bodies[-1]
        place = max(end, place + 1)


def _end_of_key(data: bytes, place: int) -> int:
    """Return the end of a private key that began before `place`: its last line, or where its text breaks off."""
    armour = data.find(b"-----END", place)
    if armour >= 0 and armour - place < _LONGEST_KEY:
        closing = data.find(b"-----", armour + 8)
        return closing + 5 if 0 <= closing - armour < 60 else armour
    rest = data[place : place + _LONGEST_KEY]
    return place + len(rest) - len(rest.lstrip(_BASE64))


_LONGEST_KEY = 1 << 15
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"


def _replaced(data: bytes) -> Iterator[str]:
    """Yield the kinds of secrets in whose place something else stands."""
    if not _marks:
        names = "|".join(kind.name.replace("-", "_") for kind in _KINDS)
        _marks.append(compile_pattern(rf"{REPLACED}({names})_[b-z]{{12}}"))
    place = 0
    while (spans := _marks[0].spans(data, place)) is not None:
        yield data[slice(*spans[1])].decode().replace("_", "-")
        place = spans[0][1]


_compiled: list[PatternSet] = []
_marks: list[Pattern] = []


def _patterns() -> PatternSet:
    if not _compiled:
        _compiled.append(PatternSet(kind.pattern for kind in _KINDS))
    return _compiled[0]
