"""Python functions as models of C functions: the operations on a state, and errors in hooks."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from partita import Expr, Run, Solver, UsageError, bv, explore, results
from partita.hooks import State

Explore = Callable[..., Run]

HEADER = """#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>
"""


@pytest.fixture
def program(tmp_path: Path) -> Explore:
    """Explores a program given as text."""

    def run(text: str, **options: object) -> Run:
        source = tmp_path / "program.c"
        source.write_text(HEADER + text)
        return explore(source, **options)  # type: ignore[arg-type]

    return run


SENSOR = """
int read_sensor(int channel);
int main(void) {
  int value = read_sensor(3);
  if (value < 0)
    return 1;
  if (value > 1000)
    return 2;
  return 0;
}
"""


def endings(run: Run) -> list[str]:
    return sorted(path.ending for path in run)


def signed(path: results.Path, name: str) -> int:
    return int.from_bytes(dict(path.inputs)[name], "little", signed=True)


def test_a_hook_returns_a_number(program: Explore) -> None:
    seen = []

    def read_sensor(state: State, channel: int) -> int:
        seen.append((state.name, channel, state.stack[0][0], state.stack[0][2]))
        return -5

    run = program(SENSOR, hooks={"read_sensor": read_sensor})
    assert endings(run) == ["exit 1"]
    assert run.complete
    assert seen == [("read_sensor", 3, "main", 7)]


def test_fresh_values_are_inputs_of_the_test(program: Explore, tmp_path: Path) -> None:
    def read_sensor(state: State, channel: int) -> Expr:
        value = state.symbolic("reading", 32)
        state.assume((value >= -10) & (value <= 2000))
        return value

    run = program(SENSOR, hooks={"read_sensor": read_sensor}, out=tmp_path / "out")
    found = {path.ending: signed(path, "reading") for path in run}
    assert -10 <= found["exit 1"] < 0 <= found["exit 0"] <= 1000 < found["exit 2"] <= 2000
    assert len(found) == 3
    assert sorted(test.objects[0][0] for test in run.tests()) == ["reading"] * 3


def test_arguments_are_signed_numbers_or_expressions(program: Explore) -> None:
    seen: list[tuple[object, ...]] = []

    def probe(state: State, *arguments: object) -> None:
        seen.append(arguments)

    run = program(
        """
        void probe(signed char a, unsigned b, long c, _Bool d, double e, int f);
        int main(void) {
          int x = klee_int("x");
          probe(-1, 0xffffffffu, -7, 1, 1.5, x + 1);
          return 0;
        }""",
        hooks={"probe": probe},
    )
    assert endings(run) == ["exit 0"]
    (arguments,) = seen
    assert arguments[:3] == (-1, -1, -7)
    assert arguments[4] == 0x3FF8000000000000
    expr = arguments[5]
    assert isinstance(expr, Expr)
    assert expr.width == 32
    solver = Solver()
    solver.add(expr == 12)
    assert solver.check() == "sat"
    assert solver.model()[expr] == 12


def test_decide_forks_once_per_side(program: Explore) -> None:
    def classify(state: State, x: Expr) -> int:
        if state.decide(x < 10):
            return 1 if state.decide(x == 3) else 2
        return 3

    run = program(
        """int classify(int x);
        int main(void) { return classify(klee_int("x")); }""",
        hooks={"classify": classify},
    )
    found = {path.ending: signed(path, "x") for path in run}
    assert found["exit 1"] == 3
    assert found["exit 2"] < 10
    assert found["exit 3"] >= 10
    assert len(found) == 3
    assert run.complete


def test_fork_gives_alternatives_with_conditions(program: Explore) -> None:
    def classify(state: State, x: Expr) -> int:
        return state.fork([(x == 1, 10), (x.ult(5), 20), (x.ult(100), 30)])

    run = program(
        """int classify(int x);
        int main(void) { return classify(klee_int("x")); }""",
        hooks={"classify": classify},
    )
    # There is no path where no alternative holds.
    assert endings(run) == ["exit 10", "exit 20", "exit 30"]


BUFFER = """
int fill(char *buffer, unsigned long size);
int main(void) {
  char buffer[8];
  strcpy(buffer, "abc");
  unsigned long at = klee_range(0, 8, "at");
  int n = fill(buffer + at, 1);
  return n == 1 && buffer[at] == 'Z' ? 0 : 1;
}
"""


def test_writes_before_a_fork_are_not_repeated(program: Explore) -> None:
    """The other side of a decision starts with the memory before the call."""

    def fill(state: State, address: Expr, size: int) -> int:
        # A counter in memory: executing the call twice would leave 2.
        byte = state.read(address, 1)
        state.write(address, byte + 1 if isinstance(byte, int) else byte + bv(1, 8), 1)
        more = state.symbolic("more", 8)
        if state.decide(more == 7):
            state.write(address, b"Z")
            return 1
        return 2

    run = program(
        """
        int fill(char *counter, unsigned long size);
        int main(void) {
          char counter[1] = {0};
          int n = fill(counter, 1);
          return n == 1 ? counter[0] == 'Z' : counter[0] == 1;
        }""",
        hooks={"fill": fill},
    )
    assert endings(run) == ["exit 1", "exit 1"]


def test_memory_through_symbolic_addresses(program: Explore) -> None:
    def fill(state: State, address: Expr, size: int) -> int:
        state.write(address, b"Z")
        return int(state.read(address, 1) == ord("Z")) if isinstance(state.read(address, 1), int) else 1

    run = program(BUFFER, hooks={"fill": fill})
    assert endings(run) == ["exit 0"]


def test_reads_writes_strings_and_new_objects(program: Explore) -> None:
    def duplicate(state: State, text: int) -> int:
        data = state.read_bytes(text)
        assert data == b"hello"
        assert state.read(text, 4) == int.from_bytes(b"hell", "little")
        new = state.allocate(len(data) + 1)
        state.write(new, data.upper())
        return new

    run = program(
        """char *duplicate(const char *text);
        int main(void) { char *copy = duplicate("hello"); return strcmp(copy, "HELLO") == 0 ? 42 : 1; }""",
        hooks={"duplicate": duplicate},
    )
    assert endings(run) == ["exit 42"]


def test_number_forks_over_every_value(program: Explore) -> None:
    def square(state: State, x: Expr) -> int:
        state.assume((x >= -1) & (x <= 2))
        return state.number(x) ** 2 + 10

    run = program(
        """int square(int x);
        int main(void) { return square(klee_int("x")); }""",
        hooks={"square": square},
    )
    assert endings(run) == ["exit 10", "exit 11", "exit 11", "exit 14"]
    assert run.complete


def test_make_symbolic_and_example(program: Explore) -> None:
    def receive(state: State, buffer: int, size: int) -> int:
        state.make_symbolic(buffer, size, "packet")
        assert state.example(state.read(buffer, 1)) in range(-128, 128)
        return size

    run = program(
        """int receive(char *buffer, int size);
        int main(void) { char b[4]; receive(b, 4); if (b[0] == 'x' && b[3] == 'y') return 1; return 0; }""",
        hooks={"receive": receive},
    )
    found = {path.ending: dict(path.inputs)["packet"] for path in run}
    assert found["exit 1"][0] == ord("x")
    assert found["exit 1"][3] == ord("y")


def test_a_hook_ends_the_path(program: Explore) -> None:
    def stop(state: State, how: Expr) -> int:
        how = state.number(how)
        if how == 0:
            state.exit(7)
        if how == 1:
            state.bug("the motor is on fire", "abort")
        if how == 2:
            state.drop()
        if how == 3:
            state.unsupported("smoke")
        state.bug("five")

    run = program(
        """int stop(int how);
        int main(void) { int how = klee_range(0, 5, "how"); stop(how); return 0; }""",
        hooks={"stop": stop},
        all_bugs=True,
    )
    assert endings(run) == ["abort", "assert", "exit 7", "unsupported"]
    assert {(bug.class_, bug.line, bug.message) for bug in run.bugs} == {
        ("abort", 5, "the motor is on fire"),
        ("assert", 5, "five"),
    }
    assert [row["why"] for row in run.summary()["incomplete"]] == ["smoke"]


def test_the_end_of_a_path_cannot_be_caught(program: Explore) -> None:
    def catch_all(state: State) -> int:
        with contextlib.suppress(BaseException):
            state.read(0, 4)
        return 1

    run = program("int catch_all(void);\nint main(void) { return catch_all(); }", hooks={"catch_all": catch_all})
    assert endings(run) == ["null"]


def test_memory_errors_in_a_hook_are_bugs_of_the_program(program: Explore) -> None:
    def use(state: State, address: int) -> int:
        state.write(address, 1, 8)
        return 0

    run = program(
        """int use(char *p);
        int main(void) { char small[4]; return use(small); }""",
        hooks={"use": use},
    )
    assert endings(run) == ["out-of-bounds-write"]
    assert run.bugs[0].line == 5


def test_hooks_override_static_functions_and_models(program: Explore) -> None:
    text = """
    static int inside(int x) { return x; }
    int outside(int x) { return x; }
    int main(void) { void *p = malloc(4); return inside(1) + outside(2) + (p == 0); }"""
    hooks = {
        "inside": lambda state, x: x + 10,
        "outside": lambda state, x: x + 20,
        "malloc": lambda state, size: 0,
    }
    assert endings(program(text)) == ["exit 3"]
    assert endings(program(text, hooks=hooks)) == ["exit 34"]


def test_a_hook_of_a_library_function_needs_no_libc(program: Explore) -> None:
    run = program("#include <unistd.h>\nint main(void) { return getpid(); }", hooks={"getpid": lambda state: 77})
    assert endings(run) == ["exit 77"]
    assert run.summary()["libc"] == "none"


# Errors.

RAISES = """
int risky(int x);
int main(void) {
  int x = klee_int("x");
  if (x == 4)
    return risky(x);
  return 9;
}
"""


def test_an_exception_ends_the_path_with_the_traceback(program: Explore, tmp_path: Path) -> None:
    def helper(x: int) -> int:
        return 1 // x

    def risky(state: State, x: Expr) -> int:
        return helper(0)

    run = program(RAISES, hooks={"risky": risky}, out=tmp_path / "out")
    paths = {path.ending: path for path in run}
    assert sorted(paths) == ["exit 9", "model-error"]
    path = paths["model-error"]
    assert path.message == "hook `risky` raised ZeroDivisionError: integer division or modulo by zero"
    assert path.detail is not None
    assert "return helper(0)" in path.detail
    assert "return 1 // x" in path.detail
    assert (path.line, signed(path, "x")) == (9, 4)
    assert run.summary()["paths"] == {"completed": 1, "bugs": 1, "limits": 0, "unsupported": 0}
    (bug,) = run.bugs
    assert bug.message == path.message
    assert str(bug).endswith("[model-error]")
    assert "\n" not in str(bug)
    (error,) = (tmp_path / "out").glob("*.model-error.err")
    assert "return 1 // x" in error.read_text()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["bugs"][0]["class"] == "model-error"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("text", "expected the hook to return an int or an Expr of 32 bits, found 'text'"),
        (None, "expected the hook to return an int or an Expr of 32 bits, found None"),
        (1.5, "expected the hook to return an int or an Expr of 32 bits, found 1.5"),
        (2**32, "expected a number that fits in 32 bits (-2**31 to 2**32 - 1), found 4294967296"),
        (bv(1, 16), "expected the hook to return 32 bits (see zext, sext, extract), found <Expr (_ BitVec 16) #x0001>"),
        (bv("y", 32), "expected inputs of this path, found `y`: make it one with state.symbolic(name, width)"),
    ],
)
def test_wrong_results_are_model_errors(program: Explore, returned: object, message: str) -> None:
    run = program(RAISES, hooks={"risky": lambda state, x: returned})
    (path,) = (path for path in run if path.kind == "bug")
    assert path.class_ == "model-error"
    assert path.message is not None
    assert message in path.message
    assert run.summary()["paths"]["completed"] == 1


def test_a_value_for_a_void_function(program: Explore) -> None:
    run = program("void quiet(void);\nint main(void) { quiet(); return 0; }", hooks={"quiet": lambda state: 1})
    (path,) = run
    assert path.message is not None
    assert "expected the hook to return None, as the function returns nothing, found 1" in path.message


def test_expressions_of_other_paths_are_refused(program: Explore) -> None:
    kept: list[Expr] = []

    def mix(state: State, x: Expr) -> Expr | int:
        if state.decide(x == 0):
            kept.append(state.symbolic("first", 32))
            return kept[0]
        return kept[0]

    run = program(
        """int mix(int x);
        int main(void) { mix(klee_int("x")); return 0; }""",
        hooks={"mix": mix},
        search="dfs",
    )
    messages = {path.message for path in run if path.kind == "bug"}
    assert messages <= {
        "the result of hook `mix`: expected inputs of this path, found `first`: "
        "make it one with state.symbolic(name, width)",
        "hook `mix` raised IndexError: list index out of range",
    }
    assert messages


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.symbolic("x", 0), "expected 1 to 65536 bits, found 0"),
        (lambda s: s.read("p", 4), "expected an expression or a number, found str"),
        (lambda s: s.read(bv(1, 32), 4), "expected an address of 64 bits, found (_ BitVec 32)"),
        (lambda s: s.write(4096, 5), "expected the size in bytes after a number to write"),
        (lambda s: s.bug("x", "nothing"), "expected a class of bug"),
        (lambda s: s.decide("x"), "expected an expression or a number, found str"),
        (lambda s: s.number(bv(1, 128)), "expected a value of at most 64 bits, found (_ BitVec 128)"),
    ],
)
def test_usage_errors_on_the_state(program: Explore, call: Callable[[State], object], message: str) -> None:
    run = program("int f(void);\nint main(void) { return f(); }", hooks={"f": call})
    (path,) = run
    assert path.class_ == "model-error"
    assert path.message is not None
    assert message in path.message


def test_a_state_is_invalid_after_the_call(program: Explore) -> None:
    kept = []
    run = program("int f(void);\nint main(void) { return f(); }", hooks={"f": lambda state: kept.append(state) or 0})
    run.finish()
    with pytest.raises(RuntimeError, match="only be used during the call of the hook"):
        kept[0].read(4096, 1)


def test_a_contradiction_is_a_model_error(program: Explore) -> None:
    def impossible(state: State, x: Expr) -> int:
        state.assume(x == 1)
        state.assume(x == 2)
        return 0

    run = program('int f(int x);\nint main(void) { return f(klee_int("x")); }', hooks={"f": impossible})
    (path,) = run
    assert path.class_ == "model-error"
    assert path.message is not None
    assert "contradicts" in path.message


def test_hooks_of_unknown_functions(program: Explore) -> None:
    with pytest.raises(UsageError, match="neither defines nor calls `read_sensr`: did you mean `read_sensor`"):
        program(SENSOR, hooks={"read_sensr": lambda state, channel: 0})
    with pytest.raises(UsageError, match="found `main`, its entry point"):
        program(SENSOR, hooks={"main": lambda state: 0})
    with pytest.raises(UsageError, match="expected a function for `read_sensor`, found int"):
        program(SENSOR, hooks={"read_sensor": 5})
    with pytest.raises(UsageError, match="optimize=True may inline calls"):
        program(
            "__attribute__((noinline)) int f(int x) { return x / 3; }\nint main(int c, char **v) { return f(c); }",
            hooks={"f": lambda state, x: 0},
            optimize=True,
        )


def test_runs_with_hooks_are_deterministic(program: Explore) -> None:
    """With hooks that fork, a second run yields the same paths in the same order with the same inputs."""

    def classify(state: State, x: Expr) -> Expr | int:
        y = state.symbolic("y", 32)
        return state.fork([(x < y, 1), (x == y, 2), (True, y)])

    text = """int classify(int x);
    int main(void) { int r = classify(klee_int("x")); if (r > 5) return 5; return r == 2; }"""
    first, second = (list(program(text, hooks={"classify": classify})) for _ in range(2))
    assert first == second
    assert len(first) >= 4


def test_threads_and_python_layers_run_during_a_hooks_query(program: Explore) -> None:
    class Counting:
        name = "counting"
        asked = 0

        def check(self, query, rest):  # type: ignore[no-untyped-def]
            self.asked += 1
            return rest.check(query)

        def forget(self) -> None:
            pass

    layer = Counting()
    run = program(
        """int classify(int x);
        int main(void) { return classify(klee_int("x")); }""",
        hooks={"classify": lambda state, x: 1 if state.decide(x * x == 49) else 0},
        layers=[layer, "sat"],
    )
    assert endings(run) == ["exit 0", "exit 1"]
    assert layer.asked > 0
