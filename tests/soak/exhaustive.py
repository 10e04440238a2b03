"""All programs of tests/programs/exhaustive: each input is on one path and natively ends as that path predicts, and
so do the tests of the run when `partita replay` runs them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from support import exhaustive


def main() -> int:
    failures = 0
    inputs = 0
    names = sys.argv[1:]
    programs = [program for program in exhaustive.PROGRAMS if not names or program.stem in names]
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="partita-exhaustive-") as folder:
            problems = exhaustive.problems(program, Path(folder), replays=True)
        inputs += 256 ** exhaustive.inputs_of(program)
        failures += bool(problems)
        for problem in problems:
            print(f"{program.stem}: {problem}", flush=True)
    print(f"{len(programs)} programs, {inputs:,} inputs, {failures} programs differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
