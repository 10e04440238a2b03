"""Decisions of a certificate: every side of each is followed, or proved impossible by the second solver.

This file, the reader of certificates and the solver accept or reject. What the conditions are is derived by those who
ask here: the interpreter of the program and its models.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from partita.check.terms import Evaluator, apply, disjunction, negation, read, settled


class RejectedError(Exception):
    """The certificate is wrong: the place and the reason."""


class EndedError(Exception):
    """The path ends here: the ending, as in the certificate."""


class Trail:
    """Decisions of a path so far, and what they imply."""

    def __init__(self) -> None:
        self.side, self.step = 0, 0
        self.constraints: list[tuple[int, Any]] = []
        self.known: dict[Any, int] = {}
        """Values that the path gave to terms: 1 for conditions that hold."""
        self.evaluator = Evaluator({})
        """Values of terms under the test of a path through this side."""


class Decider(ABC):
    """Follows the tree of a certificate, one path at a time."""

    def __init__(self, tree: Any, prover: Any) -> None:
        self.tree, self.prover = tree, prover
        self.path: Any = None
        """The path that is followed: a `Trail` with the state of the program, and `copy`."""
        self.work: list[Any] = []
        """Paths to be followed."""
        self.never_loose: set[Any] = set()
        """Terms on which bytes that were never written have no effect."""
        self.leaves = 0

    @abstractmethod
    def place(self) -> str:
        """Where the program is, for messages."""

    @abstractmethod
    def position(self) -> tuple[int, int]:
        """Number of the function, and of the instruction in it."""

    @abstractmethod
    def instruction(self) -> None:
        """Executes one instruction of the path. Raises `EndedError` where the path ends."""

    def run(self) -> None:
        """Follows every path to its end."""
        self.work.append(self.path)
        while self.work:
            self.path = self.work.pop()
            try:
                while True:
                    self.instruction()
            except EndedError as end:
                self.end(str(end.args[0]))

    def reject(self, why: str) -> RejectedError:
        return RejectedError(f"{self.place()}: {why}")

    def point(self, kind: str, purpose: str) -> Any:
        """The point of this instruction for such a decision, if the certificate has one next."""
        found = self.tree.points.get(self.path.side)
        if found and found.step == self.path.step and (found.kind, found.purpose) == (kind, purpose):
            if (found.function, found.pc) != self.position():
                raise self.reject(f"the certificate decides in function {found.function} at {found.pc}")
            return found
        return None

    def prove(self, condition: Any, what: str) -> None:
        """Proves that the path implies a bit."""
        if condition == 1 or self.path.known.get(condition) == 1:
            return
        path = [term for _, term in self.path.constraints]
        if not self.prover.is_unsat([*path, negation(condition)]):
            raise self.reject(f"{what}: the certificate has no decision for the other possibilities")

    def settle(self, value: Any, width: int) -> Any:
        """The value that decides something: bytes that were never written must make no difference."""
        found = settled(value)
        if found is not value and value not in self.never_loose:
            same = apply("=", width, value, found)
            if self.prover.is_unsat([negation(same)]):
                self.never_loose.add(value)  # on every path
            else:
                self.prove(same, "memory that was never written")
        return found

    def consume(self, point: Any, conditions: dict[int, Any]) -> int:
        """Checks the sides of a point, which have these conditions by value. Returns the value of the side taken."""
        rows = point.rows
        if sorted(row.value for row in rows) != sorted(conditions):
            raise self.reject(f"a {point.kind} has the sides {sorted(conditions)}, and the certificate has others")
        taken = None
        constraints = dict(self.path.constraints)
        start = self.path.copy() if any(row.how == "forked" for row in rows) else self.path
        for row in rows:
            condition = conditions[row.value]
            if row.how == "closed":
                missing = [side for side in row.sides if side not in constraints]
                if missing:
                    raise self.reject(f"a core has the decisions {missing}, which are not on this path")
                if not self.prover.is_unsat([*(constraints[side] for side in row.sides), condition]):
                    raise self.reject(f"the core {row.sides} does not close the side {row.value} of a {point.kind}")
            elif row.how == "forked":
                other = start.copy()
                self.enter(other, row.sides[0], condition, point, row.value)
                self.work.append(other)
            elif taken is None:
                taken = row
            else:
                raise self.reject("two sides of a decision continue on one path")
        if taken is None:
            raise self.reject("no side of a decision continues")
        self.enter(self.path, taken.sides[0], conditions[taken.value], point, taken.value)
        return int(taken.value)

    def enter(self, path: Any, side: int, condition: Any, point: Any, value: int) -> None:
        """Moves a path to a side."""
        path.side, path.evaluator = side, self.tree.witness(side)
        path.constraints.append((side, condition))
        if not isinstance(condition, int):
            self.learn(path, condition, 1)
        if path.evaluator.of(condition) != 1:
            raise self.reject(f"a test below does not take the side {value} of a {point.kind}")

    def learn(self, path: Any, condition: Any, truth: int) -> None:
        path.known[condition] = truth
        path.known[negation(condition)] = 1 - truth
        if truth and condition.op == "=" and isinstance(condition.args[2], int):
            path.known[condition.args[1]] = condition.args[2]

    def decide(self, condition: Any, kind: str = "condition", purpose: str = "") -> bool:
        """Truth of a bit."""
        condition = self.settle(condition, 1)
        point = self.point(kind, purpose)
        if point:
            return bool(self.consume(point, {1: condition, 0: negation(condition)}))
        if isinstance(condition, int):
            return bool(condition)
        if condition in self.path.known:
            return bool(self.path.known[condition])
        truth = self.path.evaluator.of(condition)
        self.prove(condition if truth else negation(condition), f"a {kind}")
        return bool(truth)

    def require(self, fine: Any, ending: str) -> None:
        """Ends the path in a bug where `fine` is false."""
        if not self.decide(fine, "check", ending):
            raise EndedError(ending)

    def value(self, value: Any, width: int, purpose: str) -> int:
        """The one number of a value on this path."""
        value = self.settle(value, width)
        point = self.point("value", purpose)
        if point:
            equal = apply("=", width, value, point.number)
            self.consume(point, {1: equal, 0: negation(equal)})
            return int(point.number)
        if isinstance(value, int):
            return value
        number = self.path.known.get(value)
        if number is None:
            number = self.path.evaluator.of(value)
            self.prove(apply("=", width, value, number), purpose)
        return int(number)

    def assume(self, condition: Any, otherwise: str) -> None:
        condition = self.settle(condition, 1)
        point = self.point("assume", "")
        if point:
            self.consume(point, {1: condition})
            return
        if condition == 1:
            return
        self.prove(negation(condition), "an assumption")
        raise EndedError(otherwise)

    def target(self, point: Any, condition_of: Callable[[int], Any], valid: list[int]) -> int:
        """Decides among the valid targets of a pointer. Rows with a condition are errors, their result is negative."""
        conditions = {}
        for i, row in enumerate(point.rows):
            if row.condition is None:
                if row.value not in valid:
                    raise self.reject(f"no target is at {row.value:#x}")
                conditions[row.value] = condition_of(row.value)
                continue
            # Errors get numbers of their own. An open one must be an error for every input.
            row.value = -1 - i
            conditions[row.value] = read(row.condition)
            if row.how != "closed":
                anywhere = disjunction(condition_of(target) for target in valid)
                self.prove(negation(apply("bvand", 1, conditions[row.value], anywhere)), "an error")
        self.prove(disjunction(conditions.values()), "the targets of a pointer")
        return self.consume(point, conditions)

    def end(self, ending: str) -> None:
        leaf = self.tree.leaves.get(self.path.side)
        if self.path.side in self.tree.points:
            raise self.reject(f"the path ends with `{ending}`, and the certificate goes on")
        if leaf is None:
            raise self.reject(f"the path ends with `{ending}`, and the certificate has no such path")
        if leaf.ending != ending:
            raise self.reject(f"the path ends with `{ending}`, in the certificate with `{leaf.ending}`")
        for side, condition in self.path.constraints:
            if self.path.evaluator.of(condition) != 1:
                raise self.reject(f"the test of this path contradicts decision {side}")
        self.leaves += 1
