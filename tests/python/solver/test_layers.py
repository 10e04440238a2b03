"""Layers written in Python: the views of queries that they get, and the checks of their answers."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from partita import Solver, bv, table
from partita import array as array_variable
from partita.layers import OPERATORS, Answer, QueryView, RestView, Sat, Unknown, Unsat


class Layer:
    """A layer that calls a function."""

    name = "mine"

    def __init__(self, answer: Callable[[QueryView, RestView], Answer]) -> None:
        self.answer = answer
        self.forgotten = 0

    def check(self, query: QueryView, rest: RestView) -> Answer:
        return self.answer(query, rest)

    def forget(self) -> None:
        self.forgotten += 1


def rows(query: QueryView) -> dict[int, tuple[str, ...]]:
    unpacked = struct.iter_unpack("=8I", query.nodes)
    return {row[0]: (OPERATORS[row[1]][0], *map(str, row[2:])) for row in unpacked}


def ask(answer: Callable[[QueryView, RestView], Answer], *below: str) -> tuple[str, str | None]:
    solver = Solver(layers=[Layer(answer), *below])
    x = bv("x", 8)
    solver.add(x.ult(10))
    verdict = solver.check(x.ugt(5))
    return verdict, solver.reason_unknown


def test_a_correct_answer_is_accepted() -> None:
    def answer(query: QueryView, rest: RestView) -> Answer:
        (variable,) = query.variables
        return Sat({variable: 7})

    assert ask(answer) == ("sat", None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda q, r: Sat({q.variables[0]: 3}), "mine: model does not satisfy the condition e"),
        (lambda q, r: Sat({q.variables[0]: 99}), "mine: model does not satisfy constraint e"),
        (lambda q, r: Sat({}), "mine: model does not satisfy the condition e"),
        (lambda q, r: Sat({q.constraints[0]: 1}), "expected variables in a model, found e"),
        (lambda q, r: Sat({q.variables[0]: 256}), "expected a number that fits in 8 bits"),
        (lambda q, r: Unsat([q.condition]), "which is not a constraint of the query"),
        (lambda q, r: Unsat([987654]), "mine: the core has e987654, which is not a constraint of the query"),
        (lambda q, r: Unknown("too hard"), "mine: too hard"),
        (lambda q, r: Unknown("timeout"), "timeout"),
        (lambda q, r: None, "check() must return Sat, Unsat or Unknown, found NoneType"),
        (lambda q, r: 1 // 0, "ZeroDivisionError: "),
    ],
)
def test_wrong_answers_become_unknown(answer: Callable[[QueryView, RestView], Answer], reason: str) -> None:
    verdict, why = ask(answer)
    assert verdict == "unknown"
    assert why is not None
    assert reason in why


def test_a_layer_can_pass_on() -> None:
    seen: list[Answer] = []

    def answer(query: QueryView, rest: RestView) -> Answer:
        seen.append(rest.check(query))
        return seen[-1]

    assert ask(answer, "bitwuzla") == ("sat", None)
    assert isinstance(seen[0], Sat)
    assert ask(answer)[1] == "mine: incomplete: no layer of the chain could decide it"


def test_rest_is_invalid_after_the_call() -> None:
    kept: list[tuple[QueryView, RestView]] = []

    def answer(query: QueryView, rest: RestView) -> Answer:
        kept.append((query, rest))
        return rest.check(query)

    ask(answer, "bitwuzla")
    query, rest = kept[0]
    with pytest.raises(RuntimeError, match="can only be asked during the call"):
        rest.check(query)


def test_nodes_are_sent_once_and_resent_after_an_exception() -> None:
    sent: list[int] = []

    def answer(query: QueryView, rest: RestView) -> Answer:
        sent.append(len(rows(query)))
        if len(sent) == 3:
            raise ValueError("now")
        return Unknown("no")

    layer = Layer(answer)
    solver = Solver(layers=[layer])
    condition = bv("x", 8) * bv("y", 8) == 9
    for _ in range(4):
        solver.check(condition)
    assert sent == [5, 0, 0, 5]
    assert layer.forgotten == 1


def test_attributes_of_a_query() -> None:
    queries: list[QueryView] = []

    def answer(query: QueryView, rest: RestView) -> Answer:
        queries.append(query)
        return Unknown("no")

    solver = Solver(layers=[Layer(answer)], timeout=5, memory_mb=100)
    i, wide = bv("i", 8), bv("wide", 100)
    squares = table(array_variable("a", 8, 8), [1, 4, 9])
    solver.add(squares[i] == 4, wide == 1 << 99)
    solver.check()
    (query,) = queries
    kinds = [row[0] for row in rows(query).values()]
    assert sorted(query.names.values()) == ["a", "i", "wide"]
    assert list(query.tables.values()) == [[1, 4, 9]]
    assert list(query.wide.values()) == [1 << 99]
    assert kinds.index("Table") < kinds.index("Read") < kinds.index("Eq")
    assert len(query.constraints) == 2
    assert query.memory_mb == 100
    assert query.seconds is not None
    assert 4 < query.seconds <= 5
    assert not query.cancelled()


def test_dropped_handles_are_reported_before_reuse() -> None:
    known: set[int] = set()
    reused = 0

    def answer(query: QueryView, rest: RestView) -> Answer:
        nonlocal reused
        gone = {number for (number,) in struct.iter_unpack("=I", query.dropped)}
        assert gone <= known
        known.difference_update(gone)
        new = set(rows(query))
        assert not new & known, "a node that was sent and not dropped is not sent again"
        reused += len(new & gone)
        known.update(new)
        return Unknown("no")

    layer = Layer(answer)
    solver = Solver(layers=[layer])
    x = bv("x", 32)
    for i in range(50):
        solver.check((x * (2 * i + 3)).urem(1000) == i)
        if i % 10 == 9:
            solver.collect()
        assert solver.reason_unknown in (None, "mine: no")
    assert reused > 0


def test_a_layer_cannot_use_its_own_solver() -> None:
    solver: list[Solver] = []

    def answer(query: QueryView, rest: RestView) -> Answer:
        solver[0].push()
        return Unknown("no")

    solver.append(Solver(layers=[Layer(answer)]))
    assert solver[0].check(bv("x", 8) == 1) == "unknown"
    assert "a layer cannot use the solver that it is a layer of" in str(solver[0].reason_unknown)
