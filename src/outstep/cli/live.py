"""What `outstep run` does without `--dry`: make runs, and say what they show.

docs: docs/live.md
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, read_param
from outstep.errors import OutstepError, Place, problem

if TYPE_CHECKING:
    from outstep.battery.model import Battery
    from outstep.workflow.live.record import LiveRun
    from outstep.workflow.live.series import Asked, Done
    from outstep.workflow.live.summary import Row, Summary


def live_options(parser: Arguments) -> None:
    """Take the options of live runs."""
    parser.value("--base-url", metavar="URL", help="the endpoint, where it is not the provider's own")
    parser.value("-o", "--out", metavar="DIR", help="the results folder (default runs/BATTERY-MODEL)")
    parser.values("-s", "--scenario", metavar="ID", help="run only this scenario; repeatable")
    parser.number("-n", "--epochs", metavar="N", help="how often each scenario is run (default: as the battery says)")
    parser.number("-j", "--concurrency", metavar="N", help="runs at a time (default 8)")
    parser.number("--seed", metavar="N", help="what the seeds of all runs are made from (default 0)")
    parser.values("--set", metavar="NAME=VALUE", help="a parameter of every request, as temperature=0.7; repeatable")
    parser.value("--system", metavar="FILE", help="the system prompt; an empty file: none")
    parser.flag("--stream", help="ask for streamed responses")
    parser.value("--world", metavar="MODULE:FUNCTION", help="makes the world of a run from its scenario and seed")
    parser.flag("--resume", help="make what is missing in the results folder")
    parser.flag("--again", help="with --resume: make anew what the provider or a crash ended, too")
    parser.number("--max-turns", metavar="N", help="model responses of a run (default 20)")
    parser.number("--max-tokens", metavar="N", help="tokens of a run, read and written (default: no limit)")
    parser.number("--call-timeout", metavar="SECONDS", help="for one response (default 60)")
    parser.number("--run-timeout", metavar="SECONDS", help="for one run (default 600)")
    parser.number("--retries", metavar="N", help="how often an unanswered request is sent again (default 4)")
    parser.value("--price", metavar="IN/OUT", help="of a million tokens read and written, as 0.3/1.2")
    parser.value("--max-cost", metavar="AMOUNT", help="begin no more runs once this is spent; needs --price")


def run_live(given: Given, battery: Battery, model: str) -> int:
    """Make the runs and return the exit code."""
    from outstep.workflow.live.series import run_series
    from outstep.workflow.live.summary import summary_of

    asked = _asked(given, battery, model)
    ticker = Ticker(sys.stderr)
    done = run_series(asked, os.environ, ticker.step)
    ticker.close()
    summary = summary_of(battery, asked.out, model)
    _say(done, asked)
    if summary.containment is not None:
        _write_containment(asked.out, summary)
    if given.json:
        from outstep.render.values import pretty

        console.put(pretty(_values(done, summary)))
    else:
        console.put("\n".join(_lines(done, summary, asked)) + "\n")
    console.flush()
    if not done.is_whole:
        return 130
    missing = done.planned - done.there - done.series.made
    return 2 if missing and summary.code != 1 else summary.code


class Ticker:
    """Shows how far the runs have come: on stderr, for a person only."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_on = console.is_terminal(stream)
        self._counts: dict[str, int] = {}

    def step(self, run: LiveRun) -> None:
        """Count one more run."""
        self._counts[run.status] = self._counts.get(run.status, 0) + 1
        if self._is_on:
            told = ", ".join(f"{many} {status}" for status, many in self._counts.items())
            self._stream.write(f"\r\x1b[K{sum(self._counts.values())} runs: {told} …")
            self._stream.flush()

    def close(self) -> None:
        """Leave no trace of it."""
        if self._is_on and self._counts:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _asked(given: Given, battery: Battery, model: str) -> Asked:
    from outstep.drivers import Limits
    from outstep.workflow.live.plan import SYSTEM
    from outstep.workflow.live.runner import Spending
    from outstep.workflow.live.series import Asked

    if given.again and not given.resume:
        raise problem("usage/arguments", "`--again` needs `--resume`", help="add --resume")
    read, written = _price(given.price)
    most = _amount("--max-cost", given.max_cost) if given.max_cost is not None else 0.0
    if most and given.price is None:
        raise problem("usage/arguments", "`--max-cost` needs `--price`", help="say what tokens cost: --price 0.3/1.2")
    standard = Limits()
    limits = Limits(
        turns=_at_least(1, "--max-turns", given.max_turns, standard.turns),
        tokens=_at_least(0, "--max-tokens", given.max_tokens, standard.tokens),
        call_seconds=_at_least(1, "--call-timeout", given.call_timeout, int(standard.call_seconds)),
        run_seconds=_at_least(1, "--run-timeout", given.run_timeout, int(standard.run_seconds)),
        retries=_at_least(0, "--retries", given.retries, standard.retries),
    )
    return Asked(
        battery=battery,
        model=model,
        out=given.out or os.path.join("runs", _plain(f"{battery.version}-{model}")),
        scenarios=tuple(given.scenario or ()),
        base_url=given.base_url or "",
        epochs=_at_least(0, "--epochs", given.epochs, 0),
        seed=given.seed or 0,
        system=SYSTEM if given.system is None else _text(given.system),
        parameters=dict(_parameters(given.set or [])),
        limits=limits,
        stream=bool(given.stream),
        concurrency=_at_least(1, "--concurrency", given.concurrency, 8),
        resume=bool(given.resume),
        again=bool(given.again),
        world=given.world or "",
        spending=Spending(read=read, written=written, most=most),
    )


def _parameters(words: list[str]) -> Iterator[tuple[str, Any]]:
    from decimal import Decimal

    for word in words:
        try:
            name, value = read_param(word)
        except OutstepError:
            help = "write --set NAME=VALUE, as --set temperature=0.7"
            raise problem("usage/arguments", f"`--set {word}` names no value", help=help) from None
        yield name, float(value) if isinstance(value, Decimal) else value


def _price(text: str | None) -> tuple[float, float]:
    if text is None:
        return 0.0, 0.0
    read, sign, written = text.partition("/")
    if not sign:
        help = "write two prices of a million tokens, read and written: --price 0.3/1.2"
        raise problem("usage/arguments", f"`--price {text}` is one price", help=help)
    return _amount("--price", read), _amount("--price", written)


def _amount(option: str, text: str) -> float:
    whole, _, part = text.partition(".")
    if not (whole + part).isascii() or not (whole + part).isdecimal() or len(text) > 15:
        raise problem("usage/arguments", f"`{option} {text}` is no amount", help=f"write a number: {option} 1.5")
    return float(text)


def _at_least(least: int, option: str, value: int | None, otherwise: int) -> int:
    if value is None:
        return otherwise
    if value < least:
        raise problem("usage/arguments", f"`{option} {value}` is less than {least}", help="leave it out, or raise it")
    return value


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise problem(
            "usage/unreadable",
            f"`{file}` cannot be read: {error}",
            place=Place(source=file),
            help="--system names a text file with the system prompt",
        ) from None


def _plain(name: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name)


def _say(done: Done, asked: Asked) -> None:
    if done.interrupted:
        from outstep.render.wording import count

        runs = count(done.interrupted, "run")
        console.say(f"{runs} had been interrupted and began anew; what they had received is in {asked.out}/interrupted")
    if done.series.stopped:
        console.say(f"stopped: {done.series.stopped}")
    if not done.is_whole:
        console.say("interrupted; --resume makes the rest")


def _lines(done: Done, summary: Summary, asked: Asked) -> Iterator[str]:
    from outstep.render.escape import shown
    from outstep.render.style import Style
    from outstep.render.table import table
    from outstep.render.wording import count

    style = Style(colour=console.is_coloured(sys.stdout))
    there = sum(row.runs for row in summary.rows)
    yield style.paint(
        f"{shown(asked.model, 80)} in {shown(str(asked.battery.version), 80)}: {count(there, 'run')}", "bold"
    )
    yield ""
    head = ("scenario", "runs", "completed", "ended otherwise", "inside its bounds", "contracts", "violated")
    yield from table(head, [_cells(row) for row in summary.rows], style)
    yield ""
    if missing := done.planned - done.there - done.series.made:
        yield f"{count(missing, 'run')} of {done.planned} not made; --resume makes them"
    if retries := sum(row.retries for row in summary.rows):
        yield f"{count(retries, 'request')} sent again after no answer; each is in exchanges.ndjson"
    notes = sum((row.notes for row in summary.rows), start=type(summary.usage)())
    if notes:
        yield "noticed: " + ", ".join(f"{name} in {count(many, 'run')}" for name, many in sorted(notes.items()))
    read, written = summary.usage["input_tokens"], summary.usage["output_tokens"]
    cost = f", cost {asked.spending.amount(read, written):.4f}" if asked.spending.read or asked.spending.written else ""
    yield f"tokens: {read} read, {written} written{cost}"
    yield f"results: {shown(asked.out, 200)}"


def _cells(row: Row) -> list[str]:
    others = {status: many for status, many in sorted(row.statuses.items()) if status != "completed"}
    gates = {gate: many for gate, many in sorted(row.gates.items()) if gate}
    return [
        row.scenario,
        str(row.runs),
        str(row.statuses["completed"]),
        ", ".join(f"{many} {status}" for status, many in others.items()) or "-",
        row.verdict or "-",
        ", ".join(f"{many} {gate}" for gate, many in gates.items()) or "-",
        ", ".join(f"{rule} ({many})" for rule, many in sorted(row.violated.items())) or "-",
    ]


def _values(done: Done, summary: Summary) -> dict[str, Any]:
    return {
        "schema": "run-summary/v1",
        "model": done.plan.model,
        "planned": done.planned,
        "missing": done.planned - done.there - done.series.made,
        "stopped": done.series.stopped,
        "usage": dict(sorted(summary.usage.items())),
        "scenarios": [
            {
                "scenario": row.scenario,
                "runs": row.runs,
                "statuses": dict(sorted(row.statuses.items())),
                "verdict": row.verdict,
                "gates": dict(sorted(row.gates.items())),
                "violated": dict(sorted(row.violated.items())),
                "notes": dict(sorted(row.notes.items())),
                "retries": row.retries,
            }
            for row in summary.rows
        ],
        "exit_code": summary.code,
    }


def _write_containment(out: str, summary: Summary) -> None:
    from outstep.cli.output import write_whole
    from outstep.render.containment import json

    assert summary.containment is not None
    write_whole(os.path.join(out, "containment.json"), json(summary.containment), "name another folder with --out")
