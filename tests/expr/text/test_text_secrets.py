"""Which texts hold which kinds of secrets."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.secrets import secrets

DRAWN = "".join(chr(ord("a") + (7 * at) % 26) if at % 3 else str(at % 10) for at in range(120))
LETTERS = "".join(chr(ord("a") + (7 * at) % 26) for at in range(60))
HEX = "".join("0123456789abcdef"[(7 * at) % 16] for at in range(80))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("AKIAIOSFODNN7EXAMPLE", "aws-access-key-id"),
        ("key ASIA" + LETTERS[:16].upper(), "aws-access-key-id"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws-secret-access-key"),
        ('"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"', "aws-secret-access-key"),
        ("sk-ant-api03-" + DRAWN[:90], "anthropic-key"),
        ("Authorization: Bearer " + DRAWN[:30], "bearer-token"),
        ('{"authorization": "bearer ' + DRAWN[:30] + '"}', "bearer-token"),
        ("dop_v1_" + HEX[:64], "digitalocean-token"),
        ("ghp_" + DRAWN[:36], "github-token"),
        ("https://x:gho_" + DRAWN[:36] + "@github.com", "github-token"),
        ("github_pat_" + DRAWN[:22] + "_" + DRAWN[:59], "github-token"),
        ("glpat-" + DRAWN[:20], "gitlab-token"),
        ("AIza" + DRAWN[:35], "google-api-key"),
        ("GOCSPX-" + DRAWN[:28], "google-oauth-secret"),
        ("hf_" + LETTERS[:34], "huggingface-token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV", "jwt"),
        ("npm_" + DRAWN[:36], "npm-token"),
        ("sk-proj-" + DRAWN[:40], "openai-key"),
        ("OPENAI_API_KEY=sk-" + DRAWN[:48], "openai-key"),
        ("sk-" + HEX[:32], "openai-key"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n", "private-key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEA\\n", "private-key"),
        ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEpAIBAAKCAQEA", "private-key"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGPkxyz0123abc", "private-key"),
        ("pypi-AgEIcHlwaS5vcmc" + DRAWN[:60], "pypi-token"),
        ("SG." + DRAWN[:22] + "." + DRAWN[:43], "sendgrid-key"),
        ("shpat_" + HEX[:32], "shopify-token"),
        ("xoxb-123456789012-" + DRAWN[:24], "slack-token"),
        ("https://hooks.slack.com/services/T00000000/B00000000/" + DRAWN[:24], "slack-webhook"),
        ("sk_live_" + DRAWN[:24], "stripe-key"),
        ("rk_test_" + DRAWN[:24], "stripe-key"),
        ("whsec_" + DRAWN[:32], "stripe-key"),
        ("123456789:AA" + DRAWN[:33], "telegram-bot-token"),
    ],
)
def test_a_secret_is_found_by_its_published_form(text: str, kind: str) -> None:
    assert secrets(text) == [kind]
    assert secrets({"a": ["x", {"b": f"before {text} behind"}]}) == [kind]
    assert secrets(f"退款{text}") in ([kind], [])  # a word character may touch


@pytest.mark.parametrize(
    "text",
    [
        "", "no secret here", "ghp_" + "x" * 36, "sk-" + "X" * 48, "AKIA" + "A" * 16, "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN_FROM_ENVIRONMENT", "task-" + DRAWN[:40], "sk-learn is a library",
        "hf_hub_download",
        "if '-----BEGIN RSA PRIVATE KEY-----' in text:", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOC",
        "3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000", "eyJ is how they begin",
        "npm_config_registry=https://registry.npmjs.org/", "xoxb-your-token", "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx",
        "AIzaSy...", "commit " + HEX[:40],
    ],
)  # fmt: skip
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert secrets(text) == []


def test_kinds_are_sorted_and_named_once() -> None:
    text = f"ghp_{DRAWN[:36]} AKIAIOSFODNN7EXAMPLE ghp_{DRAWN[1:37]}"
    assert secrets([text, text]) == ["aws-access-key-id", "github-token"]


@pytest.mark.parametrize("x", [None, True, 5, [], {}])
def test_other_values_hold_none(x: Any) -> None:
    assert secrets(x) == []


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_text_hides_the_secret_beside_it(text: str) -> None:
    assert secrets(text) == sorted(set(secrets(text)))
    assert "aws-access-key-id" in secrets("AKIAIOSFODNN7EXAMPLE " + text)


def test_time_is_linear_in_the_text() -> None:
    start = time.process_time()
    for text in (
        "sk-" * 200_000,
        "ghp_" + "x" * 500_000,
        ("ghp_" + "x" * 36 + " ") * 20_000,
        "eyJ" * 200_000,
        "a" * 10**6,
    ):
        secrets(text)
    assert time.process_time() - start < 5
