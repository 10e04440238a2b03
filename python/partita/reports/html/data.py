"""The data of a run that the sections of the page are made of."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from partita import ktest
from partita.findings import is_system_header, root_of_run
from partita.reports.folder import Covered, read_coverage, read_run, read_slowest, read_stacks, read_tree
from partita.reports.html.links import Links
from partita.results import Frame

# Number of tests on the page, so that browsers stay fast. Tests of bugs are shown with the bugs.
MAX_TESTS = 2_000


@dataclass(frozen=True)
class RunData:
    """Files of a run, read."""

    run: dict[str, Any]
    """`run.json`."""
    coverage: dict[str, Covered]
    """By source file, sorted by name; also files of which only bugs are known."""
    links: Links
    """To lines of the source."""
    written: float
    """Time at which the run ended, as files have it."""
    tests: list[ktest.Test]
    """The first tests."""
    tests_of_bugs: dict[str, ktest.Test]
    """By their names."""
    stacks: dict[int, tuple[Frame, ...]]
    """Call stacks by the numbers of tests."""
    tree: dict[str, Any] | None
    """`tree.json`."""
    slowest: list[dict[str, Any]] | None
    """The slowest queries."""


def read(folder: Path) -> RunData:
    """Reads the folder of a run."""
    run = read_run(folder)
    coverage = read_coverage(folder)
    for bug in run["bugs"]:
        if bug["line"] and not is_system_header(bug["file"]):
            coverage.setdefault(bug["file"], Covered())
    coverage = dict(sorted(coverage.items()))
    names_of_bugs = {f"test{bug['test']:06}" for bug in run["bugs"] if bug["test"] is not None}
    found = ktest.read_folder(folder)
    first = list(islice(found, MAX_TESTS))
    tests_of_bugs = {Path(test.name).stem: test for test in first if Path(test.name).stem in names_of_bugs}
    for name in names_of_bugs - set(tests_of_bugs):
        # The first test of a bug is a file, however many tests there are.
        if (folder / f"{name}.ktest").is_file():
            tests_of_bugs[name] = ktest.read(folder / f"{name}.ktest")
    if names_of_bugs - set(tests_of_bugs):
        # Runs of older versions have them in the pack only.
        others = {Path(test.name).stem: test for test in found}
        tests_of_bugs |= {name: others[name] for name in names_of_bugs & set(others)}
    return RunData(
        run=run,
        coverage=coverage,
        links=Links(coverage, root_of_run(folder)),
        written=(folder / "run.json").stat().st_mtime,
        tests=first,
        tests_of_bugs=tests_of_bugs,
        stacks=read_stacks(folder),
        tree=read_tree(folder),
        slowest=read_slowest(folder),
    )
