"""`--jobs N`: the result of several processes is that of one, also if some are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pytest

from partita import journal
from partita.cluster.coordinator import resident_bytes
from partita.cluster.leases import Leases, Part
from partita.cluster.memory import SharedMemory
from partita.cluster.messages import Report
from partita.cluster.processes import Processes
from partita.explore import COORDINATOR_SHARE, Run, explore
from partita.ktest import count_endings
from partita.reports import html
from support.three_ways import program

ROOT = Path(__file__).parents[3]


def result(run: Run) -> dict[str, Any]:
    counts = run.counts()
    names = ("digest", "paths", "forks", "tests", "instructions", "incomplete", "coverage", "stopped", "open")
    bugs = sorted((bug["class"], bug["file"], bug["line"], bug["paths"], bug["message"]) for bug in counts["bugs"])
    return {"bugs": bugs, "complete": run.complete, **{name: counts[name] for name in names}}


def processes(run: Run) -> list[int]:
    assert run._coordinator is not None
    pool = run._coordinator._pool
    assert isinstance(pool, Processes)
    return pool.processes()


@pytest.mark.parametrize(
    "name",
    ["benchmarks/programs/bst_5.c", "tests/programs/objects_by_pointer.c", "tests/programs/exhaustive/print_text.c"],
)
def test_processes_have_the_result_of_one(name: str, tmp_path: Path) -> None:
    single = explore(ROOT / name, out=tmp_path / "1").finish()
    for jobs in (2, 3):
        shared = explore(ROOT / name, jobs=jobs, out=tmp_path / f"{jobs}").finish()
        assert result(shared) == result(single)
        assert count_endings(tmp_path / f"{jobs}") == count_endings(tmp_path / "1")
        assert shared.summary()["jobs"] == jobs
        assert shared.summary()["solver"]["queries"] > 0
    files = sorted(path.name for path in (tmp_path / "2").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "3").iterdir())
    assert "tests.found" not in files


def test_numbers_of_tests_do_not_depend_on_the_processes(tmp_path: Path) -> None:
    path = program(tmp_path, 4)
    endings = []
    for jobs in (2, 4):
        run = explore(path, jobs=jobs, out=tmp_path / f"{jobs}").finish()
        (bug,) = run.bugs
        endings.append(((tmp_path / f"{jobs}" / "endings").read_text().splitlines(), bug.test))
    assert sorted(endings[0][0]) == sorted(endings[1][0])
    assert endings[0][1] == endings[1][1]


def test_killed_workers_change_nothing(tmp_path: Path) -> None:
    # Long enough for several commits of each worker.
    path = program(tmp_path, 12)
    single = explore(path, out=tmp_path / "1").finish()
    shared = explore(path, jobs=2, out=tmp_path / "2")
    warned: list[str] = []
    shared.warn = warned.append
    killed = 0
    while shared.step(0.02):
        if killed < 3 and shared.counts()["instructions"] >= killed * single.counts()["instructions"] // 4:
            os.kill(processes(shared)[0], signal.SIGKILL)
            killed += 1
    assert killed >= 2
    assert len(warned) == killed
    assert result(shared) == result(single)
    assert count_endings(tmp_path / "2") == count_endings(tmp_path / "1")


def test_limits_are_of_the_whole(tmp_path: Path) -> None:
    path = program(tmp_path, 6)
    whole = explore(path).finish().counts()
    limit = whole["instructions"] // 3
    run = explore(path, jobs=2, max_instructions=limit, out=tmp_path / "instructions").finish()
    assert (run.counts()["instructions"], run.counts()["stopped"]) == (limit, "max-instructions")
    assert run.counts()["paths"]["limits"] > 0
    assert sum(count_endings(tmp_path / "instructions").values()) == run.counts()["tests"]
    run = explore(path, jobs=2, max_tests=50, out=tmp_path / "tests").finish()
    # A test of a bug whose least path is found later is replaced, so there may be fewer.
    assert run.counts()["stopped"] == "max-tests"
    assert 30 < run.counts()["tests"] <= 50
    assert sum(count_endings(tmp_path / "tests").values()) == run.counts()["tests"]
    run = explore(path, jobs=2, max_time=1e-3, out=tmp_path / "time").finish()
    assert run.counts()["stopped"] == "max-time"
    assert run.counts()["paths"]["limits"] > 0
    assert not run.complete


@pytest.mark.parametrize("parts", [(2, 2), (2, 3), (1, 2), (2, 1)])
def test_a_run_that_a_limit_stopped_is_resumed(parts: tuple[int, int], tmp_path: Path) -> None:
    path = program(tmp_path, 5)
    single = explore(path, out=tmp_path / "1").finish()
    limit = single.counts()["instructions"] // 3
    explore(path, jobs=parts[0], max_instructions=limit, out=tmp_path / "2").finish()
    counts = journal.read(tmp_path / "2").counts
    assert counts.open > 0
    assert 0 < counts.explored < 1
    again = explore(path, jobs=parts[1])
    again.resume(tmp_path / "2")
    again.finish()
    assert result(again) == result(single)
    assert count_endings(tmp_path / "2") == count_endings(tmp_path / "1")
    assert journal.read(tmp_path / "2").counts.complete


def test_a_killed_run_is_resumed_and_its_workers_end(tmp_path: Path) -> None:
    path = program(tmp_path, 11)
    single = explore(path, out=tmp_path / "1").finish()
    out = tmp_path / "2"
    words = [sys.executable, "-m", "partita", "run", "--store", "none", "--quiet", "--jobs", "2", str(path)]
    process = subprocess.Popen([*words, "--out", str(out)])
    limit = time.monotonic() + 60
    while not (out / "journal").exists() or journal.read(out).checkpoint is None:
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.wait()
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    subprocess.run([*words, "--resume", str(out)], check=False)
    data = json.loads((out / "run.json").read_text())
    for name in ("paths", "forks", "instructions", "tests", "coverage", "complete"):
        assert data[name] == single.summary()[name]
    assert count_endings(out) == count_endings(tmp_path / "1")


def test_an_interrupted_run_has_tests_of_its_open_paths(tmp_path: Path) -> None:
    run = explore(program(tmp_path, 12), jobs=2, out=tmp_path / "out")
    while run.counts()["tests"] < 20:
        assert run.step(0.05)
    run.stop()
    counts = run.counts()
    assert counts["stopped"] == "interrupted"
    assert counts["open"] == 0
    assert counts["paths"]["limits"] > 0
    assert sum(count_endings(tmp_path / "out").values()) == counts["tests"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--jobs", "-1"], "expected --jobs to be a whole number from 0 to 4096, found `-1`"),
        (["--jobs", "two"], "expected --jobs to be a whole number from 0 to 4096, found `two`"),
        (["--jobs", "2", "--certificate", "c"], "expected jobs=1 for a run with certificate, found jobs=2"),
        (["--jobs", "2", "--preempt", "1"], "expected jobs=1 for a run with preempt, found jobs=2"),
        (["--jobs", "2", "--layers", "+record(dir=x)@before=split"], "the layer record"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    path = program(tmp_path, 2)
    command = [sys.executable, "-m", "partita", "run", "--out", str(tmp_path / "out"), str(path), *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()[-1:]
    assert message in line
    assert not (tmp_path / "out").exists()


def report(open_: int, share: float, waited_s: float = 0.0) -> Report:
    return Report((b"", b"", [b"open"]), [], open_, share, 0, 0, None, 0.0, {}, waited_s)


def test_an_idle_worker_gets_a_part_of_the_largest_share() -> None:
    leases = Leases([Part(b"root", 1, 1.0)], None, None)
    for worker in range(3):
        leases.add(worker)
    ((first, task),) = leases.tasks(None)
    assert task.parts == [b"root"]
    assert not list(leases.cuts())
    leases.report(first, report(8, 0.5), [Part(b"a", 1, 0.25), Part(b"b", 1, 0.25)])
    assert leases.open == 10
    tasks = dict(leases.tasks(None))
    assert {worker: len(task.parts) for worker, task in tasks.items()} == {0: 0, 1: 1, 2: 1}
    leases.report(1, report(0, 0.0), [])
    leases.report(2, report(4, 0.125), [])
    list(leases.tasks(None))
    assert list(leases.cuts()) == [(0, 1)]
    # It was asked, and no other is idle.
    assert not list(leases.cuts())
    leases.lose(0)
    assert [part.paths for part in leases.waiting] == [b"open"]
    assert [task.parts for _, task in leases.tasks(None)] == [[b"open"]]


def test_periods_are_long_where_tasks_take_long_to_arrive() -> None:
    leases = Leases([Part(b"root", 1, 1.0)], None, None)
    leases.add(0)

    def next_period(waited_s: float) -> float:
        list(leases.tasks(None))
        leases.report(0, report(8, 0.5, waited_s), [])
        ((_, task),) = leases.tasks(None)
        return task.period_s

    assert [next_period(waited_s) for waited_s in (0.0, 0.001, 0.02, 10.0)] == [0.2, 0.2, 1.0, 2.0]


def test_shared_limits_are_handed_out_once() -> None:
    leases = Leases([Part(b"a", 1, 0.5), Part(b"b", 1, 0.5)], 1_000_000, 7)
    leases.add(0)
    leases.add(1)
    tasks = dict(leases.tasks(None))
    assert sum(task.instructions or 0 for task in tasks.values()) <= 1_000_000
    assert [task.tests for task in tasks.values()] == [7]
    assert leases.exhausted() is None
    leases.lose(0)
    assert leases.instructions.left == 1_000_000
    assert leases.tests.left == 7


LARGE_PATH = """
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    unsigned char in[8];
    int n = 0;
    klee_make_symbolic(in, sizeof in, "in");
    if (in[0] == 7) {
        for (int i = 0; i < 150; i++) {
            char *p = malloc(1 << 20);
            for (int k = 0; k < 1 << 20; k += 4096) memset(p + k, i, 4096);
            n += p[5];
        }
        return n > 3;
    }
    for (int i = 1; i < 8; i++)
        if (in[i] > 100) n++;
    return n;
}
"""


def test_a_path_that_needs_more_than_its_share_of_memory_gets_all(tmp_path: Path) -> None:
    path = tmp_path / "large.c"
    path.write_text(LARGE_PATH)
    single = explore(path).finish()
    own = resident_bytes()

    def limit(megabytes: int) -> int:
        """A limit that leaves this for the workers."""
        return int((own + megabytes * 2**20) / (1 - COORDINATOR_SHARE))

    # Two shares of at most 200 MB; the path needs 240. A process that has run other tests may grow by tens of MB before
    # its workers start, and the other worker keeps what it has.
    run = explore(path, jobs=2, max_memory=limit(400)).finish()
    assert result(run) == result(single)
    assert run.complete
    assert run.counts()["peak_memory"] > own + 200 * 2**20
    # All of it is too little.
    run = explore(path, jobs=2, max_memory=limit(100)).finish()
    assert run.counts()["stopped"] == "max-memory"
    assert not run.complete


def test_memory_is_shared() -> None:
    shared = SharedMemory(100, 4)
    assert (shared.share(), shared.room(4)) == (25, 4)
    assert not shared.is_left(90, 3)
    assert shared.give_all()
    assert (shared.share(), shared.room(4)) == (100, 1)
    # It has not grown yet.
    assert not shared.is_left(10, 1)
    assert not shared.is_left(60, 1)
    assert not shared.give_all()
    assert shared.is_left(15, 1)
    assert (shared.share(), shared.room(4)) == (25, 4)
    assert not SharedMemory(None, 4).give_all()
    assert not SharedMemory(100, 1).give_all()


@pytest.mark.parametrize(
    "name",
    ["benchmarks/programs/lz77.c", "tests/programs/objects_by_pointer.c", "tests/programs/exhaustive/print_text.c"],
)
@pytest.mark.parametrize("tests", ["all", "coverage"])
def test_reproducible_tests_are_the_same_bytes(name: str, tests: Literal["all", "coverage"], tmp_path: Path) -> None:
    def files(number: int, **options: Any) -> dict[str, bytes]:
        out = tmp_path / str(number)
        run = explore(ROOT / name, tests=tests, reproducible=True, out=out, **options).finish()
        assert run.complete == complete
        return {path.name: path.read_bytes() for path in out.iterdir() if path.name.startswith(("test", "endings"))}

    complete = explore(ROOT / name).finish().complete
    expected = files(1)
    assert expected
    others: list[dict[str, Any]] = [
        {"jobs": 2},
        {"jobs": 3, "layers": "simplify split sat"},
        {"search": "bfs", "layers": "simplify sat"},
        {"search": "dfs", "seed": 5},
    ]
    for number, options in enumerate(others, 2):
        assert files(number, **options) == expected, options


def test_the_report_says_that_there_is_no_tree_of_forks(tmp_path: Path) -> None:
    explore(program(tmp_path, 3), jobs=2, out=tmp_path / "2").finish()
    page = html.render(tmp_path / "2")
    assert "<p>None of the 26 forks was recorded: only runs of one process do, in their last part.</p>" in page
    assert "There was one path" not in page
