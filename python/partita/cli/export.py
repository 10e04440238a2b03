"""Exports the tests of a run to the format of another tool."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from partita.errors import UsageError
from partita.reports import ctest, junit, pytest_suite, sarif, seeds, testcomp
from partita.results import counted


@dataclass(frozen=True)
class Format:
    summary: str
    default: str
    """Name of the output in the run's folder, if there is no -o."""
    write: Callable[[Path, Path, argparse.Namespace], int]
    takes: tuple[str, ...] = ()
    """Options that apply to this format."""
    noun: str = "test"
    """Noun for the number of rows written."""


FORMATS = {
    "testcomp": Format(
        "the XML of Test-Comp",
        "testcomp",
        lambda folder, out, given: testcomp.export(folder, out, given.specification or "branches"),
        ("specification",),
    ),
    "junit": Format(
        "a JUnit report for build servers", "junit.xml", lambda folder, out, _given: junit.export(folder, out)
    ),
    "junit5": Format("a JUnit 5 class of a Java program", "junit5", lambda folder, out, _given: _junit5(folder, out)),
    "sarif": Format(
        "bugs in the format SARIF 2.1.0",
        "bugs.sarif",
        lambda folder, out, _given: sarif.export(folder, out),
        noun="bug",
    ),
    "seeds": Format("a corpus for fuzzers", "seeds", lambda folder, out, _given: seeds.export(folder, out)),
    "ctest": Format(
        "a CMake project that runs the tests",
        "ctest",
        lambda folder, out, given: ctest.export(folder, out, (given.cflags or "").split()),
        ("cflags",),
    ),
    "pytest": Format(
        "a Python file that runs the tests",
        "pytest",
        lambda folder, out, given: pytest_suite.export(folder, out, (given.cflags or "").split()),
        ("cflags",),
    ),
}


def _junit5(folder: Path, out: Path) -> int:
    from partita.reports import junit5  # needs the front end of Java

    return junit5.export(folder, out)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    summaries = "; ".join(f"{name}: {each.summary}" for name, each in FORMATS.items())
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("--format", choices=list(FORMATS), required=True, help=summaries)
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="the new folder (testcomp: or NAME.zip; junit, sarif: the new file) to write (default: in DIR)",
    )
    parser.add_argument(
        "--specification",
        choices=sorted(testcomp.SPECIFICATIONS),
        help="testcomp: coverage goal of the tests: branches (default), or error, the call of reach_error",
    )
    parser.add_argument("--cflags", metavar="FLAGS", help="ctest, pytest: flags for the compiler, as one argument")


def run(arguments: argparse.Namespace) -> int:
    chosen = FORMATS[arguments.format]
    for option in ("specification", "cflags"):
        if getattr(arguments, option) is not None and option not in chosen.takes:
            raise UsageError(f"--{option} does not apply to --format {arguments.format}")
    folder = Path(arguments.folder)
    out = Path(arguments.output) if arguments.output else folder / chosen.default
    count = chosen.write(folder, out, arguments)
    print(f"{counted(count, chosen.noun)} in {out}")
    return 0
