"""Writes the report of a run: one HTML page with bugs, coverage, queries and tests.

The page is self-contained. Sources are read from their paths at the time of the run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from partita.reports import html


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write (default: DIR/report.html)")


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    out = Path(arguments.output) if arguments.output else folder / "report.html"
    html.write(folder, out)
    print(f"report in {out}")
    return 0
