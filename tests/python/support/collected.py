"""Random scripts through the Python solver, with expressions dropped and collected between queries.

After a collection a handle may be reused; no layer may then return facts about the expression that had it before. Each
step builds its expressions anew and drops them, so that a collection frees all but the current assertions.
"""

from __future__ import annotations

import random

from partita import Expr, Solver, apply, array, boolean, bv, const_array
from partita.solver import DEFAULT_LAYERS
from support.crosscheck import OURS_S, Mismatch, Reference, Tally, script_of_seed
from support.querygen import BOOL, SHAPES, Script, Term

CHAIN = f"verify(z3) {DEFAULT_LAYERS}"
LABEL = "the first chain, in Python, with collections"
SCRIPTS = 16
"""Number of scripts for one solver."""


def expression(term: Term) -> Expr:
    """Builds the term in the solver's graph. Recursion is safe: terms are shallow."""
    kids = [expression(kid) for kid in term.kids]
    words = term.head.strip("()").split()
    if kids and words[0] == "as":
        assert isinstance(term.sort, tuple)
        return const_array(term.sort[0], kids[0])
    if kids:
        parameters = [int(word) for word in words[2:]]
        return apply(words[1] if words[0] == "_" else words[0], *kids, params=parameters)
    if words[0] == "_":
        return bv(int(words[1][2:]), int(words[2]))
    if term.head in ("true", "false"):
        return boolean(term.head == "true")
    if isinstance(term.sort, tuple):
        return array(f"{term.head}.{term.sort[0]}.{term.sort[1]}", *term.sort)
    # The sort is part of the name: scripts use one name with several sorts, a solver allows one.
    return boolean(term.head) if term.sort == BOOL else bv(f"{term.head}.{term.sort}", term.sort)


def answer(solver: Solver, script: Script, reference: Reference, rng: random.Random, tally: Tally) -> str | None:
    """Answers a script and compares; returns the first difference."""
    levels: list[list[str]] = [[]]
    solver.push()
    for n, step in enumerate(script.steps):
        if rng.random() < 0.3:
            solver.collect()
        if step.kind == "push":
            solver.push()
            levels.append([])
        elif step.kind == "pop":
            solver.pop()
            levels.pop()
        elif step.kind == "assert":
            assert step.term is not None
            solver.add(expression(step.term))
            levels[-1].append(step.term.text)
        else:
            asked = [text for level in levels for text in level] + [t.text for t in (step.term,) if t is not None]
            found = solver.check(*[expression(t) for t in (step.term,) if t is not None])
            expected = reference.verdict(asked)
            undecided = "unknown" in (expected, found)
            (tally.undecided if undecided else tally.verdicts)[LABEL] += 1
            if found == "unknown" and "timeout" not in str(solver.reason_unknown):
                return f"unknown: step {n}: expected {expected}, found unknown: {solver.reason_unknown}"
            if not undecided and found != expected:
                return f"wrong {found}: step {n}: expected {expected}, found {found}"
    solver.pop(len(levels))
    return None


def crosscheck_collected(seed: str, chain: str = CHAIN, shapes: tuple[str, ...] = SHAPES) -> Tally:
    """Runs several scripts, one after another, through one solver."""
    rng = random.Random(seed)
    solver = Solver(layers=chain, timeout=OURS_S)
    tally = Tally()
    for number in range(SCRIPTS):
        script, reference = script_of_seed(f"{seed}/{number}", shapes)
        difference = answer(solver, script, reference, rng, tally)
        if difference is not None:
            tally.mismatches.append(Mismatch(LABEL, f"script {number}: {difference}", script))
            break
    return tally
