"""Explores every program with every search strategy: paths, bugs and coverage must be the same.

Usage: python tests/soak/fuzz_search.py [SEED]. The programs are those of tests/programs and benchmarks/programs. The
exit status is 1 if a strategy differs from depth-first search.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from partita import _core, explore
from partita.errors import UsageError

REPOSITORY = Path(__file__).resolve().parents[2]
LIMIT_S = 120


def found(program: Path, search: str, seed: int) -> dict[str, Any]:
    run = explore(program, search=search, seed=seed, tests="bugs", max_time=LIMIT_S).finish()
    data = run.summary()
    bugs = sorted((bug.class_, bug.file, bug.line, bug.paths) for bug in run.bugs)
    return {key: data[key] for key in ("stopped", "paths", "forks", "coverage", "incomplete")} | {"bugs": bugs}


def main() -> int:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    folders = (REPOSITORY / "tests" / "programs", REPOSITORY / "benchmarks" / "programs")
    programs = [program for folder in folders for program in sorted(folder.glob("**/*.c"))]
    others = [name for name, _ in _core.SEARCHES if name != "dfs"]
    wrong = 0
    for program in programs:
        try:
            expected = found(program, "dfs", seed)
        except UsageError as error:  # a part of a program, or one for other options
            print(f"{program.name}: skipped: {str(error).splitlines()[0]}")
            continue
        if expected["stopped"]:
            print(f"{program.name}: skipped: depth-first search takes more than {LIMIT_S} s")
            continue
        for search in others:
            result = found(program, search, seed)
            if result != expected:
                wrong += 1
                print(f"{program.name}: {search} (seed {seed}): expected {expected}, found {result}")
    print(f"{len(programs)} programs, {len(others) + 1} strategies: {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
