"""pySMT's generic solver with `partita smt -in` as its process."""

from __future__ import annotations

import io

import pysmt.logics
from pysmt.environment import Environment
from pysmt.shortcuts import get_env, reset_env
from pysmt.smtlib.parser import SmtLibParser

from support import PARTITA

SCRIPT = """
(set-logic QF_BV)
(declare-fun x () (_ BitVec 32))
(declare-fun y () (_ BitVec 32))
(assert (= (bvmul x y) #x00000237))
(assert (bvult #x00000001 x))
(assert (bvult x y))
(assert (bvult y #x00000100))
(check-sat)
"""


def environment() -> Environment:
    reset_env()
    env = get_env()
    env.factory.add_generic_solver("partita", [str(PARTITA), "smt", "-in"], [pysmt.logics.QF_BV, pysmt.logics.QF_ABV])
    return env


def test_a_script_is_solved() -> None:
    env = environment()
    script = SmtLibParser(env).get_script(io.StringIO(SCRIPT))
    formula = script.get_last_formula()
    with env.factory.Solver(name="partita", logic=pysmt.logics.QF_BV) as solver:
        solver.add_assertion(formula)
        assert solver.solve() is True
        mgr = env.formula_manager
        solver.push()
        solver.add_assertion(mgr.Equals(mgr.get_symbol("x"), mgr.BV(2, 32)))
        assert solver.solve() is False
        solver.pop()
        assert solver.solve() is True
        # Last, because pySMT does not read the newline after a value and takes it for the next answer.
        x, y = (solver.get_py_value(mgr.get_symbol(name)) for name in "xy")
        assert x * y == 0x237
        assert 1 < x < y < 256


def test_validity_and_models() -> None:
    env = environment()
    mgr = env.formula_manager
    x = mgr.Symbol("x", env.type_manager.BVType(16))
    theorem = mgr.Equals(mgr.BVAdd(x, x), mgr.BVLShl(x, mgr.BV(1, 16)))
    assert env.factory.is_valid(theorem, solver_name="partita", logic=pysmt.logics.QF_BV)
    model = env.factory.get_model(
        mgr.Equals(mgr.BVNot(x), mgr.BV(5, 16)), solver_name="partita", logic=pysmt.logics.QF_BV
    )
    assert model is not None
    assert model.get_py_value(x) == 0xFFFA
