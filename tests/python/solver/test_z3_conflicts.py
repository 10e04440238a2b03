"""`z3(partial=on)`: the assignments of Z3's search, as partial solutions for `solutions:paper` and `reuse:grulia`."""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="partial solutions of Z3 need it: pip install 'partita[z3]'")

from partita import Expr, Solver, UsageError, array, boolean, bv
from partita.testing import conformance

x, y = bv("x", 12), bv("y", 12)
MEMORY = array("memory", 32, 8)
WORD = MEMORY[1].concat(MEMORY[0])
PRIME = 3_999_971


def hard(a: Expr, b: Expr) -> list[Expr]:
    """No product of two such words is a prime: an unsatisfiable query with many conflicts."""
    return [a.ugt(1), b.ugt(1), a.ult(1 << 11), b.ult(1 << 11), a.zext(24) * b.zext(24) == PRIME]


def kept(chain: str, *constraints: Expr) -> tuple[str, dict[str, float], dict[str, float], Solver]:
    solver = Solver(layers=chain)
    solver.add(*constraints)
    verdict = solver.check()
    cache, z3 = solver.statistics["layers"]
    return verdict, cache, z3, solver


@pytest.mark.parametrize("above", ["", "simplify split", "solutions:paper", "reuse:grulia(partial=on)", "solutions"])
def test_conformance(above: str) -> None:
    sat, unsat, unknown = conformance(f"{above} z3(partial=on)".strip(), seed=5, queries=100)
    assert min(sat, unsat) > 10
    assert unknown == 0


def test_partial_solutions_satisfy_another_branch() -> None:
    verdict, cache, z3, solver = kept("solutions:paper(kp=40,ks=40) z3(partial=on)", *hard(x, y))
    assert verdict == "unsat"
    assert z3["conflicts"] > 40
    assert cache["partial"] == 40
    # The last assumption is violated by the partial solutions, which satisfy what is before it.
    assert solver.check() == "unsat"
    other = Solver(layers="solutions:paper(kp=40,ks=40) z3(partial=on)")
    *bounds, product = hard(x, y)
    other.add(*bounds)
    assert other.check(product) == "unsat"
    assert other.check(~product) == "sat"
    cache, z3 = other.statistics["layers"]
    assert cache["by_partial"] + cache["same"] > 0


def test_kp_is_a_limit_and_off_is_the_control() -> None:
    for chain, number in (
        ("solutions:paper(kp=3) z3(partial=on)", 3),
        ("solutions:paper(kp=0) z3(partial=on)", 0),
        ("solutions:paper(harvest=off) z3(partial=on)", 0),
        ("solutions:paper z3(partial=off)", 0),
        ("solutions:paper z3", 0),
    ):
        assert kept(chain, *hard(x, y))[1]["partial"] == number, chain


def test_elements_of_arrays_and_booleans() -> None:
    low = WORD & 0xFFF
    flag = boolean("flag")
    constraints = [*hard(x, low.extract(11, 0)), flag | (x == 5)]
    verdict, cache, _, _ = kept("solutions:paper(kp=30) z3(partial=on)", *constraints)
    assert (verdict, cache["partial"]) == ("unsat", 30)
    verdict, _, _, solver = kept("solutions:paper z3(partial=on)", MEMORY[3] * MEMORY[4] == 143, MEMORY[3].ugt(1))
    assert verdict == "sat"
    assert solver.model()[MEMORY[3]] * solver.model()[MEMORY[4]] % 256 == 143


def test_deadline() -> None:
    a, b = bv("a", 48), bv("b", 48)
    solver = Solver(layers="z3(partial=on)")
    solver.add(a.ugt(1), b.ugt(1), a.zext(96) * b.zext(96) == 1_000_000_000_000_000_003 * 1_000_000_007)
    assert solver.check(timeout=0.3) == "unknown"


def test_options() -> None:
    for wrong in ("z3(partial=maybe)", "z3:paper", "z3(kp=3)"):
        with pytest.raises(UsageError) as caught:
            Solver(layers=wrong)
        assert str(caught.value) == "expected `z3` or `z3(partial=on)`, for partial solutions, with no other options"


def test_a_search_inside_the_search_is_not_watched() -> None:
    """Z3 starts one for quantifiers."""
    import z3

    from partita.backends.z3_conflicts import Watcher

    x, y = z3.BitVecs("x y", 8)
    f = z3.Function("f", z3.BitVecSort(8), z3.BitVecSort(8))
    for value, expected in ((5, z3.sat), (0, z3.unsat)):
        solver = z3.SimpleSolver()
        watcher = Watcher(solver, {(0, None, 0): z3.Extract(0, 0, x)}, 10)
        solver.add(z3.ForAll([y], z3.UGT(f(y), y & 3)), f(x) == value, x != 3)
        assert solver.check() == expected
        assert {place for found in watcher.found for place, _ in found} <= {(0, None, 0)}
