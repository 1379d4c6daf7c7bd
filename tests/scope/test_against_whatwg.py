"""Hosts are those that browsers see, or there is none: the Web Platform Tests, and Node where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from outstep.scope.urls.hosts import canonical_host
from outstep.scope.urls.reading import BadUrl, read_url
from tests.scope.rows import CASES, read_rows

INPUTS = [json.loads(line) for line in (CASES / "whatwg.jsonl").read_text(encoding="utf-8").splitlines()]
NODE = shutil.which("node")
SCRIPT = """
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => {
  try { const url = new URL(text); return [url.protocol.slice(0, -1), url.hostname]; } catch { return null; }
})));
"""


def test_no_input_is_read_as_another_host() -> None:
    """What is a URL here is one for browsers, with the same scheme, host and port."""
    read = 0
    for text, scheme, host, port in INPUTS:
        try:
            url = read_url(text)
        except BadUrl:
            continue
        read += 1
        assert scheme is not None, text
        assert (url.scheme, url.host) == (scheme, canonical_host(host)), text
        assert url.port == (int(port) if port else {"http": 80, "https": 443}[scheme]), text
    assert read > 50


def test_plain_urls_of_browsers_are_read() -> None:
    """A URL with two slashes, no user, no sign outside of the alphabet of URLs is refused by neither reading."""
    for text, scheme, host, _ in INPUTS:
        if scheme in ("http", "https") and text.startswith(f"{scheme}://{host}/") and text.isalnum():
            read_url(text)


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_node_sees_the_host_of_every_contained_row() -> None:
    rows = [row for row in read_rows("urls.csv") if row["source"] == "node" and row["right_verdict"] == "contained"]
    texts = [json.loads(row["arg_json"])["url"] for row in rows]
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", SCRIPT], input=json.dumps(texts), capture_output=True, text=True, timeout=60, check=True
    )
    for text, seen in zip(texts, json.loads(done.stdout), strict=True):
        assert seen is not None, text
        assert read_url(text).host == canonical_host(seen[1]), text
