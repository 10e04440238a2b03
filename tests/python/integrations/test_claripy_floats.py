"""Floating-point operations of `partita.integrations.claripy`, compared with Z3 as claripy translates for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("claripy", reason="claripy is not installed: pip install 'partita[claripy]'")

import claripy
from claripy.fp import RM

from partita.integrations.claripy import Solver, SolverComposite

SORTS = {"single": claripy.FSORT_FLOAT, "double": claripy.FSORT_DOUBLE}
VALUES = [0.0, -0.0, 1.0, -1.5, 0.1, 3e38, -7.25, 1e-40, 123456789.0, math.inf, -math.inf, math.nan]


def arithmetic(x: Any, y: Any, mode: RM) -> dict[str, Any]:
    return {
        "fpAdd": claripy.fpAdd(mode, x, y),
        "fpSub": claripy.fpSub(mode, x, y),
        "fpMul": claripy.fpMul(mode, x, y),
        "fpDiv": claripy.fpDiv(mode, x, y),
        "fpSqrt": claripy.fpSqrt(mode, x),
        "fpAbs": claripy.fpAbs(x),
        "fpNeg": claripy.fpNeg(x),
        "fpToFP, number": claripy.fpToFP(mode, x, claripy.FSORT_FLOAT),
        "fpToFP, wide number": claripy.fpToFP(mode, x, claripy.FSORT_DOUBLE),
        "fpToFP, integer": claripy.fpToFP(mode, bits_of(x) ^ bits_of(y), x.sort),
        "fpToFPUnsigned": claripy.fpToFPUnsigned(mode, bits_of(x) ^ bits_of(y), x.sort),
        "fpFP": claripy.fpFP(*fields(x)),
        "If": claripy.If(x < y, x, y),
    }


def predicates(x: Any, y: Any, mode: RM) -> dict[str, Any]:
    one = claripy.FPV(1.0, x.sort)
    return {
        **{name: getattr(claripy, name)(x, y) for name in "fpLT fpLEQ fpGT fpGEQ fpEQ fpNEQ".split()},
        "fpIsNaN": claripy.fpIsNaN(x),
        "fpIsInf": claripy.fpIsInf(x),
        # In range for every number between -1 and 1, and compared for these only.
        "fpToSBV": claripy.Or(claripy.Not(claripy.fpAbs(x) <= one), claripy.fpToSBV(mode, x, 16) == 0),
        "fpToUBV": claripy.Or(claripy.Not(x <= one), claripy.Not(x >= 0.0), claripy.fpToUBV(mode, x, 16) == 0),
    }


def bits_of(x: Any) -> Any:
    return claripy.BVV(0x3F9D_70A4, 32) if x.sort.length == 32 else claripy.BVV(0x3FF4_7AE1_47AE_147B, 64)


def fields(x: Any) -> tuple[Any, Any, Any]:
    bits = claripy.BVS("bits", x.sort.length, explicit_name=True)
    top, stored = x.sort.length - 1, x.sort.mantissa - 1
    return bits[top:top], bits[top - 1 : stored], bits[stored - 1 : 0]


def is_value(term: Any, value: Any) -> Any:
    """Whether a number is this one, for Z3: NaN is NaN, zeros have a sign."""
    if not isinstance(term, claripy.ast.FP):
        return term == value
    if math.isnan(value):
        return claripy.fpIsNaN(term)
    constant = claripy.FPV(value, term.sort)
    same_sign = claripy.fpLT(1 / term, claripy.FPV(0.0, term.sort)) == (math.copysign(1, value) < 0)
    return claripy.And(term == constant, same_sign) if value == 0 else term == constant


def z3_refutes(*constraints: Any) -> bool:
    """Whether Z3 finds no model, without the front end of claripy: that converts numbers of Z3 back, which fails for
    recent Z3."""
    z3 = pytest.importorskip("z3")
    solver = z3.Solver(ctx=claripy.backends.z3._context)
    solver.add(*(claripy.backends.z3.convert(constraint) for constraint in constraints))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize(("sort", "mode"), [*(("single", mode) for mode in RM), ("double", RM.RM_TowardsZero)], ids=str)
def test_every_operation_agrees_with_z3(sort: str, mode: RM) -> None:
    x, y = (claripy.FPS(name, SORTS[sort], explicit_name=True) for name in "xy")
    terms = {**arithmetic(x, y, mode), **predicates(x, y, mode)}
    # Another few of the pairs for each mode.
    for i in range(list(RM).index(mode), len(VALUES), len(RM)):
        value, other = VALUES[i], VALUES[(5 * i + 1) % len(VALUES)]
        given = [is_value(x, value), is_value(y, other)]
        solver = Solver()
        solver.add(given)
        for name, term in terms.items():
            if sort == "double" and name in ("fpDiv", "fpSqrt"):
                continue  # Z3 takes long.
            (found,) = solver.eval(term, 1)
            if name == "fpFP":
                assert solver.satisfiable(extra_constraints=[is_value(term, value)])
            else:
                assert z3_refutes(*given, claripy.Not(is_value(term, found))), (name, value, other, found)


@pytest.mark.parametrize("front_end", [Solver, SolverComposite])
def test_solver_interface(front_end: type) -> None:
    x = claripy.FPS("x", claripy.FSORT_DOUBLE)
    solver = front_end()
    solver.add([x + 1.0 == x, x < 1e300, x > 0.0])
    values = solver.eval(x, 3)
    assert len(set(values)) == 3
    assert all(value + 1.0 == value and 0 < value < 1e300 for value in values)
    assert solver.solution(x, 2.0**53)
    assert not solver.solution(x, 2.0**53 - 1)
    assert not solver.satisfiable(extra_constraints=[claripy.fpIsNaN(x)])
    branch = solver.branch()
    branch.add(x < 2.0**52)
    assert not branch.satisfiable()
    (bits,) = solver.eval(x.raw_to_bv(), 1)
    assert bits.bit_length() <= 63


def test_cached_models_do_not_ignore_rounding_modes() -> None:
    """claripy evaluates cached models with Python's numbers, which round to nearest."""
    word = claripy.BVS("word", 64)
    solver = Solver()
    solver.add([word == 0x3FB9_9999_9999_999A])
    assert solver.eval(word, 1) == (0x3FB9_9999_9999_999A,)
    number = word.raw_to_fp()
    assert solver.eval(claripy.fpAdd(RM.RM_TowardsZero, number, claripy.FPV(0.2, number.sort)), 1) == (0.3,)
    assert solver.eval(claripy.fpAdd(RM.RM_NearestTiesEven, number, claripy.FPV(0.2, number.sort)), 1) == (0.1 + 0.2,)


def test_numbers_and_words_of_one_name_differ() -> None:
    number = claripy.FPS("x", claripy.FSORT_FLOAT, explicit_name=True)
    word = claripy.BVS("x", 32, explicit_name=True)
    solver = Solver()
    solver.add([number == 1.0, word == 5])
    assert solver.batch_eval([number, word], 2) == [(1.0, 5)]
