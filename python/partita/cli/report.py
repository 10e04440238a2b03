"""Writes a run as one HTML page: bugs, covered source, queries and tests.

The page needs nothing else, neither files nor a network. Sources are read from where the run found them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from partita.reports import html


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: DIR/report.html)")


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    out = Path(arguments.output) if arguments.output else folder / "report.html"
    html.write(folder, out)
    print(f"report in {out}")
    return 0
