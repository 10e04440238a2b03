"""Manages the answers kept from earlier runs: stats, clear or export.

`export` writes JSON lines, one per answer, with the query as an SMT-LIB script.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partita import _core
from partita.errors import UsageError
from partita.results import counted
from partita.store import DEFAULT, default_path, is_url

SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", choices=["stats", "clear", "export"])
    parser.add_argument(
        "--store",
        metavar="PATH|URL",
        default=DEFAULT,
        help="file or server of the store (default: the user's own file)",
    )
    parser.add_argument("--json", action="store_true", help="print the statistics as JSON")


def run(arguments: argparse.Namespace) -> int:
    if is_url(arguments.store):
        on_server(arguments)
        return 0
    path = default_path() if arguments.store == DEFAULT else Path(arguments.store)
    if not path.exists():
        raise UsageError(f"there is no store at `{path}`: `partita run` creates it for queries that take long")
    try:
        if arguments.action == "stats":
            stats(str(path), _core.store_contents(path), arguments.json)
        elif arguments.action == "clear":
            print(f"{counted(_core.store_clear(path), 'answer')} removed from {path}")
        else:
            warn_of_damage(_core.store_export(path, write))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return 0


def on_server(arguments: argparse.Namespace) -> None:
    from partita.redis_store import Server

    server = Server(arguments.store)
    if arguments.action == "clear":
        print(f"{counted(server.clear(), 'answer')} removed from {server.name}")
        return
    contents, damaged = {"sat": 0, "unsat": 0, "bytes": 0, "cost_s": 0.0}, 0
    for value, row in server.rows():
        if row is None:
            damaged += 1
            continue
        contents[row["verdict"]] += 1
        contents["bytes"] += len(value)
        contents["cost_s"] += row["cost_s"]
        if arguments.action == "export":
            write(row)
    if arguments.action == "stats":
        stats(server.name, contents, arguments.json)
    warn_of_damage(damaged)


def stats(place: str, contents: Mapping[str, float], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"schema": SCHEMA, "path": place, **contents}))
        return
    print(f"{place}: {contents['bytes'] / 2**20:.1f} MB")
    print(f"answers  {contents['sat'] + contents['unsat']:,}: {contents['sat']:,} sat, {contents['unsat']:,} unsat")
    print(f"solving  {contents['cost_s']:.3f} s")


def write(row: Mapping[str, Any]) -> None:
    print(json.dumps({"schema": SCHEMA, **row}))


def warn_of_damage(damaged: int) -> None:
    if damaged:
        print(f"partita: warning: {counted(damaged, 'damaged answer')} skipped", file=sys.stderr)
