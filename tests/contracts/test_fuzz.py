"""Whatever stands in a contract, it is checked or refused with places: no traceback, no hang."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.contracts import packs
from outstep.contracts.loader import load
from outstep.errors import OutstepError, Problem

MISTAKES = (Path(__file__).parent / "lint" / "every_mistake.yaml").read_text("utf-8")
SEEDS = [(packs.source(name) or b"").decode() for name in packs.NAMES] + [MISTAKES]
BITS = [
    *(
        "",
        " ",
        "\n",
        "  ",
        "\t",
        "\r\n",
        "- ",
        ": ",
        ":",
        "#",
        " #",
        "'",
        '"',
        "''",
        "\\",
        "|",
        ">-",
        "&a ",
        "*a",
        "!",
        "!!str ",
    ),
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        "?",
        "? ",
        "%",
        "@",
        "`",
        "~",
        "null",
        "true",
        "0x1f",
        "-1",
        "1e999",
        "9" * 40,
        "<<: *a",
    ),
    *("---", "...", "rules:", "rules: []", "for:", "never: ", "let: {a: a}", "each: args", "where ", " by main", " | "),
    *(
        "\x00",
        "\u2028",
        "\ufeff",
        "退款",
        "é",
        "😀",
        "\x85",
        "(((((((",
        "args.x",
        "this.",
        "known(args, 'call *')",
        "params.",
    ),
    *(
        "{args.x}",
        "{{",
        "}}",
        "{",
        "(?P<a>",
        "a{1001}",
        "outstep: contract/v1",
        "include: [refund]",
        "include: ./x.yaml",
    ),
    *("id", "when", "at_most: ", "sum: ", "per: turn", "  ", "    ", "      "),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        how = draw(st.sampled_from(["insert", "replace", "cut", "repeat", "line", "indent", "tail"]))
        end = min(len(text), start + draw(st.integers(0, 40)))
        if how == "insert":
            text = text[:start] + draw(st.sampled_from(BITS)) + text[start:]
        elif how == "replace":
            text = text[:start] + draw(st.sampled_from(BITS)) + text[end:]
        elif how == "cut":
            text = text[:start] + text[end:]
        elif how == "repeat":
            text = text[:end] + text[start:end] + text[end:]
        elif how == "tail":
            text = text[:start]
        else:
            lines = text.split("\n")
            index = draw(st.integers(0, len(lines) - 1))
            other = draw(st.integers(0, len(lines) - 1))
            lines[index] = lines[other] if how == "line" else "  " + lines[index]
            text = "\n".join(lines)
    return text


def check(data: bytes) -> tuple[Problem, ...]:
    try:
        found = load(data, read_file=lambda _: data)[1]
    except OutstepError as error:
        found = error.problems
        assert found
        assert {problem.level for problem in found} == {"error"}
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    for problem in found:
        if problem.place is None or problem.place.source != "contract.yaml":
            continue
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert problem.place.line is not None
        assert 1 <= problem.place.line <= len(lines)
        assert problem.underline is not None
        first, last = problem.underline
        assert 0 <= first < last <= max(len(problem.excerpt), first + 1)
        assert problem.excerpt in lines[problem.place.line - 1] or len(problem.excerpt) >= 240
    return found


@settings(max_examples=300)
@given(mutated())
def test_a_contract_with_slips_is_checked_or_refused_with_places(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=100)
@given(st.binary(max_size=60), st.integers(0, 2000))
def test_so_is_one_with_any_bytes_in_it(data: bytes, at: int) -> None:
    whole = SEEDS[0].encode()
    check(whole[:at] + data + whole[at:])


@settings(max_examples=200)
@given(st.text(alphabet="abc:-?!*&#|>'\"[]{}, \n", max_size=60))
def test_so_is_any_text(text: str) -> None:
    check(text.encode())


@given(mutated())
@settings(max_examples=50)
def test_equal_text_gives_equal_mistakes(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert check(data) == check(data)


def many(count: int) -> dict[str, str]:
    head = "outstep: contract/v1\ntools: {pay: {}}\n"
    rule = "  - {id: R%d, for: call pay, require: args.x == %d}\n"
    lets = ", ".join(f"n{n}: args.x" for n in range(150))
    return {
        "rules": head + "rules:\n" + "".join(rule % (n, n) for n in range(count)),
        "mistakes": head
        + "rules:\n"
        + "".join(f"  - {{id: R{n}, for: call pay, require: ars.x == {n}}}\n" for n in range(count)),
        "lets": f"{head}rules:\n  - for: call pay\n    let: {{{lets}}}\n    rules:\n"
        + "".join(f"      - {{id: R{n}, let: {{own{n}: n1}}, require: own{n} == 1}}\n" for n in range(count // 4)),
        "facts": head
        + "facts:\n"
        + "".join(f"  f{n}: {{from: ok result pay, value: data.x}}\n" for n in range(min(count // 2, 900)))
        + "rules: [{id: R, for: message, require: f1 == 1}]\n",
        "quotes": head
        + "rules:\n"
        + "".join(f"  - {{id: R{n}, for: call pay, require: args.x[0] == 1}}\n" for n in range(count)),
        "unknown keys": "outstep: contract/v1\n" + "".join(f"kez{n}: 1\n" for n in range(count)),
        "tools": head[:21]
        + "tools:\n"
        + "".join(f"  tool{n}: {{}}\n" for n in range(count // 2))
        + "rules:\n"
        + "".join(f"  - {{id: R{n}, never: call tol{n}}}\n" for n in range(count)),
        "nested": head + "rules:\n  - {id: R, for: call pay, require: " + "(" * count + "}\n",
        "flow": head + "rules: " + "[" * count,
        "braces": head
        + "rules:\n  - {id: R, for: call pay, require: args.x == 1, message: '"
        + "{args.x}" * count
        + "'}\n",
        "quote": head + "rules:\n  - {id: R, for: call pay, require: '" + "''" * count,
    }


@pytest.mark.parametrize("kind", list(many(4)))
def test_time_grows_with_the_text_and_not_faster(kind: str) -> None:
    def cost(count: int) -> float:
        data = many(count)[kind].encode()
        start = process_time()
        check(data)
        return process_time() - start

    cost(40)
    small, large = min(cost(400) for _ in range(2)), cost(1600)
    assert large < 0.5 or large < 10 * max(small, 0.02), (small, large)
