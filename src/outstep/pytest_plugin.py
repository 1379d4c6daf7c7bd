"""The pytest plugin: a fixture that checks what an agent did, and recorded traces as tests.

Nothing of Outstep is imported before a test or an option asks for it.
docs: docs/pytest.md
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from outstep.findings import Report
    from outstep.workflow.api import Contracts, Traces
    from outstep.workflow.recorder import Recorder
    from outstep.workflow.trace_tests import TraceTest, TraceTests

MARKER = "outstep(contract, **options): the contract, and options of `outstep.check`, that the fixture `outstep` uses"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration."""
    group = parser.getgroup("outstep", "recorded traces of agents as tests")
    group.addoption(
        "--outstep-contract",
        action="append",
        default=[],
        metavar="FILE|PACK",
        help="collect the recorded traces among the paths, each as a test that holds it against this contract",
    )
    group.addoption(
        "--outstep-param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the contract, as JSON",
    )
    group.addoption("--outstep-fail-on", choices=("block", "warn"), default="block", help="the lowest level that fails")
    group.addoption("--outstep-format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.addini("outstep_contract", "contracts for recorded traces, as `--outstep-contract`", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def outstep(request: pytest.FixtureRequest) -> Checker:
    """Checks what an agent did: `outstep.check(trace, "refund.yaml")`, and records it: `outstep.recorder()`."""
    marker = request.node.get_closest_marker("outstep")
    options = dict(marker.kwargs) if marker is not None else {}
    contract = marker.args[0] if marker is not None and marker.args else options.pop("contract", None)
    return Checker(contract, options)


class Checker:
    """What the fixture `outstep` gives."""

    def __init__(self, contract: Contracts | None, options: Mapping[str, Any]) -> None:
        self._contract = contract
        self._options = options

    def check(self, traces: Traces | Recorder, contract: Contracts | None = None, **options: Any) -> Report:
        """Hold traces against a contract, and fail the test with the report if the gate does not pass.

        Takes what `outstep.check` takes, and a recorder; without a contract, that of the marker.
        """
        __tracebackhide__ = True
        report = self.report(traces, contract, **options)
        if not report.passed:
            from outstep.workflow.trace_tests import shown

            raise AssertionError(shown(report))
        return report

    def report(self, traces: Traces | Recorder, contract: Contracts | None = None, **options: Any) -> Report:
        """Return the report, whatever it says."""
        __tracebackhide__ = True
        from outstep.workflow.api import check
        from outstep.workflow.recorder import Recorder

        chosen = contract if contract is not None else self._contract
        if chosen is None:
            raise pytest.UsageError(
                'no contract: outstep.check(trace, "refund.yaml"), or @pytest.mark.outstep("refund.yaml")'
            )
        given = traces.traces if isinstance(traces, Recorder) else traces
        return check(given, chosen, **{**self._options, **options})

    def recorder(self, **about: Any) -> Recorder:
        """Return a recorder for an agent that runs in this test; `about`: `id`, `harness`, `model`."""
        from outstep.workflow.recorder import Recorder

        return Recorder(**about)


# --- recorded traces as tests ---

_TESTS = pytest.StashKey["TraceTests | None"]()


def _trace_tests(config: pytest.Config) -> TraceTests | None:
    """Return the traces among the paths of this run, read once; none where no contract was named."""
    if _TESTS not in config.stash:
        config.stash[_TESTS] = None
        contracts = [*config.getoption("--outstep-contract"), *config.getini("outstep_contract")]
        if contracts:
            config.stash[_TESTS] = _read(config, contracts)
    return config.stash[_TESTS]


def _read(config: pytest.Config, contracts: Sequence[str]) -> TraceTests:
    from outstep.errors import OutstepError
    from outstep.workflow.trace_tests import TraceTests, told

    here = config.invocation_params.dir
    paths = dict.fromkeys(str(word).partition("::")[0] for word in config.args)
    found = [os.path.join(here, path) for path in paths if not path.endswith((".py", ".pyc"))]
    try:
        return TraceTests(
            [os.path.relpath(path) for path in found if os.path.exists(path)],
            [_contract(contract, config) for contract in contracts],
            params=config.getoption("--outstep-param"),
            fail_on=config.getoption("--outstep-fail-on"),
            format=config.getoption("--outstep-format"),
        )
    except OutstepError as error:
        raise pytest.UsageError(told(error.problems)) from None


def _contract(name: str, config: pytest.Config) -> str:
    """Return a contract as it is found: from where pytest was called, else from the root of the project."""
    from outstep.workflow.contracts import is_pack

    if is_pack(name):
        return name
    called = config.invocation_params.dir / name
    return os.path.relpath(called if called.exists() else config.rootpath / name)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file in which traces were found."""
    if file_path.suffix in {".py", ".pyc"}:
        return None
    tests = _trace_tests(parent.config)
    if tests is None:
        return None
    own = tests.of(os.fspath(file_path))
    return TraceFile.from_parent(parent, path=file_path, tests=own) if own else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to be green on nothing: a contract was named, and there is no trace."""
    tests = _trace_tests(session.config)
    if tests is None or session.config.getoption("--collect-only"):
        return
    from outstep.workflow.trace_tests import told

    if tests.faults:
        raise pytest.UsageError(told(tests.faults))
    if not tests.count and session.config.getoption("--outstep-contract"):
        raise pytest.UsageError(
            "--outstep-contract was given, and no recorded trace is among the paths: nothing was checked"
        )


class TraceFile(pytest.File):
    """A file in which recorded traces begin."""

    def __init__(self, *, tests: Sequence[TraceTest], **rest: Any) -> None:
        super().__init__(**rest)
        self._tests = tests

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one test a trace."""
        for test in self._tests:
            yield TraceItem.from_parent(self, name=test.name, test=test)


class TraceItem(pytest.Item):
    """One recorded trace, held against the contracts."""

    def __init__(self, *, test: TraceTest, **rest: Any) -> None:
        super().__init__(**rest)
        self._test = test

    def runtest(self) -> None:
        """Judge the trace."""
        report = self._test.report()
        if not report.passed:
            from outstep.workflow.trace_tests import shown

            raise NotPassed(shown(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the report, and no traceback of ours."""
        if isinstance(excinfo.value, NotPassed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the trace is, and what it is called."""
        return self.path, None, f"trace {self.name}"


class NotPassed(Exception):
    """The gate does not pass; the text is the report."""
