"""How words become arguments."""

from __future__ import annotations

from typing import Any

import pytest

from outstep.cli.arguments import Arguments
from outstep.errors import OutstepError


def parser() -> Arguments:
    made = Arguments("check", "hold traces against contracts")
    made.words("paths", metavar="PATH", help="files")
    made.values("-c", "--contract", metavar="FILE", help="a contract")
    made.value("--fail-on", metavar="LEVEL", help="a level")
    made.number("-j", "--jobs", metavar="N", help="processes")
    made.flag("-v", "--verbose", help="more")
    made.flag("--json", help="as JSON")
    made.switch("--unpinned", help="other versions")
    return made


NOTHING: dict[str, Any] = {
    "paths": [],
    "contract": None,
    "fail_on": None,
    "jobs": None,
    "verbose": False,
    "json": False,
    "unpinned": None,
}


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("", {}),
        ("a -c x b", {"paths": ["a", "b"], "contract": ["x"]}),
        ("-c x --contract=y -cz -c=w", {"contract": ["x", "y", "z", "w"]}),
        ("--fail-on warn --fail-on block", {"fail_on": "block"}),
        ("-j 2", {"jobs": 2}),
        ("-j -2", {"jobs": -2}),
        ("-vj4", {"verbose": True, "jobs": 4}),
        ("--unpinned", {"unpinned": True}),
        ("--unpinned --no-unpinned", {"unpinned": False}),
        ("- -v", {"paths": ["-"], "verbose": True}),
        ("-c - --json", {"contract": ["-"], "json": True}),
        ("a -- -v --json", {"paths": ["a", "-v", "--json"]}),
        ("--contract -x", {"contract": ["-x"]}),
    ],
)
def test_options_and_paths_stand_in_any_order(words: str, given: dict[str, Any]) -> None:
    assert vars(parser().read(words.split())) == {**NOTHING, **given}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("-c", "`-c` needs a value: -c FILE"),
        ("--contract --json", "`--contract` needs a value: --contract FILE"),
        ("--fail-on -- a", "`--fail-on` needs a value: --fail-on LEVEL"),
        ("-j two", "`-j two` is no whole number"),
        ("--jobs=1.5", "`--jobs 1.5` is no whole number"),
        ("-j 12345678901", "`-j 12345678901` is no whole number"),
        ("--json=yes", "`--json` takes no value"),
        ("--no-json", "`--no-json` is no option of `outstep check`"),
        ("--verb", "`--verb` is no option of `outstep check`"),
        ("-vx", "`-x` is no option of `outstep check`"),
        ("-abc", "`-abc` is no option of `outstep check`"),
    ],
)
def test_what_nobody_knows_is_named(words: str, sentence: str) -> None:
    with pytest.raises(OutstepError) as caught:
        parser().read(words.split())
    (problem,) = caught.value.problems
    assert problem.sentence == sentence
    assert problem.help


def test_a_command_without_words_takes_none() -> None:
    bare = Arguments("adapters", "list the formats")
    with pytest.raises(OutstepError, match="`native` is one word too many"):
        bare.read(["native"])


def test_help_names_every_option_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["-vh"], ["a", "-h", "--nonsense"]):
        with pytest.raises(SystemExit) as caught:
            parser().read(words)
        assert caught.value.code == 0
        shown = capsys.readouterr().out
        for name in ("PATH", "-c, --contract FILE", "-j, --jobs N", "--unpinned, --no-unpinned", "-h, --help"):
            assert name in shown


@pytest.mark.parametrize(
    ("words", "help"),
    [
        ("refund_v1", "did you mean `outstep run --battery refund_v1`?"),
        ("--battery refund_v1 openai:small", "did you mean `outstep run --model openai:small`?"),
        ("temperature=0.7", "did you mean `outstep run --set temperature=0.7`?"),
        ("5", "did you mean `outstep run --epochs 5`?"),
        ("it's", "did you mean `outstep run --battery 'it'\"'\"'s'`?"),
        ("--epochs 5 5", "outstep run --help lists the options"),
    ],
)
def test_one_word_too_many_is_offered_the_option_it_may_belong_to(words: str, help: str) -> None:
    made = Arguments("run", "run a battery")
    made.flag("--dry", help="nothing")
    made.value("-b", "--battery", metavar="NAME|FILE", help="a battery")
    made.value("-m", "--model", metavar="MODEL", help="a model")
    made.number("-n", "--epochs", metavar="N", help="how often")
    made.values("--set", metavar="NAME=VALUE", help="a parameter")
    with pytest.raises(OutstepError) as caught:
        made.read(words.split())
    (problem,) = caught.value.problems
    assert problem.sentence.endswith("is one word too many")
    assert problem.help == help
