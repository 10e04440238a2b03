"""`partita.integrations.pysmt` compared with pySMT's simplifier and with Z3 through pySMT."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

pytest.importorskip("pysmt", reason="pySMT is not installed: pip install 'partita[pysmt]'")

from pysmt.environment import Environment
from pysmt.exceptions import ConvertExpressionError, PysmtValueError, SolverReturnedUnknownResultError
from pysmt.logics import QF_ABV, QF_BV
from pysmt.shortcuts import get_env, reset_env
from pysmt.typing import BOOL, BV8, REAL, ArrayType, BVType

from partita.integrations.pysmt import FUNCTIONS, INDEXED, register


@pytest.fixture
def env() -> Iterator[Environment]:
    reset_env()
    register()
    yield get_env()
    reset_env()


def test_selected_by_name_and_by_preference(env: Environment) -> None:
    mgr = env.formula_manager
    x = mgr.Symbol("x", BV8)
    formula = mgr.Equals(mgr.BVMul(x, x), mgr.BV(49, 8))
    assert env.factory.is_sat(formula, solver_name="partita")
    assert not env.factory.is_sat(mgr.And(formula, mgr.Equals(x, mgr.BV(8, 8))), solver_name="partita")
    assert env.factory.is_valid(mgr.Equals(mgr.BVAdd(x, x), mgr.BVLShl(x, mgr.BV(1, 8))), solver_name="partita")
    register(env, preferred=True)
    with env.factory.Solver(logic=QF_BV) as solver:
        assert type(solver).__name__ == "PartitaSolver"


def test_incremental_solving_assumptions_and_models(env: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    mgr = env.formula_manager
    x, p = mgr.Symbol("x", BV8), mgr.Symbol("p", BOOL)
    with env.factory.Solver(name="partita") as solver:
        solver.add_assertion(mgr.Iff(p, mgr.BVULT(x, mgr.BV(10, 8))))
        assert solver.solve()
        solver.push()
        solver.add_assertion(mgr.Equals(x, mgr.BV(12, 8)))
        assert solver.solve()
        assert solver.get_py_value(x) == 12
        assert solver.get_py_value(p) is False
        assert not solver.solve([p])
        solver.pop()
        assert solver.solve([p, mgr.BVUGT(x, mgr.BV(8, 8))])
        model = solver.get_model()
        assert model.get_py_value(x) == 9
        assert model.get_py_value(mgr.BVAdd(x, x)) == 18
        solver.print_model()
        assert sorted(capsys.readouterr().out.split("\n")) == ["", "p = True", "x = 9_8"]
        solver.reset_assertions()
        assert solver.solve([mgr.Not(p)])


def test_arrays_and_their_values(env: Environment) -> None:
    mgr = env.formula_manager
    sort = ArrayType(BV8, BVType(16))
    a, i = mgr.Symbol("a", sort), mgr.Symbol("i", BV8)
    constant = mgr.Array(BV8, mgr.BV(5, 16), {mgr.BV(3, 8): mgr.BV(7, 16)})
    with env.factory.Solver(name="partita", logic=QF_ABV) as solver:
        solver.add_assertion(mgr.Equals(a, mgr.Store(constant, i, mgr.BV(9, 16))))
        solver.add_assertion(mgr.Equals(i, mgr.BV(4, 8)))
        assert solver.solve()
        values = [solver.get_py_value(mgr.Select(a, mgr.BV(at, 8))) for at in range(6)]
        assert values == [5, 5, 5, 7, 9, 5]
        assert env.simplifier.simplify(mgr.Select(solver.get_value(a), mgr.BV(4, 8))).constant_value() == 9


def test_cores(env: Environment) -> None:
    mgr = env.formula_manager
    x, y = mgr.Symbol("x", BV8), mgr.Symbol("y", BV8)
    parts = [mgr.BVULT(x, mgr.BV(5, 8)), mgr.BVULT(y, mgr.BV(5, 8)), mgr.BVUGT(x, mgr.BV(9, 8))]
    assert env.factory.get_unsat_core(parts, solver_name="partita") == {parts[0], parts[2]}
    with env.factory.UnsatCoreSolver(name="partita", unsat_cores_mode="named") as solver:
        for name, part in zip("abc", parts, strict=True):
            solver.add_assertion(part, named=name)
        assert not solver.solve()
        assert solver.get_named_unsat_core() == {"a": parts[0], "c": parts[2]}


def test_unsupported_formulas_are_refused(env: Environment) -> None:
    mgr = env.formula_manager
    r = mgr.Symbol("r", REAL)
    with env.factory.Solver(name="partita") as solver:
        with pytest.raises(ConvertExpressionError, match="expected bit-vectors, arrays and booleans"):
            solver.add_assertion(mgr.LT(r, mgr.Real(1)))
        with pytest.raises(ConvertExpressionError, match="expected arrays from bit-vectors to bit-vectors"):
            solver.add_assertion(mgr.Equals(*(mgr.Symbol(n, ArrayType(BOOL, BV8)) for n in "ab")))
    with pytest.raises(PysmtValueError, match="expected the options layers, timeout, found `speed`"):
        env.factory.Solver(name="partita", solver_options={"speed": 1})
    with pytest.raises(PysmtValueError, match="layers"):
        env.factory.Solver(name="partita", solver_options={"layers": "nonsense"})
    x = mgr.Symbol("x", BV8)
    options: dict[str, Any] = {"layers": "simplify"}
    with env.factory.Solver(name="partita", solver_options=options) as solver:
        solver.add_assertion(mgr.Equals(mgr.BVMul(x, x), mgr.BV(49, 8)))
        with pytest.raises(SolverReturnedUnknownResultError):
            solver.solve()


def random_term(mgr: Any, chance: random.Random, leaves: list[Any], depth: int) -> Any:
    """A random bit-vector of four bits."""
    if depth == 0:
        return chance.choice([*leaves, mgr.BV(chance.randrange(16), 4)])
    a, b = (random_term(mgr, chance, leaves, depth - 1) for _ in range(2))
    two = "BVAnd BVOr BVXor BVAdd BVSub BVMul BVUDiv BVURem BVSDiv BVSRem BVLShl BVLShr BVAShr".split()
    return chance.choice(
        [
            *(lambda name=name: getattr(mgr, name)(a, b) for name in two),
            lambda: mgr.BVNot(a),
            lambda: mgr.BVNeg(a),
            lambda: mgr.BVRol(a, 1),
            lambda: mgr.BVRor(a, 3),
            lambda: mgr.BVExtract(mgr.BVConcat(a, b), 2, 5),
            lambda: mgr.BVExtract(mgr.BVSExt(a, 3), 3, 6),
            lambda: mgr.BVExtract(mgr.BVZExt(a, 3), 1, 4),
            lambda: mgr.BVZExt(mgr.BVComp(a, b), 3),
            lambda: mgr.Ite(mgr.BVSLT(a, b), a, b),
            lambda: mgr.Ite(mgr.BVSLE(a, b), b, a),
        ]
    )()


def test_random_formulas_agree_with_pysmt(env: Environment) -> None:
    """Compares with pySMT's simplifier under all assignments."""
    mgr, chance = env.formula_manager, random.Random(7)
    x, y = (mgr.Symbol(name, BVType(4)) for name in "xy")
    verdicts = {True: 0, False: 0}
    for _ in range(40):
        left, right = (random_term(mgr, chance, [x, y], 2) for _ in range(2))
        formula = mgr.And(chance.choice([mgr.BVULT, mgr.BVSLT, mgr.Equals, mgr.BVULE, mgr.BVSLE])(left, right))
        formula = mgr.And(formula, mgr.Equals(random_term(mgr, chance, [x, y], 1), mgr.BV(chance.randrange(16), 4)))
        holds = any(
            env.simplifier.simplify(formula.substitute({x: mgr.BV(a, 4), y: mgr.BV(b, 4)})).is_true()
            for a, b in product(range(16), repeat=2)
        )
        with env.factory.Solver(name="partita") as solver:
            solver.add_assertion(formula)
            assert solver.solve() == holds, formula
            if holds:
                assert solver.get_py_value(formula)
        verdicts[holds] += 1
    assert min(verdicts.values()) > 5


def test_every_operator_is_supported() -> None:
    import pysmt.operators as op

    there = set(FUNCTIONS) | set(INDEXED) | {op.BV_CONSTANT, op.ARRAY_VALUE}
    named = {number for number in op.ALL_TYPES if op.op_to_str(number).startswith(("BV_", "ARRAY_"))}
    assert named - there <= {op.BV_TONATURAL}
