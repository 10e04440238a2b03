"""Manages the answers kept from earlier runs: stats, clear or export.

`export` writes JSON lines, one per answer, with the query as an SMT-LIB script.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from partita import _core
from partita.errors import UsageError
from partita.results import counted
from partita.store import DEFAULT, default_path

SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", choices=["stats", "clear", "export"])
    parser.add_argument("--store", metavar="PATH", default=DEFAULT, help="file of the store (default: the user's own)")
    parser.add_argument("--json", action="store_true", help="print the statistics as JSON")


def run(arguments: argparse.Namespace) -> int:
    path = default_path() if arguments.store == DEFAULT else Path(arguments.store)
    if not path.exists():
        raise UsageError(f"there is no store at `{path}`: `partita run` creates it for queries that take long")
    try:
        if arguments.action == "stats":
            stats(path, arguments.json)
        elif arguments.action == "clear":
            print(f"{counted(_core.store_clear(path), 'answer')} removed from {path}")
        else:
            export(path)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return 0


def stats(path: Path, as_json: bool) -> None:
    contents = _core.store_contents(path)
    if as_json:
        print(json.dumps({"schema": SCHEMA, "path": str(path), **contents}))
        return
    print(f"{path}: {contents['bytes'] / 2**20:.1f} MB")
    print(f"answers  {contents['sat'] + contents['unsat']:,}: {contents['sat']:,} sat, {contents['unsat']:,} unsat")
    print(f"solving  {contents['cost_s']:.3f} s")


def export(path: Path) -> None:
    def write(row: dict[str, Any]) -> None:
        print(json.dumps({"schema": SCHEMA, **row}))

    damaged = _core.store_export(path, write)
    if damaged:
        print(f"partita: warning: {counted(damaged, 'damaged answer')} skipped", file=sys.stderr)
