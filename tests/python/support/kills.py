"""Runs that are killed and resumed, as processes of their own: the result must be that of a run that was not.

Most runs are reproducible, so that results include the bytes of every test. They write checkpoints more often than
usual: a run of a second has many moments between two of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from support import PATIENCE_S

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Program:
    path: str
    flags: tuple[str, ...] = ()
    """Flags of the compiler."""
    is_reproducible: bool = True
    """Without it, inputs of tests are those of the solver's first answer: only their number is compared."""

    @property
    def name(self) -> str:
        parts = (Path(self.path).stem, *self.flags, *([] if self.is_reproducible else ["not reproducible"]))
        return " ".join(parts)


SHORT = (
    "benchmarks/programs/bst_5.c",
    "benchmarks/programs/sortcheck_5.c",
    "benchmarks/programs/crc8br_4.c",
    "benchmarks/programs/expr_calc.c",
    "benchmarks/programs/lru_cache.c",
    "benchmarks/programs/b64cmp_4.c",
    "benchmarks/programs/goto_cleanup.c",
    "benchmarks/programs/utf8_decode.c",
    "tests/programs/objects_by_pointer.c",
    "tests/programs/exhaustive/print_text.c",
)
LARGE = (
    Program("benchmarks/families/three_ways.c", ("-DN=10",)),
    Program("benchmarks/families/numbers.c", ("-DN=4",)),
    Program("benchmarks/families/three_ways.c", ("-DN=10",), is_reproducible=False),
)
"""They run for long enough to lose workers."""
PROGRAMS = (*map(Program, SHORT), *LARGE)
EVERY_S = 0.02
"""Time between two checkpoints."""


@dataclass
class Whole:
    """A run that was left alone."""

    program: Program
    out: Path
    result: dict[str, Any]
    taken_s: float


def command(program: Program, out: Path, jobs: int, kill_s: float = 0.0, seed: int = 0, size: int = 0) -> list[str]:
    words = [json.dumps(astuple(program)), out, jobs, kill_s, seed, size]
    return [sys.executable, str(Path(__file__)), *map(str, words)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "python"), *sys.path])}


def start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, start_new_session=True, env=environment(), stdout=subprocess.DEVNULL)


def result(out: Path, is_reproducible: bool) -> dict[str, Any]:
    """Counts, bugs, and the bytes of all tests if they are reproducible: none of it depends on kills."""
    data = json.loads((out / "run.json").read_text())
    names = ("complete", "stopped", "paths", "forks", "instructions", "tests", "coverage", "incomplete")
    of_bugs = ("class", "line", "paths", *(("message", "test") if is_reproducible else ()))
    bugs = [{name: bug[name] for name in of_bugs} for bug in data["bugs"]]
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.iterdir())
        if is_reproducible and (path.name.startswith("test") or path.name == "endings")
    }
    return {"bugs": bugs, "files": sums, **{name: data[name] for name in names}}


def explore_whole(program: Program, out: Path) -> Whole:
    started = time.monotonic()
    finish(command(program, out, 1))
    return Whole(program, out, result(out, program.is_reproducible), time.monotonic() - started)


def check(whole: Whole, out: Path) -> None:
    assert result(out, whole.program.is_reproducible) == whole.result, whole.program


def finish(words: list[str]) -> str:
    """Runs a command that must succeed, and returns its output."""
    done = subprocess.run(words, env=environment(), timeout=PATIENCE_S, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kill_and_resume(whole: Whole, folder: Path, kills: int, jobs: int, seed: int) -> int:
    """Kills a run with all of its processes at random moments, resumes it each time, and compares the results. Returns
    the number of kills."""
    chance, program, out, done = random.Random(seed), whole.program, folder / "out", 0
    while done < kills:
        process = start(command(program, out, jobs))
        try:
            process.wait(timeout=chance.random() * whole.taken_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
        if (out / "run.json").exists():
            assert process.returncode in (0, -signal.SIGKILL), process.returncode
            # One that was killed after its end has its result too, up to files that it was to remove.
            finish(command(program, out, jobs))
            check(whole, out)
            shutil.rmtree(out)
    finish(command(program, out, jobs))
    check(whole, out)
    return done


def lose_workers(whole: Whole, folder: Path, jobs: int, every_s: float, seed: int) -> int:
    """Kills a worker from time to time. Returns the number of those killed."""
    output = finish(command(whole.program, folder / "out", jobs, every_s, seed))
    check(whole, folder / "out")
    return int(output.split()[-1])


def fill_disk(whole: Whole, folder: Path, size: int) -> str:
    """A run that may write files of at most `size` bytes each fails with a message, and goes on when there is room.
    Returns the message; empty if there was room."""
    program = whole.program
    words = command(program, folder / "out", 1, size=size)
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    message = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    if done.returncode != 0:
        assert "cannot write" in message, done.stderr
    finish(command(program, folder / "out", 1))
    check(whole, folder / "out")
    return message


def main(program: str, out: str, jobs: str, kill_s: str, seed: str, size: str) -> None:
    """A run in this process: a new one, or one that goes on."""
    from partita import journal
    from partita.cluster.processes import Processes
    from partita.explore import explore

    path, flags, is_reproducible = json.loads(program)
    journal.EVERY_S, journal.SHARE = EVERY_S, 1.0
    folder = Path(out)
    run = explore(ROOT / path, cflags=flags, jobs=int(jobs), reproducible=is_reproducible)
    if int(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    is_begun = (folder / journal.NAME).exists()
    if is_begun:
        try:
            run.resume(folder)
        except Exception as error:
            # Killed before the first record was written.
            if "damaged at its beginning" not in str(error):
                raise
            shutil.rmtree(folder)
            is_begun = False
    if not is_begun:
        shutil.rmtree(folder, ignore_errors=True)
        run.write_to(folder)
    chance, killed, seen, due = random.Random(int(seed)), 0, 0, time.monotonic() + float(kill_s)
    while run.step(0.05):
        progress = run.counts()["instructions"]
        # Only a run that goes on between two kills ends at all.
        if float(kill_s) and time.monotonic() >= due and progress > seen and run._coordinator is not None:
            pool = run._coordinator._pool
            assert isinstance(pool, Processes)
            if workers := pool.processes():
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed, seen, due = killed + 1, progress, time.monotonic() + float(kill_s)
    print(killed)


if __name__ == "__main__":
    main(*sys.argv[1:])
