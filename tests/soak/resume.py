"""Kills runs with `kill -9` at random moments and resumes them; kills workers; damages journals; fills the disk.

Every result is compared with that of a run that was left alone, up to the bytes of every test; one program is not
explored with `--reproducible`. Only the last three programs take longer than passes between two kills of workers.

Usage: python tests/soak/resume.py [KILLS] [SEED]. KILLS is the number of kills of the whole run per program, with one
process and with two.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita import journal
from partita.errors import UsageError
from support import kills

WORKER_S = 0.3
"""Time between two kills of workers."""
PLACES = 2_000
"""Places of a journal that are damaged: all of a small one."""
FILE_SIZES = (4_000, 20_000, 100_000, 1_000_000)


def damage(whole: kills.Whole, folder: Path, seed: int) -> tuple[int, int]:
    """Flips a byte of a journal, and cuts it there, at many places. Returns the numbers of those that were used and
    refused: what is used is a checkpoint that was written."""
    data = (whole.out / journal.NAME).read_bytes()
    written = {record[1:] for record, _ in journal._records(data)} | {None}
    chance, used, refused = random.Random(seed), 0, 0
    copy = folder / "copy"
    copy.mkdir()
    for place in chance.sample(range(len(data)), min(len(data), PLACES)):
        flipped = data[:place] + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :]
        for damaged in (flipped, data[:place]):
            (copy / journal.NAME).write_bytes(damaged)
            try:
                contents = journal.read(copy)
            except UsageError:
                refused += 1
                continue
            assert contents.checkpoint in written, place
            used += 1
    return used, refused


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(
        "program, kills of one process, of two, workers killed of two, of four, damaged journals, full disks, seconds"
    )
    for program in kills.PROGRAMS:
        started = time.monotonic()
        row: list[object] = [program.name]
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            whole = kills.explore_whole(program, folder / "whole")

            def fresh(part: str, folder: Path = folder) -> Path:
                (folder / part).mkdir()
                return folder / part

            row += [kills.kill_and_resume(whole, fresh(f"kill{jobs}"), count, jobs, seed) for jobs in (1, 2)]
            row += [kills.lose_workers(whole, fresh(f"lose{jobs}"), jobs, WORKER_S, seed) for jobs in (2, 4)]
            row.append("{} used {} refused".format(*damage(whole, fresh("damage"), seed)))
            row.append(sum(bool(kills.fill_disk(whole, fresh(f"size{size}"), size)) for size in FILE_SIZES))
        print(*row, round(time.monotonic() - started, 1), sep=", ", flush=True)


if __name__ == "__main__":
    main()
