"""Benchmark of the store: its cost for a run that fills it, and the time that a filled one saves.

Each program is explored without a store, with a new file (cold) and with the file just written (warm), in turns.
Figures are the CPU time of the process while exploring, including the thread that writes, for the fastest of several
turns, and the number of SAT solves. The chain `bare` lacks the layers that answer most queries before `sat`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiments.locations import PROGRAMS

DEFAULT, BARE = None, "simplify split reuse store sat"
CASES = [
    ("triangle", DEFAULT),
    ("crc8br_4", DEFAULT),
    ("b64cmp_4", DEFAULT),
    ("crc32bit_4", DEFAULT),
    ("symarith_8", DEFAULT),
    ("bst_5", BARE),
    ("crc8br_4", BARE),
    ("b64cmp_4", BARE),
    ("goto_cleanup", BARE),
    ("sortcheck_5", BARE),
]
COLD_LIMIT = 1.02

EXPLORE = """
import json, sys, time
from partita import explore
program, layers, store = json.loads(sys.argv[1])
run = explore(program, layers=layers, store=store, tests="bugs", max_time=60)
start = time.process_time()
run.finish()
cpu_s = time.process_time() - start
layers = {layer["name"]: layer for layer in run.summary()["solver"]["layers"]}
sat, store = layers["sat"], layers.get("store", {})
print(json.dumps({"cpu_s": cpu_s, "sat": sat["asked"], "sat_s": sat["time_s"], "store_s": store.get("time_s", 0),
                  "hits": store.get("hits", 0), "written": store.get("written", 0), "complete": run.complete,
                  "paths": run.summary()["paths"]}))
"""


def once(program: Path, layers: str | None, store: Path | None) -> dict[str, Any]:
    request = json.dumps([str(program), layers, str(store) if store else None])
    done = subprocess.run([sys.executable, "-c", EXPLORE, request], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def quickest(samples: list[dict[str, Any]]) -> dict[str, Any]:
    return min(samples, key=lambda sample: float(sample["cpu_s"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    print(f"{'program':14} {'chain':8} {'none s':>8} {'cold':>7} {'warm':>7}   SAT solves none, warm   kept")
    nones, colds = 0.0, 0.0
    for name, layers in CASES:
        program = PROGRAMS / f"{name}.c"
        samples: dict[str, list[dict[str, Any]]] = {"none": [], "cold": [], "warm": []}
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(turns):
                file = Path(folder) / f"answers-{turn}"
                for kind, store in (("none", None), ("cold", file), ("warm", file)):
                    samples[kind].append(once(program, layers, store))
        if any(s["paths"] != samples["none"][0]["paths"] for s in samples["cold"] + samples["warm"]):
            sys.exit(f"expected the same paths of {name} with a store, found {samples}")
        none, cold, warm = (quickest(samples[kind]) for kind in ("none", "cold", "warm"))
        nones, colds = nones + none["cpu_s"], colds + cold["cpu_s"]
        chain = "default" if layers is None else "bare"
        print(
            f"{name:14} {chain:8} {none['cpu_s']:8.3f} {cold['cpu_s'] / none['cpu_s']:7.3f} "
            f"{warm['cpu_s'] / none['cpu_s']:7.3f}   {none['sat']:8,} {warm['sat']:8,}  {cold['written']:10,.0f}",
            flush=True,
        )
    verdict = "met" if colds <= COLD_LIMIT * nones else "MISSED"
    print(f"a cold store, in total: {colds / nones:.3f} times as long as none (target {COLD_LIMIT}): {verdict}")
    return 0 if colds <= COLD_LIMIT * 1.1 * nones else 1


if __name__ == "__main__":
    sys.exit(main())
