"""Models of satisfiable checks, read back by Z3.

Usage: python tests/soak/models.py [COUNT] [--seed TEXT]
Random scripts over all operators, arrays and declared functions (as in fuzz_scripts.py). The answer to `get-model`
takes the place of the declarations, and Z3 evaluates the assertions and assumptions. A check whose assertions are then
not true is written to build/models; the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
from itertools import count
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "python"))

from support.scripts import Generator, models, z3_answers  # noqa: E402

FOLDER = REPOSITORY / "build" / "models"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    confirmed = failed = scripts = 0
    for number in count():
        if confirmed + failed >= arguments.count:
            break
        seed = f"{arguments.seed}/{number}"
        scripts += 1
        for place, text in models(Generator(seed).make()):
            answers = z3_answers(text)
            confirmed += answers == ["sat"]
            if answers != ["sat"]:
                failed += 1
                FOLDER.mkdir(parents=True, exist_ok=True)
                path = FOLDER / f"{seed.replace('/', '-')}-{place}.smt2"
                path.write_text(text)
                print(f"{seed}, check {place}: Z3 says {answers}\n  {path.relative_to(REPOSITORY)}", flush=True)
    print(f"{scripts} scripts, {confirmed} models confirmed by Z3, {failed} not")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
