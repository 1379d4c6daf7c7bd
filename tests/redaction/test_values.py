"""What is redacted, and what only looks like it."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from outstep.redaction.placeholders import commitment
from tests.redaction.values import KEY, VALUES, clean

DRAWN = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz"

SENSITIVE = [
    ("write to wei@example.com.", "wei@example.com"),
    ("<Wei.Zhang+tag@mail.example.co.uk>", "Wei.Zhang+tag@mail.example.co.uk"),
    ("联系zhang@例.com zhang@example.com吗", "zhang@example.com"),
    ("runs/wei@example.com.json", "wei@example.com"),
    ("mailto:wei@example.com?subject=x", "wei@example.com"),
    ("'\\nwei@example.com'", "wei@example.com"),
    ("我的手机号是13812345678。", "13812345678"),
    ("call 138 1234 5678 today", "138 1234 5678"),
    ("+86 138-1234-5678", "+86 138-1234-5678"),
    ("+8613812345678", "+8613812345678"),
    ("tel:13812345678", "13812345678"),
    ("(415) 555-2671 or", "(415) 555-2671"),
    ("line 555-123-2002 is down", "555-123-2002"),
    ("+44 20 7946 0958", "+44 20 7946 0958"),
    ("座机 010-62345678", "010-62345678"),
    ('{"phone": "4155552671"}', "4155552671"),
    ('{"customerPhone": "4155552671"}', "4155552671"),
    ("电话：020 8765 4321", "020 8765 4321"),
    ("my number is 4111 1111 1111 1111, thanks", "4111 1111 1111 1111"),
    ("5105-1051-0510-5100", "5105-1051-0510-5100"),
    ("amex 378282246310005", "378282246310005"),
    ("2024 4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("Authorization: Bearer abcDEF0123456789xyzXYZ99", "abcDEF0123456789xyzXYZ99"),
    ('{"Authorization": "Bearer abcDEF0123456789xyzXYZ99"}', "abcDEF0123456789xyzXYZ99"),
    ("Authorization: Basic d2VpOnBhc3N3b3Jk", "d2VpOnBhc3N3b3Jk"),
    ("API_KEY=9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    ('{"client_secret": "Zx8Cv7Bn6Mq5Wl4Ek3Rj"}', "Zx8Cv7Bn6Mq5Wl4Ek3Rj"),
    ("postgres://app:Sw0rdf1sh@db.example/x", "Sw0rdf1sh"),
    (
        "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz",
    ),
]

HARMLESS = [
    "git clone git@github.com:group/project.git",
    "scp root@host.example:/etc/hosts .",
    "ssh://git@host.example/a.git and https://wei@host.example/x",
    "npm i react@18.0.0-rc.next lodash@4.17.21 @types/node@20.1.0",
    "logo@2x.png getty@tty1.service user@1000.service @app.route('/x')",
    "C = A@B.dot(x)",
    '{"time": 1796072205581, "seq": 17960722055, "createdAt": "1796072205581"}',
    "-rw-r--r-- 1 root root 15032385536 Dec  1 05:24 disk.img",
    "size: 15032385536 bytes, 13958643712 B free",
    '{"order_id": "15012345678", "size": 13958643712}',
    "#15012345678 order-15012345678 /orders/15012345678 v1.15012345678 15012345678.25",
    "item 4896585277, product 1801728040, order #W2890441, credit_card_9513926",
    '{"Smartphone": "1801728040", "iPhone": "1801728040"}',
    "phone: 2024-05-06, tel 12, mobile 3.50",
    "550e8400-e29b-41d4-a716-446655440000 4111-1111-1111-1111-aaaa",
    "0.4111111111111111 4111111111111112 1234567812345678",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "2026-12-01T05:26:21+0800 +20240101 +1234567890 @@ -1,5 +1,9 @@",
    "192.168.100.1234 200 300 4000 12-34-5678 978-3-16-148410-0",
    "bearer authentication-is-required, api_key=your_key_goes_here, token: next_page_token_value",
    "https://host.example:8080/path@v2.1/file sk-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX ghp_" + "x" * 36,
    "postgres://app:${PASSWORD}@db.example/x",
    "call_00_bNhJQ3ZrYkXc7 toolu_01A09q90qw90lq917835lq9 chatcmpl-9xYz",
    "price 1,299.00 USD, 49.90 EUR, ¥13,800,138,000",
]


@pytest.mark.parametrize(("text", "value"), SENSITIVE)
def test_it_is_redacted_and_nothing_else(text: str, value: str) -> None:
    done = clean(json.dumps({"a": text}, ensure_ascii=False))
    new = json.loads(done.data)["a"]
    before, _, behind = text.rpartition(value) if text.count(value) == 1 else text.partition(value)
    assert value not in new
    assert new.startswith(before)
    assert new.endswith(behind)
    assert "redacted_" in new


@pytest.mark.parametrize("text", HARMLESS)
def test_it_stays(text: str) -> None:
    document = json.dumps({"a": text}).encode()
    assert clean(document).data == document
    assert clean(text).data == text.encode()


@pytest.mark.parametrize("kind", VALUES)
def test_a_placeholder_tells_its_kind_and_equal_values_have_equal_ones(kind: str) -> None:
    new = json.loads(clean(json.dumps([VALUES[kind], f"see {VALUES[kind]}, and", {VALUES[kind]: 1}])).data)
    assert new[0].startswith(f"redacted_{kind.replace('-', '_')}_")
    assert new[1] == f"see {new[0]}, and"
    assert list(new[2]) == [new[0]]


def test_addresses_that_differ_in_case_differ_in_case_alone() -> None:
    one, two = json.loads(clean('["Wei@Example.com", "wei@example.com"]').data)
    assert one != two
    assert one.lower() == two.lower()


def test_what_is_redacted_stays_as_it_is_the_second_time() -> None:
    for text, _ in SENSITIVE:
        once = clean(json.dumps({"a": text}))
        assert clean(once.data).data == once.data


def test_a_number_of_json_becomes_a_text_and_the_document_stays_json() -> None:
    new = json.loads(clean('{"phone": 13812345678, "n": [4111111111111111, 13812345678], "m": 1}').data)
    assert new["phone"] == new["n"][1]
    assert new["n"][0].startswith("redacted_card_")
    assert new["m"] == 1


def test_a_commitment_is_there_where_something_was_replaced_and_needs_the_salt() -> None:
    document = b'{"a": "wei@example.com"}'
    done = clean(document)
    assert done.commitment == commitment(KEY.salt(document), document)
    assert done.commitment != sha256(document).hexdigest()
    assert clean(b'{"a": 1}').commitment == ""
