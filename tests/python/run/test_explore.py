"""`partita.explore`: iterating over paths, stopping early, search strategies and layers in Python, notebooks."""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from partita import Run, UsageError, bv, explore, layers, plugins, testing
from partita.search import OpenState, Search
from support import REPOSITORY
from support import Run as Command

BITS = """#include "klee/klee.h"
int main(void) {
  unsigned char in[%d];
  klee_make_symbolic(in, sizeof in, "in");
  int n = 0;
  for (unsigned i = 0; i < sizeof in; i++)
    if (in[i] > 100)
      n++;
  return n;
}
"""


@pytest.fixture
def bits(tmp_path: Path) -> Path:
    """A program with 2^4 paths."""
    path = tmp_path / "bits.c"
    path.write_text(BITS % 4)
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A program with 2^24 paths: too many to explore completely."""
    path = tmp_path / "many.c"
    path.write_text(BITS % 24)
    return path


def test_paths_are_yielded_during_the_run(many: Path) -> None:
    run = explore(many, search="dfs", tests="bugs")
    for number, path in enumerate(run):
        assert path.kind == "exit"
        assert path.inputs[0][0] == "in"
        if number == 100:
            assert not run.complete
            assert run.summary()["stopped"] is None
            break
    gc.collect()
    # Leaving the loop ends the run.
    assert run.summary()["stopped"] == "interrupted"
    assert not run.step()
    assert list(run) == []


def test_an_exception_ends_the_run_and_writes_all_files(bits: Path, tmp_path: Path) -> None:
    run = explore(bits, out=tmp_path / "out")

    def fail() -> None:
        with run:
            raise KeyError(next(iter(run)).ending)

    with pytest.raises(KeyError):
        fail()
    assert (tmp_path / "out" / "run.json").exists()
    assert len(list(run.tests())) == run.summary()["tests"]


def test_each_path_is_yielded_once(bits: Path, tmp_path: Path) -> None:
    run = explore(bits, out=tmp_path / "out")
    paths = list(run)
    assert run.complete
    assert len({path.inputs for path in paths}) == len(paths) == 16
    assert sorted(test.objects for test in run.tests()) == sorted(path.inputs for path in paths)
    with pytest.raises(UsageError, match="expected a run with a folder"):
        explore(bits).finish().tests()


def test_concurrent_runs_are_independent(bits: Path) -> None:
    one, two = iter(explore(bits)), iter(explore(bits))
    pairs = list(zip(one, two, strict=True))
    assert len(pairs) == 16
    assert all(first == second for first, second in pairs)


def test_exploring_releases_the_gil(many: Path) -> None:
    run = explore(many, max_time=2, tests="bugs")
    ticks = 0
    ended = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not ended.is_set():
            ticks += 1
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    run.finish()
    ended.set()
    thread.join()
    assert ticks > 2


# Strategies.


class Shallowest:
    """Chooses the state with the fewest decisions; the oldest on a tie."""

    def __init__(self) -> None:
        self.waiting: dict[int, OpenState] = {}
        self.chosen: list[int] = []
        self.removed = 0

    def add(self, state: OpenState) -> None:
        assert state.number not in self.waiting
        self.waiting[state.number] = state

    def choose(self) -> int:
        state = min(self.waiting.values(), key=lambda state: (state.depth, state.number))
        del self.waiting[state.number]
        self.chosen.append(state.depth)
        return state.number

    def remove(self, number: int) -> None:
        self.removed += 1
        del self.waiting[number]


def test_a_strategy_changes_only_the_order(bits: Path) -> None:
    search = Shallowest()
    run = explore(bits, search=search)
    inputs = {path.inputs for path in run}
    assert run.complete
    assert not search.waiting
    assert search.chosen == sorted(search.chosen)
    assert len(inputs) == 16
    assert len(list(explore(bits))) == 16


def test_attributes_of_open_states(bits: Path) -> None:
    seen: list[OpenState] = []

    class Recording(Shallowest):
        def add(self, state: OpenState) -> None:
            seen.append(state)
            super().add(state)

    explore(bits, search=Recording()).finish()
    first = seen[0]
    assert (first.number, first.parent, first.depth, first.function, first.frames) == (0, None, 0, "main", 1)
    assert first.distance == 0
    forked = [state for state in seen if state.parent is not None]
    assert {state.number for state in forked} == set(range(1, 16))
    assert all(state.file.endswith("bits.c") and state.line in (6, 7, 8) for state in forked)
    assert "bits.c" in repr(forked[0])


DISCARDING = """
import sys
from partita import explore

class Oldest:
    def __init__(self):
        self.waiting, self.removed = {}, 0

    def add(self, state):
        self.waiting[state.number] = None

    def choose(self):
        number = next(iter(self.waiting))
        del self.waiting[number]
        return number

    def remove(self, number):
        self.removed += 1
        del self.waiting[number]

search = Oldest()
run = explore(sys.argv[1], search=search, max_memory=400_000_000, tests="bugs").finish()
print(search.removed, run.summary()["paths"]["limits"], run.summary()["stopped"])
"""

LARGE_STATES = """#include "klee/klee.h"
#include <string.h>
static char source[1 << 20], block[1 << 20];
int main(void) {
  unsigned char in[10];
  klee_make_symbolic(in, sizeof in, "in");
  for (unsigned i = 0; i < 64; i++)
    source[i] = i;
  for (unsigned n = 64; n < sizeof source; n *= 2)
    memcpy(source + n, source, n);
  for (unsigned i = 0; i < sizeof in; i++)
    if (in[i] > 100)
      memcpy(block + i, source, sizeof block - i);
    else
      memcpy(block, source + i, sizeof block - i);
  return 0;
}
"""


def test_remove_is_called_for_discarded_states(tmp_path: Path) -> None:
    # In a process of its own, which has about 100 MB after compiling. The states need 600 MB: the limit is reached
    # however much memory the process has freed and uses again.
    path = tmp_path / "large.c"
    path.write_text(LARGE_STATES)
    done = subprocess.run(
        [sys.executable, "-c", DISCARDING, str(path)], check=True, capture_output=True, text=True, timeout=60
    )
    removed, limits, stopped = done.stdout.split()
    assert 0 < int(removed) == int(limits)
    assert stopped == "None"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: 99, "ValueError: expected choose.. to return the number of a waiting state, found 99"),
        (lambda: "x", "found 'x'"),
        (lambda: 1 // 0, "ZeroDivisionError"),
        (lambda: {}[0], "KeyError"),
        (lambda: (_ for _ in ()).throw(RuntimeError("lost")), "RuntimeError: lost"),
    ],
)
def test_a_failing_strategy_ends_the_run(bits: Path, tmp_path: Path, answer: object, message: str) -> None:
    class Broken(Shallowest):
        def choose(self) -> int:
            return answer() if len(self.chosen) == 3 else super().choose()  # type: ignore[operator, no-any-return]

    run = explore(bits, search=Broken(), out=tmp_path / "out")
    with pytest.raises(UsageError, match=message) as raised:
        run.finish()
    assert raised.value.__cause__ is not None
    assert run.summary()["stopped"] == "interrupted"
    assert not run.complete
    assert (tmp_path / "out" / "run.json").exists()


def test_invalid_strategies_are_refused(bits: Path) -> None:
    with pytest.raises(UsageError, match="with a method `add`, found object without"):
        explore(bits, search=object())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"expected a search \(mix, .*bfs\), found `widest`"):
        explore(bits, search="widest")


# Layers.


class CountingLayer:
    """Counts the queries and passes all of them on."""

    name = "counting"
    asked = 0

    def __init__(self, say: str = "") -> None:
        self.say = say

    def check(self, query: layers.QueryView, rest: layers.RestView) -> layers.Answer:
        CountingLayer.asked += 1
        return rest.check(query)

    def forget(self) -> None:
        pass


class WrongUnsat(CountingLayer):
    name = "wrong-unsat"

    def check(self, query: layers.QueryView, rest: layers.RestView) -> layers.Answer:
        answer = rest.check(query)
        return layers.Unsat(query.constraints) if isinstance(answer, layers.Sat) else answer


def test_conformance_suite() -> None:
    sat, unsat, unknown = testing.conformance(CountingLayer, queries=100)
    assert min(sat, unsat) > 20
    assert unknown == 0
    with pytest.raises(AssertionError, match="unsat"):
        testing.conformance(WrongUnsat, queries=100)
    assert testing.conformance("simplify sat", queries=50).unknown == 0


def test_exploring_with_a_python_layer(bits: Path) -> None:
    CountingLayer.asked = 0
    run = explore(bits, layers=["simplify", CountingLayer(), "sat"])
    assert len(list(run)) == 16
    assert CountingLayer.asked > 0
    assert [layer["name"] for layer in run.summary()["solver"]["layers"]] == ["simplify", "counting", "sat"]


# Plugins: strategies and layers of other packages.


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a strategy and a layer."""
    info = tmp_path / "site" / "thirdparty-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[partita.search]\nshallowest = {__name__}:Shallowest\nlost = nowhere:Missing\n"
        f"[partita.layers]\ncounting = {__name__}:CountingLayer\n"
    )
    monkeypatch.syspath_prepend(str(info.parent))
    importlib.invalidate_caches()


@pytest.mark.usefixtures("package")
def test_plugins_are_found_by_name(bits: Path) -> None:
    assert plugins.names("partita.search") == ["lost", "shallowest"]
    assert len(list(explore(bits, search="shallowest", layers="simplify counting(say=hello) sat"))) == 16
    with pytest.raises(UsageError, match="cannot load `lost` from nowhere:Missing"):
        explore(bits, search="lost")
    with pytest.raises(UsageError, match="does not take these options"):
        explore(bits, layers="counting(speed=1) sat")
    with pytest.raises(UsageError, match="without a variant"):
        explore(bits, layers="counting:odd sat")


def test_the_command_lists_the_strategies(partita: Command, bits: Path) -> None:
    done = partita("run", str(bits), "--search", "widest")
    assert done.returncode == 2
    assert "argument --search: invalid choice: 'widest'" in done.stderr
    assert "random-path" in done.stderr


# Notebooks.


def test_html_of_runs_and_expressions(bits: Path, tmp_path: Path) -> None:
    source = tmp_path / "a<b.c"
    source.write_text("#include <assert.h>\n" + BITS % 2 + "int f(int x) { assert(x); return 0; }\n")
    run: Run = explore(bits)
    assert "0 paths" in run._repr_html_()
    run.finish()
    shown = run._repr_html_()
    assert "16 paths" in shown
    assert "explored completely" in shown
    buggy = tmp_path / "a&lt;.c"
    buggy.write_text("#include <stdlib.h>\nint main(void) { abort(); }\n")
    shown = explore(buggy).finish()._repr_html_()
    assert "abort was called" in shown
    assert "a&amp;lt;.c:2" in shown
    x = bv("<x>", 8)
    assert x._repr_html_() == "<code>&lt;x&gt;</code>"
    assert len((x * x + 1 - x * x * x)._repr_html_()) < 2000


def test_protocols_are_public() -> None:
    search: Search = Shallowest()
    layer: layers.Layer = CountingLayer()
    assert search
    assert layer


def test_limits_can_have_units() -> None:
    run = explore(REPOSITORY / "examples" / "rle.c", max_time="90s", max_memory="2GB", max_solver_time="1.5")
    assert (run.limits["max_time"], run.limits["max_memory"], run.limits["max_solver_time"]) == (90, 2 << 30, 1.5)
    assert repr(run).endswith("rle.c: running, 0 paths completed, 0 bugs>")
    assert repr(run.finish()).endswith("rle.c: complete, 24 paths completed, 1 bug>")
