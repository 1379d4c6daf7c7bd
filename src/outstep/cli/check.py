"""`outstep check`: hold recorded traces against contracts, and gate on it.

docs: docs/cli.md#check
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, chosen, paths_of, read_param
from outstep.cli.imports import say_imports
from outstep.cli.output import STDOUT, Output, check_not_read, read_outputs, write_all
from outstep.contracts.model import Contract
from outstep.errors import OutstepError, problem
from outstep.findings import Report
from outstep.render import NAMES, SHOWING
from outstep.render.style import Style
from outstep.workflow.checking import CheckOptions, check_paths, failed
from outstep.workflow.contracts import open_contracts
from outstep.workflow.gating import ALLOWABLE, EXIT
from outstep.workflow.judging import Judged

if TYPE_CHECKING:
    from outstep.adapters.discover import Group
    from outstep.cli.progress import Progress
    from outstep.evidence.signing import SigningKey
    from outstep.render.timelines import Timeline

DESCRIPTION = """hold recorded traces against contracts, and gate on it

exit codes: 0 every block-level rule is decided and none violated · 1 a block-level violation
            2 something could not be checked · 3 a block-level rule cannot be decided"""


def run(words: Sequence[str]) -> int:
    """Check, write the reports and return the exit code."""
    given = _parser().read(words)
    outputs = read_outputs(given.output or (), is_json=given.json)
    settings = _settings(given)
    check_not_read(outputs, [*settings["paths"], *settings["contract"]])
    key = _attesting(given, outputs, settings)
    imports: list[Judged] = []
    met: list[Group] | None = [] if any(output.format in SHOWING for output in outputs) else None
    report = _checked(settings, given, outputs, imports, met)
    note = ""
    if given.baseline is not None:
        from outstep.cli.baseline import held_against, told

        held = held_against(report, given.baseline)
        report, note = held.report, told(held, Style(language=given.lang or os.environ.get("OUTSTEP_LANG") or "en"))
    say_imports(imports, verbose=given.verbose)
    console.say_problems((*report.faults, *report.warnings), given.lang)
    timelines = _timelines(met, report, settings) if met else ()
    unwritten = write_all(report, outputs, lambda output: _style(output, given), timelines)
    console.say_problems(unwritten)
    code = EXIT["error"] if unwritten else report.exit_code
    if note:
        console.say(note)
    if key is not None:
        from outstep.cli.attest import attest

        unattested = attest(report, given.attest, key, settings["contract"], settings["param"])
        console.say_problems(unattested)
        code = EXIT["error"] if unattested else code
    return code


def _attesting(given: Given, outputs: Sequence[Output], settings: dict[str, Any]) -> SigningKey | None:
    """Return the key that signs what the gate will say, or none where nobody asked for it."""
    if given.attest is None:
        if given.key is not None:
            raise problem("usage/arguments", "`--key` signs an attestation", help="say where it goes: --attest FILE")
        return None
    from outstep.cli.attest import key_of

    check_not_read([Output("attestation", given.attest)], [*settings["paths"], *settings["contract"]])
    check_not_read([Output("attestation", given.attest)], [output.file for output in outputs])
    return key_of(given)


def _parser() -> Arguments:
    parser = Arguments("check", DESCRIPTION)
    parser.words("paths", metavar="PATH", help="files, folders, patterns, or - for stdin")
    parser.value("--last", metavar="HARNESS", help="also the newest session of a harness on this machine: dsh")
    parser.values("-c", "--contract", metavar="FILE|PACK", help="a contract, or a bundled pack by name")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.flag("--json", help="the same as --output json=-")
    parser.values("--output", metavar="FORMAT=FILE", help=f"{', '.join(NAMES)}; - is stdout")
    parser.value(
        "--baseline", metavar="FILE", help="fail on what it does not know: new findings, or less that was checked"
    )
    parser.value(
        "--attest", metavar="FILE", help="write a signed statement of the result (in-toto, in a DSSE envelope)"
    )
    parser.value("--key", metavar="FILE", help="the private key for --attest (else OUTSTEP_SIGNING_KEY)")
    parser.value("--fail-on", metavar="LEVEL", help="block (default), or warn: warnings block, too")
    parser.values("--allow", metavar="REASON", help=f"accept a reason of being undecided: {ALLOWABLE[0]}")
    parser.switch("--require-exercised", help="a block rule that nothing triggered blocks")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.number("-j", "--jobs", metavar="N", help="judge with N processes (0: one for each processor)")
    parser.value("--lang", metavar="LANG", help="language of messages and built-in sentences (en, zh, …; OUTSTEP_LANG)")
    parser.flag("--no-cache", help="check the contract anew")
    parser.flag("--no-config", help="read no outstep.toml and no pyproject.toml")
    parser.flag("-v", "--verbose", help="show every import line and every observed finding")
    return parser


def _settings(given: Given) -> dict[str, Any]:
    """Return what was asked for: by options first, else by the configuration, else by default."""
    config: dict[str, Any] = {}
    if not given.no_config:
        from outstep.cli.config import find_config

        config = find_config(os.getcwd())
    paths = paths_of(given) or config.get("paths", [])
    contracts = given.contract or config.get("contract", [])
    if not contracts:
        raise problem(
            "usage/no-contract",
            "no contract was named",
            help="name a file or a pack: --contract my-agent.yaml, --contract refund",
        )
    if not paths:
        raise problem("usage/no-paths", "no trace was named", help="name files, folders or patterns, or - for stdin")
    told = {name: _first(getattr(given, name), config.get(name), default) for name, default in _DEFAULTS.items()}
    if told["format"] in NAMES:
        raise problem(
            "usage/arguments",
            f"`{told['format']}` is a format of reports, and `--format` is that of the traces",
            help=f"write --output {told['format']}=FILE; outstep adapters lists the formats of traces",
        )
    params = {**config.get("param", {}), **dict(map(read_param, given.param or ()))}
    return {**told, "paths": list(paths), "contract": list(contracts), "param": params}


_DEFAULTS: dict[str, Any] = {
    "format": None,
    "fail_on": "block",
    "allow": [],
    "require_exercised": False,
    "unpinned": False,
    "complete": False,
    "jobs": 1,
}


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _checked(
    settings: dict[str, Any],
    given: Given,
    outputs: Sequence[Output],
    imports: list[Judged],
    met: list[Group] | None,
) -> Report:
    """Return the report; a check that cannot begin gives one, too."""
    cache = None if given.no_cache else cache_folder()
    try:
        contracts, warnings = open_contracts(settings["contract"], params=settings["param"], cache=cache)
    except OutstepError as error:
        return failed(error.problems)
    check_not_read(outputs, [source for contract in contracts for source in contract.sources])
    options = CheckOptions(
        format=settings["format"],
        unpinned=settings["unpinned"],
        complete=settings["complete"],
        fail_on=chosen("--fail-on", settings["fail_on"], ("block", "warn")),  # type: ignore[arg-type]
        allow=tuple(dict.fromkeys(chosen("--allow", reason, ALLOWABLE) for reason in settings["allow"])),
        require_exercised=settings["require_exercised"],
        jobs=_processes(settings["jobs"]),
        today=_today() if any(contract.waivers for contract in contracts) else None,
        language=_language(given.lang or os.environ.get("OUTSTEP_LANG") or "en", contracts),
    )
    progress = _progress()
    try:
        return check_paths(
            settings["paths"],
            contracts,
            options,
            warnings=warnings,
            stdin=sys.stdin.buffer if sys.stdin is not None else None,
            told=imports.append,
            pulse=progress.step if progress is not None else None,
            met=met,
        )
    except OutstepError as error:
        return failed(error.problems)
    finally:
        if progress is not None:
            progress.close()


def _progress() -> Progress | None:
    """Return what shows a person how far a check has come; none where no one sits."""
    if not console.is_terminal(sys.stderr):
        return None
    from outstep.cli.progress import Progress

    return Progress(sys.stderr)


def _language(name: str, contracts: Sequence[Contract]) -> str:
    """Return a language that messages can be in; raises `OutstepError` for one that nothing here speaks."""
    if name == "en" or any(name in rule.message for contract in contracts for rule in contract.rules):
        return name
    from outstep.expr.words import LANGUAGES

    spoken = (word for contract in contracts for rule in contract.rules for word in rule.message)
    return chosen("--lang", name, tuple(dict.fromkeys((*LANGUAGES, *spoken))))


def _processes(jobs: int) -> int:
    if jobs < 0:
        raise problem("usage/arguments", f"`--jobs {jobs}` is no number of processes", help="give a number from 0 on")
    return jobs or os.cpu_count() or 1


def _today() -> Any:
    from datetime import date

    return date.today()


def cache_folder() -> str | None:
    """Return where checked contracts are kept, or none where the user has no home."""
    if named := os.environ.get("OUTSTEP_CACHE_DIR"):
        return named
    base = os.environ.get("XDG_CACHE_HOME") or ""
    folder = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    return None if folder.startswith("~") else os.path.join(folder, "outstep")


def _timelines(met: Sequence[Group], report: Report, settings: dict[str, Any]) -> Sequence[Timeline]:
    """Return what happened in the traces, read once more."""
    from outstep.adapters.base import Options
    from outstep.workflow.timelining import collect

    return collect(met, report, Options(unpinned=settings["unpinned"], complete=settings["complete"]))


def _style(output: Output, given: Given) -> Style:
    is_for_eyes = output.file == STDOUT
    return Style(
        colour=is_for_eyes and console.is_coloured(sys.stdout),
        columns=console.columns(sys.stdout, 160) if is_for_eyes else 160,
        verbose=given.verbose,
        language=given.lang or os.environ.get("OUTSTEP_LANG") or "en",
    )
