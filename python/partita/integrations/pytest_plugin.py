"""A plugin for pytest that explores C programs: `pip install 'partita[pytest]'`, then in the ini file

    partita_files = tests/*.c

A file with `main` or a fuzz target is one test. In any other file each function that begins with one of
`partita_functions` (default `test_` and `check_`) is a test, started with symbolic parameters. A test fails if a bug is
found. `partita_options` has options of `partita run` for all of them, and with `partita_complete = true` a test fails
too if something was not explored. Without `partita_files` the plugin does nothing, and imports nothing of Partita.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from partita.explore import Run

FUNCTIONS = ["test_", "check_"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("partita_files", "patterns of C files that are explored as tests", type="args", default=[])
    parser.addini(
        "partita_functions", "beginnings of the names of functions that are tests", type="args", default=FUNCTIONS
    )
    parser.addini("partita_options", "options of `partita run` for these tests", type="args", default=[])
    parser.addini("partita_complete", "fail if something was not explored", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    patterns = parent.config.getini("partita_files")
    if file_path.suffix not in (".c", ".i") or not patterns:
        return None
    root = parent.config.rootpath
    relative = file_path.relative_to(root) if file_path.is_relative_to(root) else file_path
    if any(relative.match(pattern) for pattern in patterns):
        found: pytest.File = CFile.from_parent(parent, path=file_path)
        return found
    return None


class FoundBugs(Exception):  # noqa: N818 - it is a result, not an error of ours
    """The bugs of a program, as lines of text."""


class CFile(pytest.File):
    """A C file: one test, or one for each function."""

    def collect(self) -> Iterator[pytest.Item]:
        from partita.entry import FUZZ_TARGET
        from partita.errors import UsageError
        from partita.frontends import function_names

        try:
            defined = function_names([str(self.path)], cflags=self.options().get("cflags", ()))
        except UsageError as error:
            raise self.CollectError(str(error)) from None
        whole = [name for name in ("main", FUZZ_TARGET) if name in defined]
        prefixes = tuple(self.config.getini("partita_functions"))
        for name in whole[:1] or [name for name in defined if name.startswith(prefixes)]:
            yield CItem.from_parent(self, name=name)

    def options(self) -> dict[str, Any]:
        """Options of `explore()` from those of the command in the ini file."""
        from partita import options
        from partita.cli import make_parser, with_dashed_values

        words = ["run", *self.config.getini("partita_options"), str(self.path)]
        return options.keywords(make_parser(["run"]).parse_args(with_dashed_values(words)))


class CItem(pytest.Item):
    """The exploration of one program or function."""

    parent: CFile

    def runtest(self) -> None:
        from partita.errors import UsageError
        from partita.explore import explore
        from partita.reports.text import bug_lines

        given = {**self.parent.options(), "out": None}
        if self.name != "main":
            given["entry"] = self.name
        try:
            run = explore(str(self.path), **given).finish()
        except UsageError as error:
            raise FoundBugs(str(error)) from None
        if run.bugs:
            raise FoundBugs("\n".join(line for bug in run.bugs for line in bug_lines(bug)))
        if self.config.getini("partita_complete") and not run.complete:
            raise FoundBugs(f"explored incompletely: {_reasons(run)}")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, FoundBugs):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.path.name}: {self.name}"


def _reasons(run: Run) -> str:
    data = run.summary()
    rows = [f"{row['where']}: {row['why']}" for row in data["incomplete"]]
    return "; ".join(([f"stopped by {data['stopped']}"] if data["stopped"] else []) + rows)
