"""GNU Coreutils as the papers run it: symbolic arguments, a file and standard input, for a while each.

    python -m partita.bench.coreutils FOLDER [--seconds 60] [--quick] [UTILITY...]

FOLDER holds executables built with `partita cc` (`python -m partita.bench.sources coreutils --into DIR`). Beside
each utility stand KLEE's paths in as many seconds, from ANCHORS.md in PARTITA_SHARED where that is there: measured on
another machine, scaled by the factor of its calibrate.py. `--quick` takes ten seconds and five utilities.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

OPTIONS = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8 --sym-stdout".split()
UTILITIES = (
    "echo dirname basename printenv sum tac expand factor fmt head tail pathchk paste tr cut sort uniq wc cat comm join"
    " fold nl od seq test expr date env touch mkdir ls"
).split()
QUICK = "echo head tr cut basename".split()
QUICK_S, KLEE_S = 10.0, 60.0
_ROW = re.compile(r"^\| (\w+) \| [\d.]+ \| ([\d,]+) \|", re.M)


def peers() -> dict[str, float]:
    """KLEE's paths in 60 s by utility, on this machine's scale; none where they are not at hand."""
    shared = Path(os.environ.get("PARTITA_SHARED", "../shared"))
    if not (shared / "ANCHORS.md").exists():
        return {}
    _, _, table = (shared / "ANCHORS.md").read_text().partition("## GNU Coreutils")
    calibrate = runpy.run_path(str(shared / "calibrate.py"))
    faster = calibrate["REFERENCE_S"] / calibrate["best"]()
    found = _ROW.findall(table.partition("\n## ")[0])
    return {name: int(paths.replace(",", "")) * faster for name, paths in found if paths != "0"}


def run(program: Path, seconds: float, search: str | None) -> dict[str, Any]:
    """The `run.json` of one utility; its tests go with the folder."""
    with tempfile.TemporaryDirectory(prefix="partita-coreutils-") as folder:
        command = str(Path(sys.executable).with_name("partita"))
        words = [command, "run", str(program), *OPTIONS, "--max-time", f"{seconds}s", "--quiet"]
        words += ["--search", search] if search else []
        start = time.perf_counter()
        done = subprocess.run(
            [*words, "--out", f"{folder}/out"], cwd=folder, capture_output=True, text=True, check=False
        )
        report = Path(folder) / "out" / "run.json"
        if done.returncode not in (0, 1, 3) or not report.exists():
            raise SystemExit(f"{program.name}: partita run ended with status {done.returncode}: {done.stderr.strip()}")
        data: dict[str, Any] = json.loads(report.read_text())
        data["process_s"] = time.perf_counter() - start
        return data


def row(name: str, data: dict[str, Any], peer: float | None) -> str:
    paths, coverage = data["paths"], data["coverage"]
    beside = f"{peer:>9,.0f} {paths['completed'] / peer:>7.1f}" if peer else f"{'-':>9} {'-':>7}"
    return (
        f"{name:<10}{paths['completed']:>10,}{paths['unsupported']:>6}{len(data['bugs']):>6}"
        f"{data['instructions'] / 1e6:>9.1f}{coverage['covered']:>9,}{data['solver']['time_s']:>9.1f}"
        f"{data['process_s'] - data['explore_s']:>8.2f}{data['memory_peak_mb']:>9.0f} {beside}"
    )


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m partita.bench.coreutils", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("utility", nargs="*")
    parser.add_argument("--seconds", type=float, default=KLEE_S)
    parser.add_argument("--search")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(words)
    seconds = QUICK_S if given.quick else given.seconds
    known = peers()
    print(
        f"{'utility':<10}{'paths':>10}{'unsup':>6}{'bugs':>6}{'M instr':>9}{'covered':>9}{'solver s':>9}{'start s':>8}"
        f"{'MB':>9} {'KLEE':>9} {'ratio':>7}"
    )
    ratios, unsupported = [], []
    for name in given.utility or (QUICK if given.quick else UTILITIES):
        data = run(given.folder / name, seconds, given.search)
        peer = known[name] * seconds / KLEE_S if name in known else None
        print(row(name, data, peer), flush=True)
        if peer:
            ratios.append(max(1, data["paths"]["completed"]) / peer)
        if data["paths"]["unsupported"]:
            unsupported.append(name)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"paths beside KLEE's: {mean:.1f} times in geometric mean over {len(ratios)} utilities")
    if unsupported:
        print(f"something not supported was met by: {', '.join(unsupported)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
