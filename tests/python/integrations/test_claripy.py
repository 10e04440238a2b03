"""`partita.integrations.claripy` compared with claripy: operations, front ends, and angr if installed."""

from __future__ import annotations

import pickle
import random
from itertools import product
from typing import Any

import pytest

pytest.importorskip("claripy", reason="claripy is not installed: pip install 'partita[claripy]'")

import claripy
import z3

from partita.integrations.claripy import LEAVES, OPERATIONS, Solver, SolverComposite, backend

FRONT_ENDS = [Solver, SolverComposite]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_solver_interface(front_end: type) -> None:
    x, y = claripy.BVS("x", 32), claripy.BVS("y", 32)
    solver = front_end()
    solver.add([x * y == 899, claripy.ULT(1, x), claripy.ULT(x, y), claripy.ULT(y, 0x100)])
    assert solver.satisfiable()
    (a,), (b,) = solver.eval(x, 1), solver.eval(y, 1)
    assert a * b == 899
    assert solver.eval(x, 10) == (a,)
    assert (solver.min(x), solver.max(y)) == (a, b)
    assert solver.solution(x, a)
    assert not solver.solution(x, a + 1)
    assert solver.batch_eval([x, y], 4) == [(a, b)]
    branch = solver.branch()
    branch.add(x == 2)
    assert not branch.satisfiable()
    with pytest.raises(claripy.UnsatError):
        branch.eval(x, 1)
    with pytest.raises(claripy.UnsatError):
        branch.max(x)
    assert solver.satisfiable(extra_constraints=[x == a])
    assert not solver.satisfiable(extra_constraints=[x == a + 1])


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_signed_and_unsigned_extremes_and_several_values(front_end: type) -> None:
    x = claripy.BVS("x", 8)
    solver = front_end()
    solver.add([claripy.SGE(x, -3), claripy.SLE(x, 2)])
    assert (solver.min(x, signed=True), solver.max(x, signed=True)) == (-3, 2)
    assert (solver.min(x), solver.max(x)) == (0, 255)
    assert sorted(solver.eval(x, 100)) == [0, 1, 2, 253, 254, 255]
    assert solver.max(x, extra_constraints=(x != 255, x != 254)) == 253
    assert solver.min(x + 1, extra_constraints=(x != 255,)) == 1


def test_extremes_take_few_queries() -> None:
    x = claripy.BVS("x", 64)
    session = backend.solver()
    backend.add(session, [claripy.UGE(x, 1000), claripy.ULE(x, 10**15)])
    assert backend.max(x, solver=session) == 10**15
    assert backend.min(x, solver=session) == 1000
    assert session.chain.statistics["queries"] <= 6


def test_cores_are_claripys_constraints() -> None:
    x, y = claripy.BVS("x", 16), claripy.BVS("y", 16)
    solver = Solver(track=True)
    solver.add([claripy.ULT(x, 5), y == 3, claripy.UGT(x, 9)])
    core = solver.unsat_core()
    assert {constraint.hash() for constraint in core} == {claripy.ULT(x, 5).hash(), claripy.UGT(x, 9).hash()}


def test_merging_and_pickling() -> None:
    x = claripy.BVS("x", 8, explicit_name=True)
    one, two = Solver(), Solver()
    one.add([x == 1])
    two.add([x == 2])
    which = claripy.BVS("which", 1, explicit_name=True)
    merged, both = one.merge([two], [which == 0, which == 1])
    assert merged
    assert sorted(both.eval(x, 5)) == [1, 2]
    again = pickle.loads(pickle.dumps(one))
    assert type(again) is Solver
    assert again.eval(x, 3) == (1,)


def test_unsupported_operations_are_refused() -> None:
    with pytest.raises(claripy.errors.BackendError):
        backend.convert(claripy.StringS("s"))
    with pytest.raises(claripy.errors.BackendError, match="expected a bit-vector for a minimum or maximum"):
        Solver().max(claripy.FPS("f", claripy.FSORT_DOUBLE))
    a, b = claripy.BVS("a", 64), claripy.BVS("b", 64)
    impatient = Solver(timeout=50)
    product_of_primes = 2147483659 * 3000000019
    impatient.add([a * b == product_of_primes, claripy.ULT(1, a), claripy.ULT(a, b), claripy.ULT(b, 1 << 32)])
    with pytest.raises(claripy.errors.ClaripySolverInterruptError, match="timeout"):
        impatient.satisfiable()


def terms(x: Any, y: Any) -> dict[str, Any]:
    """Returns one expression per operation."""
    wide = claripy.Concat(x, y)
    return {
        "__add__": x + y,
        "__sub__": x - y,
        "__mul__": x * y,
        "__floordiv__": x // y,
        "__mod__": x % y,
        "SDiv": x.SDiv(y),
        "SMod": x.SMod(y),
        "__and__": x & y,
        "__or__": x | y,
        "__xor__": x ^ y,
        "__invert__": ~x,
        "__neg__": -x,
        "__lshift__": x << y,
        "__rshift__": x >> y,
        "LShR": claripy.LShR(x, y),
        "RotateLeft": claripy.RotateLeft(x, y),
        "RotateRight": claripy.RotateRight(x, y),
        "Reverse": claripy.Reverse(claripy.Concat(wide, wide, claripy.BVV(5, 4))),
        "Concat": wide,
        "Extract": claripy.Extract(4, 2, wide),
        "ZeroExt": x.zero_extend(2),
        "SignExt": x.sign_extend(2),
        "If": claripy.If(x == y, x, y + 1),
        "__eq__": x == y,
        "__ne__": x != y,
        "And": claripy.And(x == 1, y != 2),
        "Or": claripy.Or(x == 1, y == 2),
        "Not": claripy.Not(claripy.And(x == 1, y == 1)),
        **{name: getattr(claripy, name)(x, y) for name in "ULT ULE UGT UGE SLT SLE SGT SGE".split()},
    }


WIDTH = 3


@pytest.mark.parametrize("name", sorted(terms(claripy.BVS("x", WIDTH), claripy.BVS("y", WIDTH))))
def test_every_operation_agrees_with_claripy(name: str) -> None:
    """For every pair of values: claripy's Z3 finds none for which the result differs."""
    x, y = (claripy.BVS(letter, WIDTH, explicit_name=True) for letter in "xy")
    term = terms(x, y)[name]
    rows = Solver().batch_eval([x, y, term], 1 << 2 * WIDTH)
    assert {row[:2] for row in rows} == set(product(range(1 << WIDTH), repeat=2))
    theirs = claripy.SolverCacheless()
    theirs.add([claripy.Or(*(claripy.And(x == a, y == b, term != value) for a, b, value in rows))])
    assert not theirs.satisfiable(), rows


def test_no_operation_is_missing() -> None:
    named = terms(claripy.BVS("x", WIDTH), claripy.BVS("y", WIDTH))
    floats = claripy.operations.backend_fp_operations
    assert set(OPERATIONS) - set(named) - floats == {"Xor"}
    needed = claripy.operations.backend_operations - claripy.operations.backend_strings_operations
    assert (needed | floats) - set(OPERATIONS) - set(LEAVES) == {"StringV"}


def test_random_constraints_agree_with_z3() -> None:
    # Z3 is asked directly: claripy converts its models, which now and then reads freed memory with recent Z3.
    to_z3 = claripy.backends.z3.convert
    chance = random.Random(3)
    verdicts = []
    for _ in range(30):
        x, y = claripy.BVS("x", 12), claripy.BVS("y", 12)
        available = [term for name, term in terms(x, y).items() if name != "Reverse"]
        words = [term for term in available if isinstance(term, claripy.ast.BV) and term.size() == 12]
        chosen = [chance.choice(words) == chance.randrange(4096), claripy.ULT(chance.choice(words), 400)]
        ours, theirs = Solver(), z3.Solver()
        ours.add(chosen)
        theirs.add([to_z3(term) for term in chosen])
        verdicts.append(ours.satisfiable())
        assert verdicts[-1] == (theirs.check() == z3.sat), chosen
        if verdicts[-1]:
            word = chance.choice(words)
            for end, less in product(("min", "max"), (claripy.ULT, claripy.SLT)):
                found = getattr(ours, end)(word, signed=less is claripy.SLT)
                beyond = less(word, found) if end == "min" else less(found, word)
                assert theirs.check(to_z3(word == found)) == z3.sat, (word, chosen)
                assert theirs.check(to_z3(beyond)) == z3.unsat, (word, chosen)
    assert 5 < sum(verdicts) < 28


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_angr_explores_with_partita(front_end: type) -> None:
    """Explores both sides of a branch in AMD64 code."""
    angr = pytest.importorskip("angr", reason="angr is not installed: pip install angr (it is large)")
    from angr.state_plugins import SimSolver

    # lea eax, [rdi + rdi*2]; cmp eax, 33; jne +3; mov al, 1; ret; xor eax, eax; ret
    code = bytes.fromhex("8d047f83f8217503b001c331c0c3")
    project = angr.load_shellcode(code, "amd64", load_address=0x1000)
    solver = SimSolver(solver=front_end())
    state = project.factory.blank_state(addr=0x1000, plugins={"solver": solver})
    rdi = claripy.BVS("rdi", 64)
    state.regs.rdi = rdi
    state.solver.add(claripy.ULT(rdi, 1000))
    manager = project.factory.simulation_manager(state)
    manager.step()
    ends = {end.addr: end.solver for end in manager.active}
    assert sorted(ends) == [0x1008, 0x100B]
    assert all(isinstance(solver._stored_solver, front_end) for solver in ends.values())
    assert ends[0x1008].eval_upto(rdi, 5) == [11]
    assert (ends[0x100B].min(rdi), ends[0x100B].max(rdi)) == (0, 999)
    assert not ends[0x100B].satisfiable([rdi == 11])
