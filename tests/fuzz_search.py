"""Part of `make fuzz`: every program with every search strategy must give the same paths, bugs and coverage.

Programs are those of tests/programs and of programs/ where PARTITA_SHARED says. The seed is the argument. The exit
status is 1 when a strategy finds something else than depth-first search does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from partita import _core, explore

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("PARTITA_SHARED", HERE.parent.parent / "shared"))
LIMIT_S = 120


def found(program: Path, search: str, seed: int) -> dict[str, Any]:
    run = explore(program, search=search, seed=seed, tests="bugs", max_time=LIMIT_S).finish()
    data = run.summary()
    bugs = sorted((bug.class_, bug.file, bug.line, bug.paths) for bug in run.bugs)
    return {key: data[key] for key in ("stopped", "paths", "forks", "coverage", "incomplete")} | {"bugs": bugs}


def main() -> int:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if not SHARED.is_dir():
        print(f"only our own programs: none at {SHARED} (set PARTITA_SHARED)")
    programs = sorted((HERE / "programs").glob("**/*.c")) + sorted((SHARED / "programs").glob("*.c"))
    others = [name for name, _ in _core.SEARCHES if name != "dfs"]
    wrong = 0
    for program in programs:
        expected = found(program, "dfs", seed)
        if expected["stopped"]:
            print(f"{program.name}: passed over: depth first it takes more than {LIMIT_S} s")
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
