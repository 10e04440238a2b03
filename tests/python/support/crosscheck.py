"""Compares chains with Z3 on one script: every verdict, every model, every core.

Z3 reads the text of the script, so neither our parser nor our rewriting is between it and the query. A model must
satisfy every assertion by Z3's evaluation, which proves `sat`; Z3 must find the core unsat, which proves `unsat`. So Z3
solves nothing but cores, and these once for all chains. A script that shows a difference is shrunk.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import z3

from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve
from support.floatgen import FloatMaker
from support.querygen import BOOL, FLOATS, SHAPES, Maker, Script, Step, Term, boolean, constant

CHAINS = (
    f"verify(z3) {DEFAULT_LAYERS}",
    DEFAULT_LAYERS,
    "sat",
    "intervals sat",
    "intervals:paper sat",
    "intervals:paper(shift=off) sat",
    "enumerate sat",
    "differences sat",
    "integers sat",
    "reuse sat",
    "reuse:klee sat",
    "reuse:grulia sat",
    "reuse:grulia(partial=on) sat(engine=conflicts)",
    "solutions sat",
    "solutions(kp=5,ks=3,variants=5) sat",
    "solutions:paper sat",
    "solutions:paper(kp=5,ks=3,once=on) sat(engine=conflicts)",
    "solutions:paper(harvest=off) sat",
    "sat(engine=conflicts)",
    "simplify split solutions sat",
    "simplify split sat",
)
ORDER_CHAINS = (
    "differences sat",
    "intervals differences sat",
    "simplify split integers sat",
    # Alone it is wrong where values wrap, on purpose: with the crosscheck of the paper it must not be.
    "verify(z3,mismatch=continue) integers:paper z3",
    "split intervals:paper sat",
)
"""Chains for order and difference constraints."""
SET_CHAINS = (
    "split intervals:paper sat",
    "split intervals:paper(shift=off) sat",
    "simplify split intervals enumerate sat",
    "intervals sat",
    "enumerate sat",
)
"""Chains for sets of values."""
FLOAT_CHAINS = (
    f"verify(bitwuzla) {DEFAULT_LAYERS}",
    DEFAULT_LAYERS,
    "sat",
    "intervals sat",
    "intervals(search=off) sat",
    "enumerate sat",
    "reuse sat",
    "solutions sat",
    "simplify split sat",
)
"""Chains for floating-point constraints."""
OURS_S = 2.0
"""Time limit of a query for the chains."""
Z3_RESOURCES = 8_000_000
"""Resource limit of a query for Z3, about a second. Not a time, since scripts depend on its answers."""
Z3_FLOAT_MS = 1000
"""Time limit of a floating-point query for Z3. Scripts do not depend on its answers."""
SHRINK_TRIES = 400


def sort_text(sort: int | tuple[int, int]) -> str:
    if isinstance(sort, tuple):
        return f"(Array (_ BitVec {sort[0]}) (_ BitVec {sort[1]}))"
    return "Bool" if sort == BOOL else f"(_ BitVec {sort})"


def declarations(variables: tuple[Term, ...]) -> str:
    return "".join(f"(declare-const {v.text} {sort_text(v.sort)})\n" for v in variables)


class Reference:
    """Z3's verdicts on sets of conditions over declared variables. Each set is checked once."""

    def __init__(self, variables: tuple[Term, ...]) -> None:
        self._declared = declarations(variables)
        self._solver = z3.Solver()
        self._solver.set("rlimit", Z3_RESOURCES)
        self._terms: dict[str, z3.BoolRef] = {}
        self._known: dict[frozenset[str], str] = {}
        self._models: dict[tuple[frozenset[str], str], str | None] = {}

    def term(self, text: str) -> z3.BoolRef:
        if text not in self._terms:
            (self._terms[text],) = z3.parse_smt2_string(f"{self._declared}(assert {text})")
        return self._terms[text]

    def verdict(self, conditions: list[str]) -> str:
        key = frozenset(conditions)
        if key not in self._known:
            self._known[key] = self._ask([self.term(text) for text in key])
        return self._known[key]

    def confirm(self, conditions: list[str], verdict: str) -> str:
        """Records a verdict that a model or a core proves; returns an earlier one if there is one."""
        key = frozenset(conditions)
        if self._known.get(key, "unknown") == "unknown":
            self._known[key] = verdict
        return self._known[key]

    def _ask(self, terms: list[z3.BoolRef]) -> str:
        self._solver.push()
        self._solver.add(*terms)
        answer = str(self._solver.check())
        self._solver.pop()
        return answer

    def feasible(self, conditions: list[Term]) -> bool:
        return self.verdict([term.text for term in conditions]) == "sat"

    def falsified(self, conditions: list[str], values: str) -> str | None:
        """Returns a condition that is false under `values`, which are as `get-value` prints them."""
        key = frozenset(conditions), values
        if key not in self._models:
            self._models[key] = self._evaluate(conditions, values)
        return self._models[key]

    def _evaluate(self, conditions: list[str], values: str) -> str | None:
        pairs = [line.strip() for line in values.strip()[1:-1].splitlines()]
        text = "".join(f"(assert (= {pair[1:-1]}))" for pair in pairs)
        equations = z3.parse_smt2_string(self._declared + text)
        substitution = [tuple(equation.children()) for equation in equations]
        for condition in conditions:
            if not z3.is_true(z3.simplify(z3.substitute(self.term(condition), *substitution))):
                return condition
        return None


class FloatReference(Reference):
    """Verdicts on floating-point queries. Z3's incremental solver takes seconds for queries of milliseconds, so each
    query is translated to bits by itself. Paths stay feasible because one assignment satisfies them."""

    def __init__(self, variables: tuple[Term, ...], rng: random.Random) -> None:
        super().__init__(variables)
        # As many bits set as not, few, or most.
        masks = [rng.choice((0, ~0, rng.getrandbits(64))) for _ in variables]
        words = [(rng.getrandbits(64) & mask) >> rng.choice((0, 0, 32)) for mask in masks]
        pairs = [f"({v.text} {self._value(v, word)})" for v, word in zip(variables, words, strict=True)]
        self._assignment = "(" + "\n".join(pairs) + ")"

    @staticmethod
    def _value(variable: Term, word: int) -> str:
        assert isinstance(variable.sort, int)
        return boolean(word % 2 == 1).text if variable.sort == BOOL else constant(word, variable.sort).text

    def feasible(self, conditions: list[Term]) -> bool:
        return self.falsified([term.text for term in conditions], self._assignment) is None

    def _ask(self, terms: list[z3.BoolRef]) -> str:
        solver = z3.Then("simplify", "propagate-values", "fpa2bv", "simplify", "bit-blast", "sat").solver()
        solver.set("timeout", Z3_FLOAT_MS)
        solver.add(*terms)
        return str(solver.check())


@dataclass
class Tally:
    """Counts of compared and undecided verdicts per chain, and the mismatches."""

    verdicts: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.verdicts += other.verdicts
        self.undecided += other.undecided
        self.mismatches += other.mismatches


@dataclass(frozen=True)
class Mismatch:
    chain: str
    difference: str
    script: Script


class Session:
    """A session of one chain that answers a script."""

    def __init__(self, script: Script, chain: str) -> None:
        spec, backend = resolve(chain)
        self._script = _core.Script("smtlib", spec, DEFAULT_LAYERS, backend, OURS_S, None)
        self.send(declarations(script.variables))

    def send(self, text: str) -> str:
        out: list[str] = []
        self._script.run(text.encode() + b"\n", False, out.append)
        return "".join(out).strip()

    def mismatches(self) -> int:
        return int(sum(layer.get("mismatches", 0) for layer in self._script.statistics()["layers"]))


def commands(script: Script) -> Iterator[tuple[Step, str, str]]:
    """Yields each step with its command and the name of its term."""
    for n, step in enumerate(script.steps):
        name = f"c{n}"
        if step.kind == "assert":
            assert step.term is not None
            yield step, f"(assert (! {step.term.text} :named {name}))", name
        elif step.kind == "assume":
            assert step.term is not None
            yield step, f"(define-fun {name} () Bool {step.term.text}) (check-sat-assuming ({name}))", name
        else:
            yield step, {"check": "(check-sat)", "push": "(push 1)", "pop": "(pop 1)"}[step.kind], name


def text(script: Script) -> str:
    return declarations(script.variables) + "".join(f"{command}\n" for _, command, _ in commands(script))


def run(script: Script, chain: str, reference: Reference, tally: Tally) -> str | None:
    """Answers a script and compares; returns the first difference as `KIND: DETAIL`."""
    session = Session(script, chain)
    levels: list[list[tuple[str, str]]] = [[]]
    values_of = "(get-value (" + " ".join(v.text for v in script.variables) + "))"
    for step, command, name in commands(script):
        reply = session.send(command)
        if step.kind == "push":
            levels.append([])
        elif step.kind == "pop":
            levels.pop()
        elif step.kind == "assert":
            assert step.term is not None
            levels[-1].append((name, step.term.text))
        if step.kind not in ("check", "assume"):
            if reply:
                return f"output: after {command}: expected none, found {reply}"
            continue
        asked = dict(pair for level in levels for pair in level)
        if step.term is not None and step.kind == "assume":
            asked[name] = step.term.text
        conditions = list(asked.values())
        if reply == "unknown":
            tally.undecided[chain] += 1
            why = session.send("(get-info :reason-unknown)")
            if "timeout" not in why:
                return f"unknown: {command}: expected {reference.verdict(conditions)}, found unknown: {why}"
            continue
        proved = "sat"
        if reply == "sat":
            values = session.send(values_of)
            violated = reference.falsified(conditions, values)
            if violated is not None:
                return f"model: {command}: {values} violates {violated}"
        elif reply == "unsat":
            named = session.send("(get-unsat-core)").strip("()").split()
            named += session.send("(get-unsat-assumptions)").strip("()").split()
            if not set(named) <= set(asked):
                return f"foreign core: {command}: expected a core among {' '.join(asked)}, found {' '.join(named)}"
            proved = reference.verdict([asked[n] for n in named])
            if proved == "sat" and reference.verdict(conditions) == "unsat":
                return f"core: {command}: the core {' '.join(named)} has a model"
        expected = reference.confirm(conditions, proved)
        (tally.undecided if expected == "unknown" else tally.verdicts)[chain] += 1
        if expected not in (reply, "unknown"):
            return f"wrong {reply}: {command}: expected {expected}, found {reply}"
    # A crosscheck that goes on is there to count the mismatches of what it checks; its answers must be right.
    if session.mismatches() and "mismatch=continue" not in chain:
        return f"verify: it counted {session.mismatches()} mismatches"
    return None


def guarded(script: Script, chain: str, reference: Reference, tally: Tally) -> str | None:
    try:
        return run(script, chain, reference, tally)
    except BaseException as error:  # A panic of the core is no `Exception`.
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return f"{type(error).__name__}: {error}"


def script_of_seed(seed: str, shapes: tuple[str, ...] = SHAPES) -> tuple[Script, Reference]:
    """Makes the script of a seed and its reference, which keeps the script's paths feasible."""
    rng = random.Random(seed)
    if shapes == FLOATS:
        floats = FloatMaker(rng, shapes)
        known = FloatReference(tuple(floats.variables), rng)
        return floats.script(known.feasible), known
    maker = Maker(rng, shapes)
    reference = Reference(tuple(maker.variables))
    return maker.script(reference.feasible), reference


def crosscheck(seed: str, chains: tuple[str, ...] = CHAINS, shapes: tuple[str, ...] = SHAPES) -> Tally:
    """Runs the script of a seed through each chain."""
    script, reference = script_of_seed(seed, shapes)
    tally = Tally()
    for chain in chains:
        difference = guarded(script, chain, reference, tally)
        if difference is not None:
            small = shrunk(script, chain, reference, kind(difference))
            difference = guarded(small, chain, reference, Tally()) or difference
            tally.mismatches.append(Mismatch(chain, difference, small))
    return tally


def balanced(steps: tuple[Step, ...]) -> bool:
    depth = 0
    for step in steps:
        depth += {"push": 1, "pop": -1}.get(step.kind, 0)
        if depth < 0:
            return False
    return True


def fewer_steps(script: Script) -> Iterator[Script]:
    steps = script.steps
    length = len(steps)
    while length:
        for start in range(0, len(steps), length):
            left = steps[:start] + steps[start + length :]
            if balanced(left):
                yield replace(script, steps=left)
        length //= 2


def simpler(term: Term) -> Iterator[Term]:
    """Yields the term with one subterm replaced by a part of that subterm or by a constant."""
    if isinstance(term.sort, int):
        yield from (
            (boolean(v) for v in (False, True)) if term.sort == BOOL else (constant(v, term.sort) for v in (0, 1))
        )
    yield from (kid for kid in term.kids if kid.sort == term.sort)
    for n, kid in enumerate(term.kids):
        for new in simpler(kid):
            if new.size < kid.size or (new.size == kid.size == 1 and kid.head[0] != "(" and new != kid):
                yield replace_kid(term, n, new)


def replace_kid(term: Term, n: int, new: Term) -> Term:
    return Term(term.head, (*term.kids[:n], new, *term.kids[n + 1 :]), term.sort)


def simpler_terms(script: Script) -> Iterator[Script]:
    for n, step in enumerate(script.steps):
        if step.term is not None:
            for new in simpler(step.term):
                if new.size < step.term.size:
                    changed = replace(step, term=new)
                    yield replace(script, steps=(*script.steps[:n], changed, *script.steps[n + 1 :]))


def kind(difference: str) -> str:
    return difference.partition(":")[0]


def shrunk(script: Script, chain: str, reference: Reference, same_kind: str) -> Script:
    """Shrinks a script: leaves out steps and simplifies terms while the difference stays of the same kind."""
    tries = 0
    changed_something = True
    while changed_something:
        changed_something = False
        for candidates in (fewer_steps, simpler_terms):
            for candidate in candidates(script):
                tries += 1
                if tries > SHRINK_TRIES:
                    return script
                difference = guarded(candidate, chain, reference, Tally())
                if difference is not None and kind(difference) == same_kind:
                    script, changed_something = candidate, True
                    break
    return script
