"""Writes the tests of a run in the format of other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from partita.reports import testcomp


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("--format", choices=["testcomp"], required=True, help="testcomp: the XML of Test-Comp")
    parser.add_argument("-o", "--output", metavar="PATH", help="a new folder, or NAME.zip (default: DIR/testcomp)")
    parser.add_argument(
        "--specification",
        choices=sorted(testcomp.SPECIFICATIONS),
        default="branches",
        help="what the tests are for: branches (default), or the call of reach_error",
    )


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    out = Path(arguments.output) if arguments.output else folder / "testcomp"
    count = testcomp.export(folder, out, arguments.specification)
    print(f"{count:,} tests in {out}")
    return 0
