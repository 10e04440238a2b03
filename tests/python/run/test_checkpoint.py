"""Open paths as data: a run that goes on from checkpoints has the result of a run that was never interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita import _core
from partita.explore import explore

ROOT = Path(__file__).parents[3]
PROGRAMS = [
    "benchmarks/programs/bst_5.c",
    "benchmarks/programs/json_6.c",
    "benchmarks/programs/goto_cleanup.c",
    "benchmarks/programs/triangle.c",
    "benchmarks/programs/sort1_heap_40.c",
    "tests/programs/objects_by_pointer.c",
    "tests/programs/threads/mutex_counter.c",
    "tests/programs/threads/producer_consumer.c",
    "tests/programs/threads/semaphore.c",
    "tests/programs/tasks/threads_assume_order_false.c",
    "tests/programs/exhaustive/calloc_symbolic.c",
    "tests/programs/exhaustive/function_pointer.c",
    "tests/programs/exhaustive/index_out_of_bounds.c",
    "tests/programs/exhaustive/memory_overlap_symbolic.c",
    "tests/programs/exhaustive/pointer_choice.c",
    "tests/programs/exhaustive/print_text.c",
    "tests/programs/exhaustive/print_truncated.c",
]


def start(program: str, **options: Any) -> _core.Engine:
    return explore(ROOT / program, **options)._engine


def results(engine: _core.Engine) -> dict[str, Any]:
    """Results that do not depend on interruptions: a digest of decision strings and endings, counts, bugs, coverage."""
    counts = engine.summary()
    names = ("digest", "paths", "forks", "tests", "instructions", "incomplete", "coverage", "stopped", "open")
    bugs = sorted((bug["class"], bug["file"], bug["line"], bug["paths"]) for bug in counts["bugs"])
    return {"bugs": bugs, **{name: counts[name] for name in names}}


def finished(engine: _core.Engine) -> dict[str, Any]:
    while engine.advance(1.0):
        pass
    return results(engine)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_run_goes_on_from_checkpoints(program: str) -> None:
    expected = finished(start(program))
    checkpoint: bytes | None = None
    for _ in range(4):
        engine = start(program)
        if checkpoint is not None:
            engine.restore(checkpoint)
        more = engine.advance(0.002)
        if not more:
            break
        checkpoint = engine.checkpoint()
    assert finished(engine) == expected


@pytest.mark.parametrize("search", ["dfs", "bfs", "random-path"])
def test_two_workers_share_the_paths(search: str) -> None:
    program = "tests/programs/exhaustive/pointer_choice.c"
    expected = finished(start(program, search=search))
    first, second = start(program, search=search), start(program, search=search)
    second.drop_start()
    while first.summary()["open"] < 3:
        assert first.advance(0.0005)
    given = first.give(2)
    second.add_open_paths(given)
    assert second.summary()["open"] == 2
    whole = start(program, search=search)
    for engine in (first, second):
        finished(engine)
        whole.restore(engine.checkpoint())
    assert results(whole) | {"stopped": None} == expected
    assert second.summary()["replayed"] > 0


def test_a_path_is_executed_again_without_a_solver() -> None:
    engine = start("benchmarks/programs/bst_5.c", search="bfs")
    while engine.summary()["open"] < 20:
        assert engine.advance(0.0005)
    again = start("benchmarks/programs/bst_5.c", search="bfs")
    again.restore(engine.checkpoint())
    queries = again.summary()["solver"]["queries"]
    while not again.summary()["replayed"]:
        assert again.advance(1e-4)
    # One turn of a state may have run since, and a path that was cut inside of an instruction queries its other sides.
    assert again.summary()["solver"]["queries"] - queries <= 2 * engine.summary()["open"]


def test_a_damaged_checkpoint_is_refused() -> None:
    engine = start("benchmarks/programs/bst_5.c")
    engine.advance(0.002)
    checkpoint = engine.checkpoint()
    for damaged in (b"", checkpoint[:-1], b"X" + checkpoint[1:]):
        with pytest.raises(ValueError, match="the checkpoint is damaged"):
            start("benchmarks/programs/bst_5.c").restore(damaged)


def test_the_explored_share_grows_to_one() -> None:
    engine = start("benchmarks/programs/bst_5.c")
    assert engine.explored_share() == 0.0
    finished(engine)
    assert engine.explored_share() == 1.0
