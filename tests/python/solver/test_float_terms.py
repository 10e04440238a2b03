"""Numbers in Python, and queries over them that need no circuits."""

from __future__ import annotations

import pytest

from partita import Float, FloatFormat, Solver, bv, fp
from partita.errors import UsageError

BEFORE_SAT = "simplify split solutions reuse intervals enumerate"


@pytest.mark.parametrize("form", [(1, 5), (31, 5), (8, 1), (11, 100_000), (8, 1.5), (8, 24, 3, 4), 33, "64", None])
def test_a_format_outside_of_the_limits_is_an_error(form: object) -> None:
    with pytest.raises(UsageError, match="expected"):
        fp("x", form)  # type: ignore[arg-type]


def test_the_smallest_and_other_formats_are_accepted() -> None:
    for form in [(2, 2), (30, 2), (8, 8), FloatFormat(15, 64, True)]:
        x = fp("x", form)
        solver = Solver()
        solver.add(x == x)
        assert solver.check() == "sat"


def test_operands_are_narrowed_beside_an_operand_that_may_be_infinite() -> None:
    """Both are zero, so that the quotient is NaN: four points are left."""
    a, b = fp("a", 64), fp("b", 64)
    solver = Solver(layers=BEFORE_SAT)
    solver.add(~(a < 0.0), ~(b < 0.0), a + b == 0.0)
    assert solver.check() == "sat"
    solver.add(a / (a + b) <= 1.0)
    assert solver.check() == "unsat"


def test_operands_are_narrowed_beside_numbers_of_both_signs() -> None:
    """The product is between 1 and 2, so the other factor is neither zero nor infinite."""
    a, b = fp("a", 64), fp("b", 64)
    for sign in (1.0, -1.0):
        solver = Solver(layers=BEFORE_SAT)
        solver.add(b <= 4.0, b >= -4.0, a * b >= 1.0, a * b <= 2.0)
        solver.add(a < 0.25 * sign, a > -0.25) if sign > 0 else solver.add(a > -0.25, a < 0.2)
        assert solver.check() == "unsat"


def test_all_values_of_two_bytes_are_tried_instead_of_circuits() -> None:
    """As many points as `work` has no room for: sums of 16 bits of input."""
    p, q = bv("p", 8), bv("q", 8)
    single = FloatFormat(8, 24)
    a = Float.from_sint(p, single) * fp(0.3, single)
    b = Float.from_uint(q, single) * fp(1e-7, single)
    rest = (a + b) - a - b
    solver = Solver(layers=BEFORE_SAT)
    solver.add(rest > 1.0)
    assert solver.check() == "unsat"
