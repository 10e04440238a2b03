"""Reads a certificate: the program, the tree of decisions, the tests (docs/certificates.md has the format)."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.check.decide import Decider, RejectedError
from partita.check.terms import Evaluator

SCHEMA = "partita-certificate-1"


def digest(body: dict[str, Any]) -> str:
    """Checksum of everything in a certificate but the checksum itself."""
    rest = {key: value for key, value in body.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def unpack(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


@dataclass
class Row:
    value: int
    how: str
    sides: list[int]
    condition: str | None


@dataclass
class Point:
    parent: int
    function: int
    pc: int
    step: int
    kind: str
    purpose: str
    number: int
    condition: str | None
    rows: list[Row]


@dataclass
class Leaf:
    side: int
    step: int
    ending: str
    inputs: list[tuple[str, str, bytes]]


class Tree:
    """Points by the side they follow, leaves by their side, and a test for every side."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.points: dict[int, Point] = {}
        self.leaves: dict[int, Leaf] = {}
        for place, kind, purpose, number, condition, rows in body["points"]:
            parent, function, pc, step = place
            sides = [Row(*row) for row in rows]
            point = Point(parent, function, pc, step, kind, purpose, number, condition, sides)
            if self.points.setdefault(point.parent, point) is not point:
                raise RejectedError(f"decision {point.parent} is followed by two others")
        for side, step, ending, inputs in body["leaves"]:
            leaf = Leaf(side, step, ending, [(name, var, bytes.fromhex(text)) for name, var, text in inputs])
            if self.leaves.setdefault(side, leaf) is not leaf:
                raise RejectedError(f"decision {side} is the last of two paths")
        self._leaf_of = self._leaves_below()
        self._evaluators: dict[int, Evaluator] = {}

    def _leaves_below(self) -> dict[int, Leaf]:
        """A leaf below each side."""
        below = dict(self.leaves)
        # A point comes after the one that its path made before, so that children are seen first.
        for point in reversed(list(self.points.values())):
            for row in point.rows:
                if row.how != "closed" and len(row.sides) != 1:
                    raise RejectedError(f"a side after decision {point.parent} has no number")
                if row.how != "closed" and row.sides[0] in below and point.parent not in self.leaves:
                    below.setdefault(point.parent, below[row.sides[0]])
        return below

    def leaf(self, side: int) -> Leaf:
        if side not in self._leaf_of:
            raise RejectedError(f"decision {side}: the certificate has no path that goes on here")
        return self._leaf_of[side]

    def inputs(self, side: int) -> list[tuple[str, str, bytes]]:
        return self.leaf(side).inputs

    def witness(self, side: int) -> Evaluator:
        """Values of terms under the test of a path through this side."""
        leaf = self.leaf(side)
        if leaf.side not in self._evaluators:
            self._evaluators[leaf.side] = Evaluator({variable: data for _, variable, data in leaf.inputs})
        return self._evaluators[leaf.side]


def load(path: Path) -> dict[str, Any]:
    """Reads a certificate and checks its checksum."""
    body: dict[str, Any] = json.loads(path.read_bytes())
    if digest(body) != body.get("sha256"):
        raise RejectedError("the file was altered: its checksum is wrong")
    return body


def check(body: dict[str, Any], prover: Any, meaning: Callable[[dict[str, Any], Tree, Any], Decider]) -> Decider:
    """Checks a certificate. Raises `RejectedError`; returns what was followed.

    `meaning` makes the interpreter of the program, which asks the decider for every decision."""
    tree = Tree(body)
    decider = meaning(body, tree, prover)
    decider.run()
    if decider.leaves != len(tree.leaves):
        raise RejectedError(f"the program has {decider.leaves} paths, the certificate {len(tree.leaves)}")
    return decider
