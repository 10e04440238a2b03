"""`differences` and `integers` compared with Z3's bit-vectors, and `integers:paper`, which is unsound on overflow."""

from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="the layer `integers` and the reference need Z3: pip install 'partita[z3]'")

import itertools

from partita import Expr, Solver, UsageError, _core, array, backends, bv
from partita.backends.integers import make
from partita.testing import conformance
from support import sortgen
from support.collected import LABEL, crosscheck_collected
from support.crosscheck import ORDER_CHAINS, Tally, crosscheck, text
from support.querygen import ORDERS

x, y, z = (bv(name, 32) for name in "xyz")
TOP = 1 << 31


@pytest.mark.parametrize("part", range(2))
def test_orders_and_sums_agree_with_z3(part: int) -> None:
    total = Tally()
    for number in range(part, 40, 2):
        total.add(crosscheck(f"test/order{number}", ORDER_CHAINS, ORDERS))
    shown = [f"{m.chain}: {m.difference}\n{text(m.script)}" for m in total.mismatches]
    assert not shown, "\n\n".join(shown)
    for chain in ORDER_CHAINS:
        assert total.verdicts[chain] > 400


@pytest.mark.parametrize("chain", ["integers z3", "simplify split intervals differences integers sat"])
def test_conformance(chain: str) -> None:
    sat, unsat, unknown = conformance(chain, seed=11, queries=200)
    assert min(sat, unsat) > 50
    assert unknown == 0


def test_no_stale_proofs_after_a_collection() -> None:
    """Proofs refer to constraints by handle, and handles are reused."""
    tally = crosscheck_collected("test/integers", "verify(z3) integers sat", ORDERS)
    shown = [f"{m.chain}: {m.difference}\n{text(m.script)}" for m in tally.mismatches]
    assert not shown, "\n\n".join(shown)
    assert tally.verdicts[LABEL] > 200


def test_a_proof_does_not_outlive_its_constraint() -> None:
    """x + 1 does not wrap because of a bound on x. The bound is dropped, and another constraint gets its handle."""
    solver = Solver(layers="integers z3")
    cycle = (x + 1).ule(y), y.ule(x)
    others = [bv(f"v{i}", 32) for i in range(10)]
    # Everything but the comparisons is kept alive, so that the new comparison reuses the freed handle.
    solver.add(*[a.ule(b) for a, b in itertools.pairwise(others)])
    solver.push()
    solver.add(x.ult(100))
    assert solver.check(*cycle) == "unsat"
    solver.pop()
    assert solver.collect() > 0
    solver.add(*[a.ult(b) for a, b in itertools.combinations(others, 2)])
    assert solver.check(*cycle) == "sat"


def answers(script: str, chain: str) -> tuple[list[str], dict[str, dict[str, float]]]:
    session = _core.Script("smtlib", chain, chain, backends.make, None, None)
    lines: list[str] = []
    session.run(script.encode(), True, lines.append)
    return "".join(lines).split(), {layer["name"]: layer for layer in session.statistics()["layers"]}


SEQUENCES = {
    "crosscheck of 5": sortgen.crosscheck(5, 200, 1),
    **{name: sortgen.two_symbolic(name, 12, 60, 1) for name in sortgen.SORTS},
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sorting_is_decided_by_order_constraints(name: str) -> None:
    sequence = SEQUENCES[name]
    expected, _ = answers(sequence.script, "z3")
    assert len(expected) == sequence.queries > 50
    for chain in ("intervals differences sat", "verify(z3) differences sat", "integers", "integers:paper"):
        found, layers = answers(sequence.script, chain)
        assert found == expected, chain
        if chain.startswith("intervals"):
            # The condition of a model that neither layer has: the solve brings it, and those after it are repaired.
            assert layers["sat"]["asked"] <= 1
        assert layers.get("verify", {}).get("mismatches", 0) == 0


def solved(chain: str, *constraints: Expr) -> tuple[str, Solver]:
    solver = Solver(layers=chain)
    solver.add(*constraints)
    return solver.check(), solver


@pytest.mark.parametrize("layer", ["differences", "integers"])
def test_a_core_has_the_constraints_behind_its_proofs(layer: str) -> None:
    # x + 1 <= y and y <= x both hold at the maximal x: they contradict each other only with the bound on x.
    cycle = (x + 1).ule(y), y.ule(x)
    assert solved(f"{layer} z3", *cycle)[0] == "sat"
    verdict, solver = solved(layer, x.ult(100), *cycle)
    assert verdict == "unsat"
    assert len(solver.unsat_core()) == 3


def test_bounds_from_sets() -> None:
    # The mask bounds x below 2^16 without a comparison: `differences` gets the bound and its reason from the sets.
    verdict, solver = solved("differences", (x & 0xFFFF0000) == 0, (x + 1).ule(y), y.ule(x))
    assert verdict == "unsat"
    assert len(solver.unsat_core()) == 3
    # The sets get the bounds that follow from a chain of comparisons.
    chain = [bv(f"c{i}", 32) for i in range(20)]
    orders = [a.ult(b) for a, b in itertools.pairwise(chain)]
    verdict, solver = solved("differences sat", *orders, chain[-1].ult(20))
    assert verdict == "sat"
    assert solver.statistics["layers"][0]["tightened"] > 0
    verdict, solver = solved("differences", *orders, chain[-1].ult(19))
    assert verdict == "unsat"
    assert len(solver.unsat_core()) == 20


@pytest.mark.parametrize("layer", ["differences", "integers"])
def test_signed_and_unsigned_views_of_one_word(layer: str) -> None:
    assert solved(f"{layer} z3", x < 0, x.ugt(10))[0] == "sat"
    assert solved(f"{layer} z3", x >= 0, x.ult(y), y < x)[0] == "sat"
    assert solved(layer, x >= 0, y >= 0, x.ult(y), y < x)[0] == "unsat"


@pytest.mark.parametrize(
    ("constraints", "verdict"),
    [
        ([x.ult(100), y.ult(100), x + y == 200], "unsat"),
        ([x.ult(100), y.ult(100), x + y == 198], "sat"),
        ([x.ult(1000), y.ult(1000), z.ult(1000), x * 3 + y * 5 - z == 11, x.ugt(y), y.ugt(z)], "sat"),
        ([x.ult(1000), x * 6 == 9], "unsat"),
        ([x > -100, x < 100, y > 1, y < 10, x / y == -7, x.srem(y) == 3], "unsat"),
        ([x > -100, x < 100, y > 1, y < 10, x / y == -7, x.srem(y) == -3], "sat"),
        ([x > -100, x < 100, y < -1, y > -10, x / y == -7, x.srem(y) == 3], "sat"),
        ([x.ult(100), y.ugt(0), y.ult(10), x.udiv(y) == 7, x.urem(y) == 3, x.ugt(65)], "sat"),
        ([x.ult(100), y.ugt(0), y.ult(10), x.udiv(y) == 7, x.urem(y) == 3, x.ugt(66)], "unsat"),
        ([x.ugt(10), (x - 5).ult(6), y.ult(x)], "unsat"),
        ([bv("b", 8).sext(32) > bv("c", 8).zext(32), bv("b", 8).ugt(127)], "unsat"),
    ],
)
def test_sums_products_and_quotients(constraints: list[Expr], verdict: str) -> None:
    """Decided by the layer alone, with bit-vector semantics."""
    assert solved("z3", *constraints)[0] == verdict
    found, solver = solved("integers(ms=10000)", *constraints)
    assert found == verdict, solver.reason_unknown
    if verdict == "unsat":
        assert solved("z3", *solver.unsat_core())[0] == "unsat"


MEMORY = array("memory", 32, 8)
WORD = MEMORY[3].concat(MEMORY[2]).concat(MEMORY[1]).concat(MEMORY[0])


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        ((x & y) > 3, "bitwise"),
        (x.extract(15, 0).ugt(3), "extract"),
        (x << y > 3, "shift"),
        (MEMORY[x] == 3, "array"),
        ((x + 1).ule(y), "may-wrap"),
        (x * y > 3, "may-wrap"),
        (x / y > 3, "may-wrap"),
        ((x.extract(7, 0).zext(32) & y) > 3, "bitwise"),
        ((x & y).extract(7, 0).ugt(3), "extract"),
        (bv("wide", 100).ugt(3), "width"),
    ],
)
def test_reasons_for_passing_on(constraint: Expr, reason: str) -> None:
    verdict, solver = solved("integers", constraint, x != y)
    assert verdict == "unknown"
    assert solver.statistics["layers"][0][f"passed_{reason}"] == 1


@pytest.mark.parametrize("layer", ["differences", "integers"])
def test_a_byte_of_a_word_is_not_independent(layer: str) -> None:
    verdict, solver = solved(f"{layer} z3", y > WORD, MEMORY[0].ugt(200), WORD > 250, y < 500)
    assert verdict == "sat"
    assert 250 < solver.model()[WORD] < 500
    assert solved(f"{layer} z3", WORD == 0, MEMORY[1] != 0)[0] == "unsat"
    assert solved("integers", WORD == 5, MEMORY[1] != 0)[1].statistics["layers"][0]["passed_type-mismatch"] == 1


def test_memory_in_models() -> None:
    verdict, solver = solved("integers", WORD < -70000, MEMORY[7].ugt(250), bv("p", 1).extract(0, 0) == bv("p", 1))
    assert verdict == "sat"
    assert solver.model()[WORD] >= TOP
    assert solver.model()[MEMORY[7]] > 250


OVERFLOWING = [
    [x + 1 < x],
    [x > 0, y > 0, x + y < 0],
    [x.ult(10), x < 0],
    [x.ugt(y), x < 0, y > 0],
    [x * y == 1, x > 1, y > 1],
    [(x - 1).ugt(x)],
    [bv("b", 8).zext(32) > 127],
    [x / -2 == 1, x == -3],
    [(0 - x) == x, x != 0],
]


def test_the_papers_integers_are_unsound_on_overflow() -> None:
    """Every query overflows. `verify` finds a mismatch for `integers:paper` each time and none for `integers`."""
    for constraints in OVERFLOWING:
        _, solver = solved("verify(z3) integers:paper z3", *constraints)
        assert solver.statistics["layers"][0]["mismatches"] == 1, constraints
        verdict, solver = solved("verify(z3) integers z3", *constraints)
        assert verdict == solved("z3", *constraints)[0]
        assert solver.statistics["layers"][0]["mismatches"] == 0


def test_wrong_models_and_wrong_verdicts_are_distinguished() -> None:
    # `integers:paper` takes 2^31 for the least number and zero-extended x for x, so it finds a positive x.
    for constraints, wrong_models in (([x.ult(10), x < 0], 0), ([x.ugt(TOP), x.zext(64) > 5], 1)):
        _, solver = solved("verify(z3) integers:paper", *constraints)
        counted = solver.statistics["layers"][0]
        assert (counted["mismatches"], counted["wrong_models"]) == (1, wrong_models)


def test_a_crosscheck_goes_on_with_the_answer_of_the_bit_vectors() -> None:
    """The second paper, RQ4: a mismatch is counted, and the result of the bit-vector solver is used."""
    for constraints in OVERFLOWING:
        expected = solved("z3", *constraints)[0]
        verdict, solver = solved("verify(z3,mismatch=continue) integers:paper z3", *constraints)
        assert (verdict, solver.statistics["layers"][0]["mismatches"]) == (expected, 1), constraints
        assert solved("verify(z3,mismatch=stop) integers:paper z3", *constraints)[0] == "unknown"
    with pytest.raises(UsageError) as caught:
        Solver(layers="verify(z3,mismatch=ignore) sat")
    assert str(caught.value) == (
        "layers: expected `verify(NAME)` or `verify(NAME,mismatch=continue|stop)`, found `verify(z3,mismatch=ignore)`"
    )


def element(index: Expr) -> Expr:
    """Four adjacent bytes at four times the index, as C reads an array of integers."""
    first = index * 4
    return MEMORY[first + 3].concat(MEMORY[first + 2]).concat(MEMORY[first + 1]).concat(MEMORY[first])


@pytest.mark.parametrize(
    ("constraints", "verdict", "passed"),
    [
        ([element(x) > 5, element(y) < 3, x == y], "unsat", ""),
        ([element(x) > 5, element(y) < 3, x >= 0, x < 9, y >= 0, y < 9], "sat", ""),
        ([element(x) == 7, x == 2, WORD == 9, y == 0, element(y) > 9], "unsat", ""),
        ([MEMORY[x] == 3, MEMORY[y] == 4, x == y], "unsat", ""),
        ([MEMORY[x] == 3, x >= 0, x < 4, y >= 0, y < 4, MEMORY[y] == 4], "sat", ""),
        # A byte of a word, and a word that is not at a multiple of its size, have another type.
        ([element(x) == 7, x == 2, MEMORY[8] == 9], "unsat", "type-mismatch"),
        ([MEMORY[x + 1].concat(MEMORY[x]) == 7], "sat", "type-mismatch"),
    ],
)
def test_the_papers_integers_have_arrays(constraints: list[Expr], verdict: str, passed: str) -> None:
    """A read at a symbolic index selects from an array of integers, if the index is a multiple of the width."""
    assert solved("z3", *constraints)[0] == verdict
    found, solver = solved("verify(z3,mismatch=continue) integers:paper z3", *constraints)
    assert found == verdict
    counted = {layer["name"]: layer for layer in solver.statistics["layers"]}
    assert counted["verify"]["mismatches"] == 0
    reasons = [name.removeprefix("passed_") for name, n in counted["integers:paper"].items() if "passed_" in name and n]
    assert reasons == ([passed] if passed else [])


def test_the_papers_integers_have_no_deadline_of_their_own() -> None:
    assert make("paper", {})._seconds is None
    assert (make("paper", {"ms": "20"})._seconds, make(None, {})._seconds) == (0.02, 0.1)
    # The deadline of the query still ends it: no three cubes of this size have this sum.
    cubes = [side * side * side for side in (x, y, z)]
    bounded = [side > -30000 for side in (x, y, z)] + [side < 30000 for side in (x, y, z)]
    solver = Solver(layers="integers:paper")
    solver.add(*bounded, cubes[0] + cubes[1] + cubes[2] == 114)
    assert solver.check(timeout=0.2) == "unknown"
    assert solver.statistics["layers"][0]["passed_deadline"] == 1


def test_names_and_options() -> None:
    for wrong in ("integers:klee", "integers(ms=0)", "integers(seconds=3)", "integers:paper(ms=x)"):
        with pytest.raises(UsageError) as caught:
            Solver(layers=wrong)
        assert str(caught.value) == (
            f"expected `integers` or `integers:paper`, with (ms=N) or without, found `{wrong}`"
        )
    # At its deadline the layer passes on.
    sides = [side.ult(1 << 9) for side in (x, y, z)]
    verdict, solver = solved("integers(ms=1) sat", *sides, x * x + y * y == z * z, x.ugt(100), y.ugt(x), z != y)
    assert verdict == "sat"
    assert solver.statistics["layers"][0]["passed_deadline"] == 1
