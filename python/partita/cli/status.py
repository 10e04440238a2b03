"""Says how far a run is: its state, its open paths, and the share of the tree explored."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from partita import journal
from partita.results import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the folder of a run")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder)
    contents = journal.read(folder)
    counts = contents.counts
    state = "running" if journal.is_running(folder) else "interrupted" if counts.open else "complete"
    if state == "complete" and not counts.complete:
        state = "ended, explored incompletely"
    data = {
        "schema": journal.SCHEMA,
        "state": state,
        "program": contents.head["names"],
        "open": counts.open,
        "explored": counts.explored,
        "paths": counts.ended,
        "tests": counts.tests,
        "damaged_bytes": contents.damaged,
    }
    if arguments.json:
        print(json.dumps(data))
        return 0
    print(f"{folder}: {' '.join(contents.head['names'])}: {state}")
    print(f"  paths     {counts.ended:,} ended, {counts.open:,} open")
    print(f"  explored  about {100 * counts.explored:.1f} % of the tree")
    print(f"  tests     {counts.tests:,}")
    if contents.damaged:
        print(f"  journal   {counted(contents.damaged, 'byte')} at the end or inside are damaged, the rest is used")
    if state == "interrupted":
        print(f"  go on with the same command and --resume {folder}")
    return 0
