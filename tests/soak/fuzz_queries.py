"""Compares the default chain and parts of it with Z3 on random queries, for a time or a number of queries.

Usage: python tests/soak/fuzz_queries.py [--seconds S | --queries N] [--seed TEXT] [--workers N] [--family NAME]
       python tests/soak/fuzz_queries.py --only SEED
The same seed makes the same scripts. A mismatch is minimised, printed with the command that repeats it, and written to
build/fuzz-queries; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "python"))

from support.collected import LABEL, crosscheck_collected  # noqa: E402
from support.crosscheck import CHAINS, FLOAT_CHAINS, ORDER_CHAINS, SET_CHAINS, Mismatch, Tally, crosscheck, text  # noqa: E402
from support.querygen import FLOATS, ORDERS, SETS  # noqa: E402

FOLDER = REPOSITORY / "build" / "fuzz-queries"
BATCH = 16
SESSION = "session"
"""Marks the seed of a session with collections."""
FAMILIES = {"order": (ORDER_CHAINS, ORDERS), "sets": (SET_CHAINS, SETS), "floats": (FLOAT_CHAINS, FLOATS)}
"""Chains and shapes of scripts, by a word in their seed: order, difference and linear constraints; sets of values;
floating-point terms."""


def one(seed: str) -> Tally:
    for name, (chains, shapes) in FAMILIES.items():
        if name in seed:
            return crosscheck(seed, chains, shapes)
    return crosscheck_collected(seed) if SESSION in seed else crosscheck(seed)


def report(mismatch: Mismatch, seed: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{seed.replace('/', '-')}.smt2"
    path.write_text(f"; {mismatch.chain}: {mismatch.difference}\n{text(mismatch.script)}")
    print(f"\n== {mismatch.chain}\n{mismatch.difference}\n{text(mismatch.script)}")
    if mismatch.chain in (*CHAINS, *ORDER_CHAINS, *SET_CHAINS, *FLOAT_CHAINS):
        print(f"again: partita smt {path.relative_to(REPOSITORY)} --layers '{mismatch.chain}'")
    print(f"whole: python tests/soak/fuzz_queries.py --only {seed}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, help="no script is started after this time (60 without --queries)")
    parser.add_argument("--queries", type=int, help="minimum number per chain")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--family", choices=FAMILIES, help="only order constraints, sets of values or floating point")
    parser.add_argument("--only", metavar="SEED", help="only the script or session of this seed")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    seconds = 60.0 if arguments.seconds is None and arguments.queries is None else arguments.seconds
    chains = FAMILIES[arguments.family][0] if arguments.family else (*CHAINS, LABEL)
    total, scripts, start = Tally(), 0, time.monotonic()
    with ProcessPoolExecutor(arguments.workers) as pool:
        for batch in count():
            numbers = range(batch * BATCH, (batch + 1) * BATCH)
            seeds = [f"{arguments.seed}/{SESSION}{batch}", *(f"{arguments.seed}/{number}" for number in numbers)]
            if arguments.family:
                seeds = [f"{arguments.seed}/{arguments.family}{number}" for number in numbers]
            if arguments.only is not None:
                seeds = [arguments.only]
            for seed, tally in zip(seeds, pool.map(one, seeds), strict=True):
                for mismatch in tally.mismatches:
                    report(mismatch, seed)
                total.add(tally)
                scripts += 1
            late = seconds is not None and time.monotonic() - start > seconds
            enough = arguments.queries is not None and total.verdicts[chains[0]] >= arguments.queries
            if total.mismatches or late or enough or arguments.only is not None:
                break
    print(f"seed {arguments.only or arguments.seed}, {scripts} scripts, {time.monotonic() - start:.0f} s")
    print(f"{'chain':70} {'answers':>8} {'undecided':>9} {'wrong':>5}")
    for chain in chains:
        wrong = sum(mismatch.chain == chain for mismatch in total.mismatches)
        print(f"{chain:70} {total.verdicts[chain]:8} {total.undecided[chain]:9} {wrong:5}")
    return 1 if total.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
