"""Contribution of partial solutions: the thirteen programs explored completely, in counts and not in times.

    python -m experiments control [PROGRAM...] [--json FILE] [--max-time SECONDS]

All configurations explore the same paths, so that solves can be compared; `control` is the paper's cache without
partial solutions. Prints a table; with `--json` also writes the counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from experiments.locations import FAMILIES
from experiments.structures import CONFIGURATIONS, JAVA_SIZES
from partita import explore

SHOWN = tuple(name for name in CONFIGURATIONS if name != "default")
COUNTERS = ("tests", "partial", "by_partial", "delta_zero")


def counts(program: str, configuration: str, size: int, seconds: float) -> dict[str, Any]:
    """Queries, solves and hit rate of one exploration."""
    setup = CONFIGURATIONS[configuration]
    run = explore(
        [str(FAMILIES / "structures" / f"{program}.c")],
        cflags=[f"-DSIZE={size}"],
        layers=setup.layers,
        search="dfs",
        path_model=setup.path_model,
        tests="bugs",
        max_time=seconds,
        # A share of it, as in other runs, would end the long queries of Median on a busy machine.
        max_solver_time=seconds,
    )
    while run.step(1.0):
        pass
    data = run.summary()
    layers = data["solver"]["layers"]
    caches = [layer for layer in layers if layer["name"].startswith(("reuse", "solutions"))]
    asked = caches[0]["asked"]
    return {
        "program": program,
        "configuration": configuration,
        "complete": data["complete"],
        "states": data["forks"] + 1,
        "queries": asked,
        "solves": layers[-1]["asked"],
        "hit_rate": round(sum(layer["sat"] + layer["unsat"] for layer in caches) / max(1, asked), 3),
        **{name: int(layer[name]) for layer in caches for name in COUNTERS if name in layer},
    }


def table(rows: list[dict[str, Any]]) -> list[str]:
    """One line for each program in Markdown: hit rate and solves in each configuration, then quick tests."""
    lines = [
        f"| program | queries | {' | '.join(SHOWN)} | tests: Algorithm 2, control |",
        f"|---|--:|{'--:|' * (len(SHOWN) + 1)}",
    ]
    for program in dict.fromkeys(row["program"] for row in rows):
        mine = {row["configuration"]: row for row in rows if row["program"] == program}
        cells = [
            f"{one['hit_rate']:.3f}, {one['solves']:,}" if one["complete"] else "stopped"
            for one in (mine[name] for name in SHOWN)
        ]
        both = (mine[name] for name in ("Algorithm 2", "control"))
        tests = ", ".join(f"{one['tests']:,}" if one["complete"] else "stopped" for one in both)
        asked = max(mine.values(), key=lambda one: (one["complete"], one["configuration"] == "control"))["queries"]
        lines.append(f"| {program} | {asked:,} | {' | '.join(cells)} | {tests} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", metavar="PROGRAM", help=f"of {', '.join(JAVA_SIZES)}; default: all")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the counts")
    parser.add_argument("--max-time", metavar="SECONDS", type=float, default=120.0, help="limit of an exploration")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.program if name not in JAVA_SIZES]
    if unknown:
        parser.error(f"expected programs of {', '.join(JAVA_SIZES)}, found `{unknown[0]}`")
    rows = [
        counts(program, configuration, JAVA_SIZES[program], arguments.max_time)
        for program in arguments.program or JAVA_SIZES
        for configuration in SHOWN
    ]
    print("\n".join(table(rows)))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["complete"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
