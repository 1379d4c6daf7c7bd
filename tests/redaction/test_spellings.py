"""No redacted value is left, in whatever spelling it stands, and in no piece of six characters."""

from __future__ import annotations

import base64
import json

import pytest

from tests.redaction.values import SPELLINGS, VALUES, clean, pieces_left


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_value_is_found_in_this_spelling_alone(spelling: str) -> None:
    for kind, value in VALUES.items():
        document = json.dumps({"seq": 1, "text": SPELLINGS[spelling](value)}).encode()
        assert pieces_left(value, document), "the test can read this spelling"
        done = clean(document)
        assert pieces_left(value, done.data) == set(), (kind, done.data)
        json.loads(done.data)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_it_reads_afterwards_as_its_placeholder(spelling: str) -> None:
    value = VALUES["email"]
    plain = json.loads(clean(json.dumps([value])).data)[0]
    document = json.dumps({"text": SPELLINGS[spelling](value)}).encode()
    assert pieces_left(plain, clean(document).data) >= {plain[at : at + 6] for at in range(len(plain) - 5)}


@pytest.mark.parametrize("kind", VALUES)
def test_a_copy_that_was_cut_off_is_gone_too(kind: str) -> None:
    value = VALUES[kind]
    cut = value[: max(len(value) - 4, 8)]
    document = json.dumps({"whole": value, "cut": f"it is {cut}", "dots": f"it is {cut}… and more"}).encode()
    done = clean(document)
    assert cut.encode() not in done.data
    assert json.loads(done.data)["dots"].endswith("… and more")


def test_a_piece_of_a_secret_in_the_middle_of_a_text_is_gone_too() -> None:
    value = VALUES["github-token"]
    document = json.dumps({"whole": value, "piece": f"ends in {value[-9:]}, ok", "other": "x" + value[10:24] + "y"})
    assert pieces_left(value[4:], clean(document).data) == set()


def test_common_words_are_no_pieces() -> None:
    document = json.dumps(
        {"a": "support@example.com service2@example.com", "b": "our support at example.com, index2024"}
    )
    new = json.loads(clean(document).data)
    assert new["b"] == "our support at example.com, index2024"


def test_wrapped_base64_is_read_as_one() -> None:
    text = ("the customer " * 9 + VALUES["email"] + " is waiting " * 9).encode()
    document = json.dumps({"mime": base64.encodebytes(text).decode().replace("\n", "\r\n")}).encode()
    assert pieces_left(VALUES["email"], clean(document).data) == set()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 12])
def test_values_in_streamed_pieces_are_gone_and_the_pieces_stay(size: int) -> None:
    text = f"I wrote to {VALUES['email']} and called {VALUES['phone']} with {VALUES['github-token']}."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    packed = {"turn": 1, "step": 1, "index": 0, "dt": [0] * (len(pieces) - 1), "texts": pieces}
    half = len(pieces) // 2
    rows = [{"type": "text-chunks", "seq0": 3, "time0": 1, "data": packed}]
    rows += [
        {"type": "text-chunks", "seq0": 40, "time0": 1, "data": {**packed, "step": 2, "texts": part}}
        for part in (pieces[:half], pieces[half:])
    ]
    for piece in pieces:
        delta = {"turn": 1, "step": 3, "chunk": {"type": "text-delta", "index": 0, "text": piece}}
        rows.append({"type": "assistant/chunk", "seq": 90, "data": delta})
    done = clean(b"\n".join(json.dumps(row).encode() for row in rows))
    new = [json.loads(line) for line in done.data.splitlines()]
    joined = "".join(new[0]["data"]["texts"])
    assert len(new[0]["data"]["texts"]) == len(pieces)
    assert joined.startswith("I wrote to redacted_email_")
    assert "".join(new[1]["data"]["texts"] + new[2]["data"]["texts"]) == joined
    assert "".join(row["data"]["chunk"]["text"] for row in new[3:]) == joined
