"""`partita.Solver`: expressions, assertions, models, cores, error messages."""

from __future__ import annotations

import _thread
import signal
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita
from partita import Expr, Solver, UsageError, all_of, any_of, apply, array, boolean, bv, concat, const_array, ite, table


def value(expr: Expr, **values: int) -> object:
    """Evaluates an expression over 8-bit variables."""
    solver = Solver()
    solver.add(*[bv(name, 8) == number for name, number in values.items()])
    assert solver.check() == "sat"
    return solver.model()[expr]


def test_operators() -> None:
    x, y = bv("x", 8), bv("y", 8)
    at = {"x": 0xF0, "y": 3}
    for expr, expected in [
        (x + y, 0xF3), (x - y, 0xED), (x * y, 0xD0), (x / y, 0xFB), (x.udiv(y), 0x50), (x % y, 2), (x.urem(y), 0),
        (x.srem(y), 0xFF), (x << y, 0x80), (x >> y, 0xFE), (x.lshr(y), 0x1E), (x & y, 0), (x | y, 0xF3), (x ^ y, 0xF3),
        (~x, 0x0F), (-x, 0x10), (1 + x, 0xF1), (1 - x, 0x11), (x < y, True), (x.ult(y), False), (x > 0, False),
        (x.ugt(0), True), (x <= y, True), (x.uge(y), True), (x == 0xF0, True), (x != -16, False),
        (x.extract(7, 4), 15), (x.zext(16), 0xF0), (x.sext(16), 0xFFF0), (x.rotate_left(4), 0x0F),
        (concat(x, y), 0xF003),
        (ite(x == y, 1, x), 0xF0), (apply("bvcomp", x, y), 0), (apply("bvsaddo", x, x), False),
        (all_of([x == 0xF0, True]), True), (any_of([]), False), ((x == y).implies(False), True),
    ]:  # fmt: skip
        assert value(expr, **at) == expected, str(expr)


def test_arrays_and_tables() -> None:
    a, i = array("a", 8, 8), bv("i", 8)
    squares = table(a, [n * n % 256 for n in range(16)])
    solver = Solver()
    solver.add(squares[i] == 49, i.ult(16), a.store(3, i)[3] == i, a[200] == 7, const_array(8, i)[9] == i)
    assert solver.check() == "sat"
    model = solver.model()
    assert model[i] == 7
    assert model[a[200]] == 7
    assert model[squares[200]] == 7
    default, entries = model[a]
    assert entries.get(200, default) == 7


def test_wide_numbers_round_trip() -> None:
    x = bv("x", 200)
    number = (1 << 199) + 12345678901234567890123
    solver = Solver()
    solver.add(x == number)
    assert solver.check() == "sat"
    assert solver.model()[x] == number
    assert solver.model()[x + bv(-1, 200)] == number - 1
    assert solver.model()[bv(-(1 << 199), 200)] == 1 << 199


def test_push_pop_assumptions_and_core() -> None:
    x, y = bv("x", 8), bv("y", 8)
    solver = Solver()
    solver.add(x.ult(10), y == 3)
    solver.push()
    solver.add(x.ugt(20))
    assert solver.check() == "unsat"
    assert [str(e) for e in solver.unsat_core()] == ["(bvult x #x0a)", "(bvugt x #x14)"]
    solver.pop()
    assert solver.check() == "sat"
    assert solver.check(x == 5, x == 6, y == 3) == "unsat"
    assert [str(e) for e in solver.unsat_core()] == ["(= x #x05)", "(= x #x06)"]
    assert solver.check(x == 5) == "sat"
    assert solver.model()[x] == 5
    solver.reset()
    assert solver.assertions == []
    assert solver.check(False) == "unsat"


def test_contradictions_outside_the_slice_are_found() -> None:
    """x > 5 and x < 3 with a condition on y only: constraints may be sliced away only if known to be feasible."""
    x, y = bv("x", 8), bv("y", 8)
    solver = Solver()
    solver.add(x.ugt(5), x.ult(3))
    assert solver.check(y == 1) == "unsat"
    assert {str(e) for e in solver.unsat_core()} == {"(bvugt x #x05)", "(bvult x #x03)"}


def test_one_expression_in_two_solvers() -> None:
    x = bv("x", 8)
    shared = x * x == 49
    first, second = Solver(), Solver(layers="simplify split z3")
    first.add(shared, x.ult(100))
    second.add(shared, x.ugt(100))
    assert (first.check(), second.check()) == ("sat", "sat")
    assert first.model()[x] == 7
    assert second.model()[x] in (121, 135, 249)


def test_statistics_add_up() -> None:
    x = bv("x", 8)
    solver = Solver(layers="split bitwuzla")
    for i in range(5):
        solver.check(x * x == i)
    statistics = solver.statistics
    assert statistics["queries"] == 5
    for layer in statistics["layers"]:
        assert layer["asked"] == layer["sat"] + layer["unsat"] + layer["unknown"] + layer["passed"]
    assert statistics["layers"][1]["solve_s"] > 0
    assert statistics["layers"][1]["translate_s"] > 0


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda: bool(bv("x", 8) == 1), TypeError, "the truth of (= x #x01) is not known: write & | ~ instead of and"),
        (
            lambda: bv("x", 8) + bv("y", 9),
            TypeError,
            "bvadd: expected (_ BitVec 8) like its first argument, found (_ Bi",
        ),
        (lambda: bv("x", 8) + 256, ValueError, "expected a number that fits in 8 bits (-2**7 to 2**8 - 1), found 256"),
        (
            lambda: bv("x", 8) + -129,
            ValueError,
            "expected a number that fits in 8 bits (-2**7 to 2**8 - 1), found -129",
        ),
        (lambda: bv("x", 70) + (1 << 70), ValueError, "expected a number that fits in 70 bits"),
        (lambda: bv("x", 8) + True, TypeError, "expected (_ BitVec 8), found True"),
        (lambda: bv("x", 8) + "1", TypeError, "expected an expression or a number, found str"),
        (lambda: bv("x", 0), ValueError, "expected a width from 1 to 16777216, found 0"),
        (
            lambda: bv("x", 8)[0],
            TypeError,
            "expected an array before [index], found (_ BitVec 8): for bits of a bit-vec",
        ),
        (lambda: list(bv("x", 8)), TypeError, "an expression cannot be iterated over, found x"),
        (lambda: apply("bvfoo", bv("x", 8)), ValueError, 'expected the name of an SMT-LIB function, found "bvfoo"'),
        (lambda: bv("x", 8).zext(4), ValueError, "expected a width of at least 8 to extend to, found 4"),
        (lambda: Solver().add(bv("x", 8)), TypeError, "expected a Bool, found (_ BitVec 8)"),
        (lambda: Solver().model(), UsageError, "expected model() directly after a check() that answered sat"),
        (lambda: Solver().pop(), UsageError, "expected at most 0 levels to pop, found 1"),
        (lambda: Solver(layers="split bogus"), UsageError, "layers: expected a layer ("),
        (lambda: Solver(layers="process"), UsageError, "expected the option cmd=COMMAND for `process`, found none"),
        (lambda: Solver(layers="process(cmd=no-such-program)"), UsageError, "not on PATH: no-such-program"),
        (lambda: Solver(layers=[object()]), TypeError, "expected a layer with a str `name`, found object"),  # type: ignore[list-item]
        (
            lambda: table(array("a", 2, 8), [0] * 5),
            ValueError,
            "expected at most 4 elements for an index of 2 bits, found 5",
        ),
    ],
)
def test_messages(mistake: object, error: type[Exception], message: str) -> None:
    assert callable(mistake)
    with pytest.raises(error) as caught:
        mistake()
    assert message in str(caught.value)


def test_one_name_with_two_sorts() -> None:
    solver = Solver()
    x = bv("x", 8)
    solver.add(x == 1)
    with pytest.raises(TypeError, match=r"`x` has sort \(_ BitVec 8\), and cannot also have sort \(_ BitVec 9\)"):
        solver.add(bv("x", 9) == 1)
    assert solver.check() == "sat"


def test_deep_expressions() -> None:
    expr = x = bv("x", 32)
    for i in range(200_000):
        expr = (expr ^ x) + (i & 1)
    solver = Solver(layers="simplify")
    solver.add(expr == 5)
    assert solver.check() == "unknown"
    assert len(str(expr)) < 2000
    del expr, solver


def test_collection_keeps_referenced_expressions() -> None:
    x = bv("x", 12)
    solver = Solver(layers="simplify split bitwuzla")
    solver.add(x.ult(1000))
    kept = x * x == 1369
    assert solver.check(kept) == "sat"
    for i in range(300):
        solver.check((x * (i + 3)).urem(77) == i % 77)
    assert solver.collect() > 300
    assert solver.check(kept, x.ugt(5)) == "sat"
    assert solver.model()[x] == 37
    assert solver.check((x * 3).urem(77) == 0, x.ugt(77)) == "sat"


HARD = (bv("p", 48) * bv("q", 48) == 0x7FFFFFFFFFE7, bv("p", 48).ugt(1), bv("q", 48).ugt(1))
HARD_BOUNDS = (bv("p", 48).ult(1 << 24), bv("q", 48).ult(1 << 24))


@pytest.mark.parametrize("backend", ["bitwuzla", "z3", "cvc5"])
def test_deadlines(backend: str) -> None:
    solver = Solver(layers=backend, timeout=0.3)
    solver.add(*HARD, *HARD_BOUNDS)
    start = time.monotonic()
    assert solver.check() == "unknown"
    assert solver.reason_unknown == "timeout"
    assert time.monotonic() - start < 20
    assert solver.check(timeout=0) == "unknown"
    solver.reset()
    assert solver.check(bv("p", 48) == 1) == "sat", "the solver stays usable"


@pytest.mark.parametrize("backend", ["bitwuzla", "z3"])
def test_ctrl_c_ends_a_check(backend: str) -> None:
    # A shell may have started this process with SIGINT ignored, and tests before may have changed the handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    solver = Solver(layers=backend)
    solver.add(*HARD, *HARD_BOUNDS)
    threading.Timer(0.5, _thread.interrupt_main).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        solver.check(timeout=120)
    assert time.monotonic() - start < 60
    solver.reset()
    assert solver.check(bv("p", 48) == 1) == "sat", "the solver stays usable"


@pytest.mark.parametrize("backend", ["bitwuzla", "z3"])
def test_other_threads_run_during_a_check_and_can_interrupt_it(backend: str) -> None:
    solver = Solver(layers=backend, timeout=120)
    solver.add(*HARD, *HARD_BOUNDS)
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        for _ in range(20):
            time.sleep(0.01)
            ticks += 1
        solver.interrupt()

    thread = threading.Thread(target=tick)
    thread.start()
    assert solver.check() == "unknown"
    thread.join()
    assert ticks == 20
    assert solver.reason_unknown == "canceled"


names = st.sampled_from(["x", "y", "z"])
words = st.recursive(
    st.one_of(names.map(lambda n: bv(n, 4)), st.integers(0, 15).map(lambda n: bv(n, 4))),
    lambda inner: st.tuples(st.sampled_from(["bvadd", "bvmul", "bvxor", "bvudiv", "bvshl", "bvand"]), inner, inner).map(
        lambda t: apply(*t)
    ),
    max_leaves=5,
)
conditions = st.tuples(st.sampled_from(["bvult", "bvsle", "=", "distinct"]), words, words).map(lambda t: apply(*t))
steps = st.lists(st.one_of(conditions, st.sampled_from(["push", "pop", "check"])), max_size=16)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_push_and_pop_agree_with_a_fresh_solver(script: list[Expr | str]) -> None:
    solver = Solver()
    frames: list[list[Expr]] = [[]]
    for step in [*script, "check"]:
        if isinstance(step, Expr):
            solver.add(step)
            frames[-1].append(step)
        elif step == "push":
            solver.push()
            frames.append([])
        elif step == "pop":
            if len(frames) > 1:
                solver.pop()
                frames.pop()
        else:
            fresh = Solver(layers="z3")
            everything = [constraint for frame in frames for constraint in frame]
            fresh.add(*everything)
            verdict = solver.check()
            assert verdict == fresh.check()
            if verdict == "sat":
                model = solver.model()
                assert all(model[constraint] is True for constraint in everything)
            else:
                fresh.reset()
                fresh.add(*solver.unsat_core())
                assert fresh.check() == "unsat"


def test_public_names() -> None:
    assert len(partita.__all__) <= 26
    assert boolean("p").sort == "Bool"
