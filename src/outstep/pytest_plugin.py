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
    from outstep.workflow.suite_reports import Output
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
    group.addoption(
        "--outstep-output",
        action="append",
        default=[],
        metavar="FORMAT=FILE",
        help="write all that the tests check as one report: json, junit, html, … (as `outstep check --output`)",
    )
    parser.addini("outstep_contract", "contracts for recorded traces, as `--outstep-contract`", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and look whether the reports can be written."""
    config.addinivalue_line("markers", MARKER)
    texts = config.getoption("--outstep-output")
    if texts:
        from outstep.errors import OutstepError
        from outstep.workflow.suite_reports import read_outputs
        from outstep.workflow.trace_tests import told

        try:
            outputs = read_outputs(texts)
        except OutstepError as error:
            raise pytest.UsageError(told(error.problems)) from None
        # Under xdist the workers judge, and what they say of each test comes home with its result.
        is_worker = hasattr(config, "workerinput")
        config.pluginmanager.register(Reports(outputs, is_worker=is_worker), "outstep-reports")


@pytest.fixture
def outstep(request: pytest.FixtureRequest) -> Checker:
    """Checks what an agent did: `outstep.check(trace, "refund.yaml")`, and records it: `outstep.recorder()`."""
    marker = request.node.get_closest_marker("outstep")
    options = dict(marker.kwargs) if marker is not None else {}
    contract = marker.args[0] if marker is not None and marker.args else options.pop("contract", None)
    return Checker(contract, options, request.node)


class Checker:
    """What the fixture `outstep` gives."""

    def __init__(self, contract: Contracts | None, options: Mapping[str, Any], node: pytest.Item | None = None) -> None:
        self._contract = contract
        self._options = options
        self._node = node

    def check(self, traces: Traces | Recorder, contract: Contracts | None = None, **options: Any) -> Report:
        """Hold traces against a contract, and fail the test with the report if the gate does not pass.

        Takes what `outstep.check` takes, and a recorder; without a contract, that of the marker.
        """
        __tracebackhide__ = True
        report = self.report(traces, contract, **options)
        if self._node is not None:
            _keep(self._node, report)
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
        _keep(self, report)
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


# --- reports of all that was checked ---

_REPORTS = pytest.StashKey["list[str]"]()
_CARRIED = "outstep_reports"
"""Of the result of a test, which pytest-xdist takes from the worker to where the reports are written."""


def _keep(item: pytest.Item, report: Report) -> None:
    """Keep what a test checked, where reports are to be written."""
    if item.config.getoption("--outstep-output"):
        from outstep.workflow.suite_reports import carried

        item.stash.setdefault(_REPORTS, []).append(carried(report))


class Reports:
    """Gathers what all tests checked, and writes it at the end."""

    def __init__(self, outputs: Sequence[Output], *, is_worker: bool) -> None:
        self._outputs = outputs
        self._is_worker = is_worker
        self._by_test: dict[str, list[str]] = {}
        self._said = ""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Let the result of a test carry what the test has checked so far."""
        outcome: Any = yield
        setattr(outcome.get_result(), _CARRIED, item.stash.get(_REPORTS, []))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test checked; the last run of a test counts."""
        if report.when == "setup":
            self._by_test.pop(report.nodeid, None)
        carried = getattr(report, _CARRIED, ())
        if carried:
            self._by_test[report.nodeid] = list(carried)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports, in the order of the names of the tests, whichever came first."""
        if self._is_worker or session.config.getoption("--collect-only"):
            return
        from outstep.errors import OutstepError
        from outstep.workflow.suite_reports import write
        from outstep.workflow.trace_tests import told

        texts = [text for name in sorted(self._by_test) for text in self._by_test[name]]
        try:
            report = write(texts, self._outputs, session.config.invocation_params.dir)
        except OutstepError as error:
            self._said = told(error.problems)
            session.exitstatus = max(session.exitstatus, pytest.ExitCode.TESTS_FAILED)
            return
        files = ", ".join(output.file for output in self._outputs)
        self._said = f"outstep: {report.gate} (exit code {report.exit_code}), written to {files}"
        if not texts and session.exitstatus == pytest.ExitCode.OK:
            self._said += ": no test held a trace against a contract"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say where the reports are."""
        if self._said:
            terminalreporter.write_line(self._said)
