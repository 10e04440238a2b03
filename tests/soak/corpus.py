"""`make corpus`: runs every query log through `partita smt` and compares the verdicts with its index.

The logs are those of benchmarks/queries and, if it exists, of ../shared/corpus ($PARTITA_SHARED/corpus). Each file is
run with each chain, two at a time; a table has the times. A wrong or missing verdict, an `unknown` and a mismatch found
by `verify` are failures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LARGER = Path(os.environ.get("PARTITA_SHARED", REPOSITORY.parent / "shared")) / "corpus"
FOLDERS = (REPOSITORY / "benchmarks" / "queries", LARGER)
PARTITA = Path(sys.executable).with_name("partita")

CHAINS = {
    "default": [],
    "z3": ["--layers", "simplify split z3"],
    "bitwuzla": ["--layers", "simplify split bitwuzla"],
    "integers": ["--layers", "simplify split integers z3"],
    "verified": ["--layers", "simplify split bitwuzla", "--verify", "z3"],
    "validity": ["--layers", "simplify split bitwuzla", "--validity"],
}


@dataclass(frozen=True)
class Job:
    path: Path
    chain: str

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".gz")


@dataclass(frozen=True)
class Result:
    job: Job
    seconds: float
    queries: int
    complaint: str | None
    translate_s: float = 0.0
    solve_s: float = 0.0


def jobs(chains: list[str], names: list[str]) -> Iterator[Job]:
    for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.gz"))):
        for chain in chains:
            kquery = path.name.endswith(".kquery.gz")
            wanted = not names or path.name.split(".")[0] in names or path.name.removesuffix(".gz") in names
            if wanted and (kquery or chain != "validity"):
                yield Job(path, chain)


def expected(job: Job) -> list[set[str]]:
    """For each query the right answers."""
    index = json.loads(job.path.with_name(f"{job.path.name.split('.')[0]}.json").read_text())
    if job.path.name.endswith(".smt2.gz"):
        return [{verdict} for verdict in index["smt2"]]
    if job.chain == "validity":
        wide = {"not-always-true": {"false", "both"}, "sat": {"false", "both"}}
        return [wide.get(answer, {answer}) for _, answer in index["kquery"]]
    return [{"VALID" if answer == "true" else "INVALID"} for _, answer in index["kquery"]]


VERDICTS = {"sat", "unsat", "unknown", "VALID", "INVALID", "UNKNOWN", "true", "false", "both"}


def run(job: Job, limit: float) -> Result:
    command = [str(PARTITA), "smt", str(job.path), "--stats", *CHAINS[job.chain]]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Result(job, time.monotonic() - start, 0, f"took more than {limit:.0f} s")
    seconds = time.monotonic() - start
    words = (line.split(" ", 1)[0] for line in done.stdout.splitlines())
    found = [word for word in words if word in VERDICTS]
    right = expected(job)
    complaint = None
    if done.returncode != 0:
        complaint = f"exit status {done.returncode}: {(done.stdout + done.stderr)[-300:]}"
    elif len(found) != len(right):
        complaint = f"expected {len(right)} answers, found {len(found)}"
    else:
        wrong = [i for i, (verdict, allowed) in enumerate(zip(found, right, strict=True)) if verdict not in allowed]
        if wrong:
            at = wrong[0]
            complaint = (
                f"{len(wrong)} wrong, first query {at}: expected {'/'.join(sorted(right[at]))}, found {found[at]}"
            )
    layers = json.loads(done.stderr[done.stderr.index("{") :])["layers"] if "{" in done.stderr else []
    last = layers[-1] if layers else {}
    return Result(job, seconds, len(right), complaint, last.get("translate_s", 0.0), last.get("solve_s", 0.0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs to run (default: all)")
    parser.add_argument("--chains", default=",".join(CHAINS), help="which of: " + ", ".join(CHAINS))
    parser.add_argument("--limit", type=float, default=900, help="seconds for one file")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    work = list(jobs(arguments.chains.split(","), arguments.names))
    failures, totals = 0, dict.fromkeys(CHAINS, 0.0)
    print(f"{'log':32} {'chain':9} {'queries':>7} {'seconds':>8} {'transl.':>8} {'solver':>8}")
    with ThreadPoolExecutor(arguments.workers) as pool:
        for result in pool.map(lambda job: run(job, arguments.limit), work):
            job = result.job
            totals[job.chain] += result.seconds
            failures += result.complaint is not None
            verdict = f"  WRONG: {result.complaint}" if result.complaint else ""
            times = f"{result.seconds:8.2f} {result.translate_s:8.2f} {result.solve_s:8.2f}"
            print(f"{job.name:32} {job.chain:9} {result.queries:7} {times}{verdict}", flush=True)
    print(", ".join(f"{chain}: {seconds:.1f} s" for chain, seconds in totals.items() if seconds))
    print(f"{len(work)} runs, {failures} wrong")
    return 1 if failures or not work else 0


if __name__ == "__main__":
    sys.exit(main())
