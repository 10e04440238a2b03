"""Certifies and checks every program of the repository that is explored in a few seconds; prints a table.

Exit status 1 if a certificate is rejected. Programs that the checker cannot follow, or not in a minute, are listed.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita.check.decide import RejectedError
from partita.check.terms import NoSemanticsError
from support.certificates import FOLDERS, ROOT, certified, checked

EXPLORE_S, CHECK_S = 8, 60


def one(program: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        body = certified(program, Path(folder), max_time=EXPLORE_S)
    if body is None:
        return "not complete"
    try:
        machine = checked(body)
    except RejectedError as error:
        return f"REJECTED: {error}"
    except NoSemanticsError as error:
        return f"not followed: {error}"
    return f"checked: {machine.leaves} paths, {machine.prover.proofs} proofs"


def main() -> int:
    programs = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.c")) if path.stem != "native"]
    counts: dict[str, int] = {}
    for program in programs:
        start = time.monotonic()
        # A process of its own: a proof that takes too long is ended.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            try:
                result = pool.apply_async(one, (program,)).get(EXPLORE_S + CHECK_S)
            except multiprocessing.TimeoutError:
                result = f"not checked in {CHECK_S} s"
        kind = result.split(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
        print(f"{program.stem:28} {time.monotonic() - start:6.1f} s  {result}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if "REJECTED" in counts else 0


if __name__ == "__main__":
    sys.exit(main())
