"""Part of `make bench`: what translation and solving cost each complete solver, on the same query logs in one run.

The median of the rounds counts, after one that warms up; ratios are to the first solver. PARTITA_SHARED says where
the logs are.
"""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import time
from pathlib import Path

from partita import _core, backends

SHARED = Path(os.environ.get("PARTITA_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))
LOGS = ["crc8br_4.kquery", "b64tab_4.kquery", "cu_factor.kquery", "bst_5.kquery", "maze.kquery", "objres_u32_64.kquery"]
ROUNDS = 3


def measure(log: str, solver: str) -> tuple[float, float, float]:
    """Seconds in all, translating and solving."""
    text = gzip.decompress((SHARED / "corpus" / f"{log}.gz").read_bytes())
    chain = f"simplify split {solver}"
    script = _core.Script("kquery", chain, chain, backends.make, None, None)
    start = time.monotonic()
    script.run(text, True, lambda lines: None)
    layer = script.statistics()["layers"][-1]
    return time.monotonic() - start, layer["translate_s"], layer["solve_s"]


def main() -> int:
    if not (SHARED / "corpus").is_dir():
        print(f"no query logs at {SHARED / 'corpus'}: set PARTITA_SHARED to the directory that has corpus/")
        return 1
    solvers = backends.installed()
    print(f"{'log':24} {'solver':9} {'seconds':>8} {'transl.':>8} {'solver':>8} {'ratio':>6}")
    for log in LOGS:
        first = None
        for solver in solvers:
            measure(log, solver)
            rounds = [measure(log, solver) for _ in range(ROUNDS)]
            total, translate, solve = (statistics.median(column) for column in zip(*rounds, strict=True))
            first = first or total
            print(f"{log:24} {solver:9} {total:8.3f} {translate:8.3f} {solve:8.3f} {total / first:6.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
