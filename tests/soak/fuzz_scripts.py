"""Random incremental scripts over all operators, arrays and declared functions, compared with Z3 and Bitwuzla.

Usage: python tests/soak/fuzz_scripts.py [--seconds S] [--seed TEXT]
       python tests/soak/fuzz_scripts.py --only SEED
Values of satisfiable checks and cores of unsatisfiable ones are checked by Z3, and every answer by the plain
translation of `partita smt --proof`. A script that differs is written to build/fuzz-scripts; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import count
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "python"))

from support.scripts import Counts, Generator, differences  # noqa: E402

PROOF_SECONDS = 2.0
FOLDER = REPOSITORY / "build" / "fuzz-scripts"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", metavar="SEED", help="only the script of this seed")
    arguments = parser.parse_args()
    total, failed, end = Counts(), 0, time.monotonic() + arguments.seconds
    scripts = 0
    seeds = [arguments.only] if arguments.only else (f"{arguments.seed}/{number}" for number in count())
    for seed in seeds:
        if time.monotonic() > end:
            break
        counts, wrong = differences(seed, PROOF_SECONDS)
        total.add(counts)
        scripts += 1
        if wrong:
            failed += 1
            FOLDER.mkdir(parents=True, exist_ok=True)
            path = FOLDER / f"{seed.replace('/', '-')}.smt2"
            path.write_text("".join(f"; {line}\n" for line in wrong) + Generator(seed).make().text())
            print(f"{seed}: {wrong}\n  {path.relative_to(REPOSITORY)}", flush=True)
    print(
        f"{scripts} scripts, {total.checks} checks ({total.unknown} unknown), {total.compared} answers compared, "
        f"{total.models} models and {total.cores} cores confirmed by Z3, "
        f"{total.proofs} proofs checked, {failed} scripts wrong"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
