"""Engines as workers: what they commit adds up to the result of one engine, also if one is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita import _core
from partita.explore import explore
from partita.ktest import count_endings

ROOT = Path(__file__).parents[3]
PROGRAMS = [
    "benchmarks/programs/bst_5.c",
    "benchmarks/programs/goto_cleanup.c",
    "benchmarks/programs/triangle.c",
    "tests/programs/objects_by_pointer.c",
    "tests/programs/threads/mutex_counter.c",
    "tests/programs/exhaustive/function_pointer.c",
    "tests/programs/exhaustive/index_out_of_bounds.c",
    "tests/programs/exhaustive/pointer_choice.c",
    "tests/programs/exhaustive/print_text.c",
]


def start(program: str | Path, **options: Any) -> _core.Engine:
    return explore(ROOT / program, **options)._engine


def results(engine: _core.Engine) -> dict[str, Any]:
    counts = engine.summary()
    names = ("digest", "paths", "forks", "tests", "instructions", "incomplete", "coverage", "stopped", "open")
    bugs = sorted((bug["class"], bug["file"], bug["line"], bug["paths"], bug["message"]) for bug in counts["bugs"])
    return {"bugs": bugs, **{name: counts[name] for name in names}}


def worker(program: str | Path, **options: Any) -> _core.Engine:
    engine = start(program, **options)
    engine.become_worker()
    return engine


def explored_by_workers(program: str | Path, folder: Path, count: int, lost: int, **options: Any) -> _core.Engine:
    """Explores with workers in turns of a few instructions. `lost` of them are replaced before a commit."""
    whole = start(program, **options)
    waiting = whole.hand_over()
    workers = [worker(program, **options) for _ in range(count)]
    leases: list[list[bytes]] = [[] for _ in workers]
    tests = folder / "found"
    with tests.open("wb") as file:
        while waiting or any(leases):
            for i, engine in enumerate(workers):
                if not leases[i] and waiting:
                    leases[i] = [waiting.pop()]
                    engine.add_open_paths(leases[i][0])
                if not leases[i]:
                    continue
                engine.allow(200, None)
                engine.advance(10.0)
                if lost > 0:
                    lost -= 1
                    waiting += leases[i]
                    workers[i], leases[i] = worker(program, **options), []
                    continue
                if not waiting and engine.pulse()[0] > 1:
                    waiting.append(engine.give(1))
                commit = engine.commit()
                assert commit is not None
                added, found, open_paths = commit
                whole.add_results(added)
                file.write(found)
                leases[i] = open_paths if engine.pulse()[0] else []
    whole.number_tests(folder, [tests], is_urgent=False)
    return whole


@pytest.mark.parametrize("program", PROGRAMS)
def test_workers_add_up_to_one_engine(program: str, tmp_path: Path) -> None:
    single = start(program, out=tmp_path / "single")
    while single.advance(1.0):
        pass
    single.finish_writing()
    expected, endings = results(single), count_endings(tmp_path / "single")
    for count, lost in ((1, 0), (2, 0), (4, 3)):
        folder = tmp_path / f"{count}"
        folder.mkdir()
        whole = explored_by_workers(program, folder, count, lost)
        assert results(whole) == expected
        assert count_endings(folder) == endings


def test_workers_report_a_bug_with_its_least_path(tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text(
        '#include "partita.h"\n'
        'int main(void) { unsigned char x = partita_int("x"); int n = 0;\n'
        "  for (int i = 0; i < 4; i++) if (x >> i & 1) n++;\n"
        "  partita_assert(n > 9); return 0; }\n"
    )
    first, least = [], []
    for search in ("dfs", "bfs", "random-path"):
        run = explore(source, search=search).finish()
        assert [bug.paths for bug in run.bugs] == [16]
        first.append(dict(run.bugs[0].inputs)["x"][0] & 15)
        for count in (1, 3):
            folder = tmp_path / f"{search}-{count}"
            folder.mkdir()
            whole = explored_by_workers(source, folder, count, lost=0, search=search)
            (bug,) = whole.summary()["bugs"]
            assert (bug["paths"], bug["test"], whole.summary()["tests"]) == (16, 1, 1)
            assert count_endings(folder).total() == 1
            least.append(dict(bug["inputs"])["x"][0] & 15)
    assert len(set(least)) == 1
    # One process keeps the path that it found first, which depends on the search.
    assert len(set(first)) > 1


def test_a_worker_pauses_at_its_allowance() -> None:
    engine = start(PROGRAMS[0])
    (paths,) = engine.hand_over()
    engine.become_worker()
    engine.add_open_paths(paths)
    engine.allow(100, None)
    assert not engine.advance(10.0)
    assert engine.pulse()[2:] == (100, 0, "max-instructions")
    assert engine.summary()["stopped"] is None
