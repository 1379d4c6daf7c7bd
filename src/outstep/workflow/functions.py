"""Functions that rules of the kind `python` name: found beside the contract file, else on the import path.

Only a check runs them. A contract that is read, linted or kept in a cache holds their names and nothing more, and they
are imported afresh by every process, from source that Python itself finds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from outstep.contracts.kinds import Python
from outstep.contracts.model import Contract, Rule
from outstep.engine.monitor import Compiled
from outstep.errors import OutstepError, Problem
from outstep.workflow.gating import place_of

Function = Callable[[Any], Any]


def ready(contract: Contract) -> Compiled:
    """Return a contract made ready to judge, with the functions that it names; raises `OutstepError`."""
    return Compiled(contract, load_functions(contract) if asks_functions(contract) else None)


def asks_functions(contract: Contract) -> bool:
    """Return whether a rule of a contract asks a Python function."""
    return any(isinstance(rule.kind, Python) for rule in contract.rules)


def load_functions(contract: Contract) -> dict[str, Function]:
    """Return the function of each rule of the kind `python`; raises `OutstepError` with every one that is not there."""
    functions: dict[str, Function] = {}
    problems: list[Problem] = []
    for rule in contract.rules:
        if isinstance(rule.kind, Python):
            try:
                functions[rule.id] = _load(rule.kind.function, _folder(contract, rule))
            except _NotThereError as error:
                place = place_of(contract, rule.spot)
                problems.append(Problem(code=error.code, sentence=error.sentence, place=place, help=error.help))
    if problems:
        raise OutstepError(*problems)
    return functions


def source_files(contract: Contract) -> tuple[str, ...]:
    """Return the files with the source of the functions of a contract, and of what these import beside it."""
    found: dict[str, None] = {}
    for rule in contract.rules:
        if isinstance(rule.kind, Python):
            module = rule.kind.function.partition(":")[0]
            _follow(module, _folder(contract, rule), found)
    return tuple(found)


MOST_FILES = 200
"""Source files that are followed from one contract."""


def _follow(module: str, folder: str | None, found: dict[str, None]) -> None:
    """Add the file of a module, and those of the modules beside the contract that it imports."""
    path = _path_beside(module, folder) if folder is not None else None
    if path is None:
        if module and not any(name.endswith(f"{os.sep}{module}.py") for name in found):
            path = _path_on_import_path(module)
        if path is not None:
            found[path] = None
        return
    if path in found or len(found) >= MOST_FILES:
        return
    found[path] = None
    for name in _imported(path):
        for parts in range(1, name.count(".") + 2):
            part = ".".join(name.split(".")[:parts])
            if _path_beside(part, folder) is not None:
                _follow(part, folder, found)


def _path_beside(module: str, folder: str | None) -> str | None:
    if folder is None:
        return None
    base = os.path.join(folder, *module.split("."))
    return next((path for path in (f"{base}.py", os.path.join(base, "__init__.py")) if os.path.isfile(path)), None)


def _path_on_import_path(module: str) -> str | None:
    """Return the file of a module without running it; a package that holds it is not looked into."""
    from importlib.util import find_spec

    try:
        spec = find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    if "." not in module:
        return spec.origin if spec.origin.endswith(".py") else None
    return _path_beside(module, os.path.dirname(os.path.dirname(spec.origin)))


def _imported(path: str) -> Iterator[str]:
    """Yield the names of the modules that a source file imports."""
    import ast

    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class _NotThereError(Exception):
    def __init__(self, code: str, sentence: str, help: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.help = code, sentence, help


def _folder(contract: Contract, rule: Rule) -> str | None:
    """Return the folder of the file in which a rule stands, or none for a contract that is no file."""
    name = contract.sources[rule.spot.file] if rule.spot.file < len(contract.sources) else ""
    if not name or name.startswith("pack:") or not os.path.isfile(name):
        return None
    return os.path.dirname(os.path.abspath(name))


def _load(named: str, folder: str | None) -> Function:
    module_name, _, name = named.partition(":")
    where = f"beside the contract in `{folder}`, nor on Python's import path" if folder else "on Python's import path"
    with _on_path(folder), _no_report():
        try:
            module = _beside(module_name, folder) or _on_import_path(module_name)
        except (Exception, SystemExit) as error:
            sentence = f"`{module_name}` cannot be imported: {type(error).__name__}: {error}"
            raise _NotThereError(
                "contract/function-import", sentence, "run it with Python itself to see where"
            ) from None
    if module is None:
        file = f"{module_name.replace('.', '/')}.py"
        raise _NotThereError(
            "contract/no-module", f"there is no module `{module_name}` {where}", f"put `{file}` beside the contract"
        )
    found = getattr(module, name, None)
    if not callable(found):
        sentence = f"`{module_name}` has no function `{name}`"
        raise _NotThereError("contract/no-function", sentence, _similar(name, module))
    return _Quiet(found, folder)


class _Quiet:
    """A function whose prints do not go into the report on stdout."""

    def __init__(self, function: Function, folder: str | None) -> None:
        self._function = function
        self._folder = folder
        self.reads = getattr(function, "reads", None)

    def __call__(self, trace: Any) -> Any:
        """Ask the function, and take all that it yields; an answer that is no list is handed on."""
        with _on_path(self._folder), _no_report():
            found = self._function(trace)
            if found is None or isinstance(found, str | bytes | tuple | dict):
                return found
            return list(_some(found))


def _some(found: Any) -> Iterator[Any]:
    """Yield what a function found, and no more than one beyond what is allowed."""
    from itertools import islice

    from outstep.contracts.kinds.python import MOST_FINDINGS

    yield from islice(found, MOST_FINDINGS + 1)


def _beside(name: str, folder: str | None) -> ModuleType | None:
    """Return the module that lies beside the contract, or none; two folders may each have one of that name."""
    if folder is None:
        return None
    import importlib.util

    path = _path_beside(name, folder)
    if path is None:
        return None
    if "." in name:
        # Python finds it by its packages: the folder stands first on the path.
        return _on_import_path(name)
    known = sys.modules.get(name)
    if known is not None and os.path.realpath(getattr(known, "__file__", None) or "") == os.path.realpath(path):
        return known
    from outstep.digest import sha256

    own = name if known is None else f"{name}_{sha256(folder.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"
    if own in sys.modules:
        return sys.modules[own]
    inner = [os.path.dirname(path)] if os.path.basename(path) == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(own, path, submodule_search_locations=inner)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[own]
        raise
    return module


def _on_import_path(name: str) -> ModuleType | None:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        parts = name.split(".")
        if error.name in {".".join(parts[: at + 1]) for at in range(len(parts))}:
            return None
        raise


@contextmanager
def _on_path(folder: str | None) -> Iterator[None]:
    """Let modules beside the contract import each other, for as long as it takes."""
    if folder is None:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


@contextmanager
def _no_report() -> Iterator[None]:
    """Send what is printed to stderr: stdout carries the report alone."""
    from contextlib import redirect_stdout

    with redirect_stdout(sys.stderr):
        yield


def _similar(name: str, module: ModuleType) -> str:
    from outstep.errors import suggestion

    known: Sequence[str] = [one for one in vars(module) if callable(getattr(module, one)) and not one.startswith("_")]
    return suggestion(name, tuple(known)) or "write `module:function`"


__all__ = ["asks_functions", "load_functions", "ready", "source_files"]
