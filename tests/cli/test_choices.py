"""What is asked for by name is known, or refused by name."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Outstep

NEVER_MORE = """outstep: contract/v1
id: {id}
params: {{{param}: 1000000}}
tools: {{refund.create: {{}}}}
rules: [{{id: BOUND, for: call refund.create, require: args.amountCents <= params.{param}}}]
"""


def test_a_language_that_nothing_speaks_is_a_usage_error(outstep: Outstep) -> None:
    done = outstep("check", "-c", "refund.yaml", "good.jsonl", "--lang", "xx")
    assert done.code == 2
    assert "`--lang xx` is not known" in done.err
    assert "one of: en, zh" in done.err


def test_a_known_language_without_messages_in_a_contract_is_no_mistake(outstep: Outstep) -> None:
    assert outstep("check", "-c", "idle-warn.yaml", "good.jsonl", "--lang", "zh").code == 0


def test_each_contract_takes_the_parameters_that_it_has(outstep: Outstep, tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(NEVER_MORE.format(id="one", param="most"), "utf-8")
    two.write_text(NEVER_MORE.format(id="two", param="limit"), "utf-8")
    both = ("check", "-c", str(one), "-c", str(two), "good.jsonl")
    assert outstep(*both).code == 0
    assert outstep(*both, "--param", "limit=0").code == 1
    assert outstep(*both, "--param", "limit=0", "--param", "most=0").code == 1
    refused = outstep(*both, "--param", "limt=0")
    assert refused.code == 2
    assert "none of the contracts has a parameter `limt`" in refused.err
    assert "did you mean `limit`?" in refused.err
