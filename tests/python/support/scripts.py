"""Random incremental SMT-LIB scripts over all operators of bit-vectors, arrays and declared functions.

A script declares symbols and then asserts, pushes, pops and checks (with and without assumptions). Answers are compared
with Z3 and Bitwuzla. The values of every `sat` answer are asserted in Z3 together with the assertions, which must stay
satisfiable; the assertions of every core must be unsatisfiable. Every third script is one check of unnamed assertions.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from partita import _core
from partita.proof import file as proof
from partita.proof.script import NoProofError
from partita.proof.search import SatisfiableError, prove
from partita.solver import DEFAULT_LAYERS, resolve

UNARY = "bvnot bvneg".split()
BINARY = "bvand bvor bvxor bvnand bvnor bvxnor bvadd bvsub bvmul".split()
BINARY += "bvudiv bvurem bvsdiv bvsrem bvsmod bvshl bvlshr bvashr".split()
COMPARE = "bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge".split()
OVERFLOW = "bvuaddo bvsaddo bvusubo bvssubo bvumulo bvsmulo bvsdivo".split()
REDUCTIONS = "bvredor bvredand".split()
ELEMENT = "U"
"""A declared sort."""
CONNECTIVES = "and or xor =>".split()
BIT, BIT_END = "(ite ", " #b1  #b0)"
"""A boolean as a word: the condition of `bvite`, with spaces by which it is found again."""
TIMEOUT_S = 10.0


def bits(width: int) -> str:
    return f"(_ BitVec {width})"


@dataclass
class Check:
    """A check: the assertions in force by name, and its assumptions."""

    assertions: dict[str, str]
    assumptions: list[str]


@dataclass
class Script:
    declarations: list[str] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    is_single: bool = False
    """One check of unnamed assertions, without levels: no core can be asked for."""
    is_unnamed: bool = False
    """Several checks of unnamed assertions, each preprocessed at once by Partita, with products on demand."""

    @property
    def has_cores(self) -> bool:
        return not self.is_single and not self.is_unnamed

    @property
    def valued(self) -> list[str]:
        """Constants whose values other solvers can read: not those of a declared sort."""
        return [name for name, sort in self.constants.items() if ELEMENT not in sort]

    def text(self) -> str:
        return "\n".join(self.declarations + self.commands)


class Generator:
    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.widths = self.random.sample([1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 33, 64, 65], 3)
        if self.random.random() < 0.7:
            self.widths = [min(w, 8) for w in self.widths]
        self.functions: dict[str, tuple[list[str], str]] = {}
        self.arrays: dict[str, tuple[str, str]] = {}
        kind = self.random.randrange(3)
        self.script = Script(is_single=kind == 0, is_unnamed=kind == 1)
        sorts = ["Bool", *map(bits, self.widths)]
        for number in range(self.random.randrange(3)):
            index, element = (self.random.choice(sorts[1:]) for _ in range(2))
            self.arrays[f"(Array {index} {element})"] = (index, element)
            if number == 0 and self.random.random() < 0.3:
                self.arrays[f"(Array Bool {element})"] = ("Bool", element)
        others: list[str] = []
        if self.random.random() < 0.3:
            others.append(ELEMENT)
            self.script.declarations.append(f"(declare-sort {ELEMENT} 0)")
            self.arrays[f"(Array {ELEMENT} {sorts[1]})"] = (ELEMENT, sorts[1])
        if self.arrays and self.random.random() < 0.2:
            inner, (index, _) = self.random.choice(list(self.arrays.items()))
            self.arrays[f"(Array {index} {inner})"] = (index, inner)
        sorts += others
        for name in "fgh"[: self.random.randrange(4)]:
            arguments = [self.random.choice(sorts) for _ in range(self.random.randrange(1, 4))]
            self.functions[name] = (arguments, self.random.choice(sorts))
        for sort in dict.fromkeys([*sorts, *self.arrays]):
            for number in range(self.random.randrange(1, 4)):
                self.script.constants[
                    f"{'abvw'[len(self.script.constants) % 4]}{number}_{len(self.script.constants)}"
                ] = sort
        self.script.declarations += [f"(declare-const {n} {s})" for n, s in self.script.constants.items()]
        self.script.declarations += [
            f"(declare-fun {name} ({' '.join(arguments)}) {result})"
            for name, (arguments, result) in self.functions.items()
        ]

    def width(self, depth: int, width: int) -> str:
        """A bit-vector of this width, from one of any width."""
        other = self.random.choice(self.widths)
        term = self.term(bits(other), depth)
        if other > width:
            low = self.random.randrange(other - width + 1)
            return f"((_ extract {low + width - 1} {low}) {term})"
        if other < width and width % other == 0 and self.random.random() < 0.5:
            return f"((_ repeat {width // other}) {term})"
        if other < width:
            return f"((_ {self.random.choice(['zero_extend', 'sign_extend'])} {width - other}) {term})"
        return f"((_ {self.random.choice(['rotate_left', 'rotate_right'])} {self.random.randrange(9)}) {term})"

    def boolean(self, depth: int) -> str:
        choose = self.random
        kind = choose.randrange(10)
        sort = bits(choose.choice(self.widths))
        if kind < 3:
            return f"({choose.choice(COMPARE)} {self.term(sort, depth)} {self.term(sort, depth)})"
        if kind < 5:
            sort = choose.choice([*map(bits, self.widths), *self.arrays, "Bool"])
            if choose.random() < 0.2 and ELEMENT in self.script.constants.values():
                sort = ELEMENT
            return f"({choose.choice(['=', 'distinct'])} {self.term(sort, depth)} {self.term(sort, depth)})"
        if kind == 5 and choose.random() < 0.1:
            return f"(bvnego {self.term(sort, depth)})"
        if kind == 5:
            return f"({choose.choice(OVERFLOW)} {self.term(sort, depth)} {self.term(sort, depth)})"
        if kind == 6:
            return f"(not {self.term('Bool', depth)})"
        if kind == 7:
            return f"(let ((z {self.term('Bool', depth)})) (xor z {self.term('Bool', depth)}))"
        return f"({choose.choice(CONNECTIVES)} {self.term('Bool', depth)} {self.term('Bool', depth)})"

    def term(self, sort: str, depth: int) -> str:
        choose = self.random
        if depth <= 0 or choose.random() < 0.15:
            if sort.startswith("(_") and choose.random() < 0.3:
                width = int(sort.split()[2].rstrip(")"))
                value = choose.choice([0, 1, (1 << width) - 1, 1 << (width - 1), choose.getrandbits(width)])
                return f"(_ bv{value} {width})"
            return choose.choice([name for name, known in self.script.constants.items() if known == sort])
        depth -= 1
        options = [f"(ite {self.term('Bool', depth)} {self.term(sort, depth)} {self.term(sort, depth)})"]
        applications = [f for f, (_, result) in self.functions.items() if result == sort]
        if applications and choose.random() < 0.4:
            f = choose.choice(applications)
            options = [f"({f} {' '.join(self.term(a, depth) for a in self.functions[f][0])})"]
        elif sort in self.arrays:
            index, element = self.arrays[sort]
            if choose.random() < 0.7:
                options = [f"(store {self.term(sort, depth)} {self.term(index, depth)} {self.term(element, depth)})"]
            if choose.random() < 0.1 and ELEMENT not in index:
                options = [f"((as const {sort}) {self.term(element, depth)})"]
        elif choose.random() < 0.3 and (arrays := [a for a, (_, e) in self.arrays.items() if e == sort]):
            array = choose.choice(arrays)
            options = [f"(select {self.term(array, depth)} {self.term(self.arrays[array][0], depth)})"]
        elif sort == "Bool":
            options = [self.boolean(depth)]
        elif sort == ELEMENT:
            pass
        elif choose.random() < 0.85:
            width = int(sort.split()[2].rstrip(")"))
            a, b = self.term(sort, depth), self.term(sort, depth)
            options = [f"({choose.choice(BINARY)} {a} {b})"] * 3
            options += [f"({choose.choice(UNARY)} {a})", self.width(depth, width)]
            if choose.random() < 0.1:
                options.append(f"(bvite {BIT}{self.term('Bool', depth)}{BIT_END} {a} {b})")
            if width == 1 and choose.random() < 0.3:
                other = bits(choose.choice(self.widths))
                options.append(f"({choose.choice(REDUCTIONS)} {self.term(other, depth)})")
            elif width == 1:
                other = bits(choose.choice(self.widths))
                options.append(f"(bvcomp {self.term(other, depth)} {self.term(other, depth)})")
            else:
                options.append(f"(concat ((_ extract {width - 1} 1) {a}) ((_ extract 0 0) {b}))")
        return choose.choice(options)

    def make(self) -> Script:
        choose, script = self.random, self.script
        levels: list[dict[str, str]] = [{}]
        for number in range(choose.randrange(2, 9) if script.is_single else choose.randrange(6, 18)):
            kind = 0 if script.is_single else choose.randrange(10)
            if script.is_single:
                levels[-1][f"n{number}"] = term = self.term("Bool", choose.choice([2, 3, 4]))
                script.commands.append(f"(assert {term})")
            elif kind < 5:
                term = self.term("Bool", choose.choice([2, 3, 4]))
                levels[-1][f"n{number}"] = term
                named = f"(! {term} :named n{number})" if script.has_cores else term
                script.commands.append(f"(assert {named})")
            elif kind == 5:
                levels.append({})
                script.commands.append("(push 1)")
            elif kind == 6 and len(levels) > 1:
                levels.pop()
                script.commands.append("(pop 1)")
            else:
                known = {name: term for level in levels for name, term in level.items()}
                literals = [name for name, sort in script.constants.items() if sort == "Bool"]
                chosen = choose.sample(literals, min(len(literals), choose.randrange(3))) if kind == 9 else []
                assumptions = [name if choose.random() < 0.5 else f"(not {name})" for name in chosen]
                script.checks.append(Check(known, assumptions))
                script.commands.append(
                    f"(check-sat-assuming ({' '.join(assumptions)}))" if kind == 9 else "(check-sat)"
                )
        script.checks.append(Check({name: term for level in levels for name, term in level.items()}, []))
        script.commands.append("(check-sat)")
        return script


def portable(text: str) -> str:
    """The text without `bvite`, which not every solver has."""
    return text.replace(f"(bvite {BIT}", f"(ite (= #b1 {BIT}").replace(BIT_END, f"{BIT_END})")


def sessions(script: Script, detail: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """The answer of each check, and the answer to the command that `detail` has for it."""
    spec, make = resolve(None)
    session = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, TIMEOUT_S, None, None)
    output: list[str] = []

    def run(text: str) -> str:
        output.clear()
        session.run(text.encode(), False, output.append)
        return "".join(output).strip()

    option = "(set-option :produce-unsat-cores true)\n" if script.has_cores else ""
    if script.is_unnamed:
        option = "(set-option :shared-ms 0)(set-option :on-demand-gates 1)\n"
    wrong = run(option + "\n".join(script.declarations) + "\n")
    assert not wrong, wrong
    for command in script.commands:
        answer = run(command + "\n")
        if not command.startswith("(check"):
            assert not answer, (command, answer)
            continue
        asked = detail(answer)
        yield answer, run(asked + "\n") if asked else ""


def partita_answers(script: Script) -> list[tuple[str, str]]:
    """The answer of each check, and its values or core."""
    commands = {"sat": f"(get-value ({' '.join(script.valued)}))"}
    if script.has_cores:
        commands["unsat"] = "(get-unsat-core)"
    return list(sessions(script, lambda answer: commands.get(answer, "")))


def models(script: Script) -> Iterator[tuple[int, str]]:
    """For each satisfiable check its number, and a script with its model in place of the declarations."""
    found = sessions(script, lambda answer: "(get-model)" if answer == "sat" else "")
    for number, (check, (answer, model)) in enumerate(zip(script.checks, found, strict=True)):
        if answer == "sat":
            terms = [*check.assertions.values(), *check.assumptions]
            everything = "\n".join(f"(assert {term})" for term in terms)
            yield number, portable(f"{model[1:-1]}\n{everything}\n(check-sat)")


def z3_answers(text: str) -> list[str]:
    import z3

    context = z3.Context()
    limit = f"(set-option :timeout {int(TIMEOUT_S * 1000)})\n"
    return re.findall(r"^(sat|unsat|unknown)$", z3.Z3_eval_smtlib2_string(context.ref(), limit + text), re.MULTILINE)


def bitwuzla_answers(text: str) -> list[str] | None:
    """Answers of a forked process, which prints them; `None` if it does not support the script or takes too long."""
    import bitwuzla

    with tempfile.TemporaryFile() as output, tempfile.NamedTemporaryFile("w", suffix=".smt2") as source:
        source.write(text)
        source.flush()
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            options = bitwuzla.Options()
            options.set(bitwuzla.Option.TIME_LIMIT_PER, int(TIMEOUT_S * 1000))
            try:
                bitwuzla.Parser(bitwuzla.TermManager(), options).parse(source.name, False)
            except BaseException:  # the parent sees that answers are missing
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        found = re.findall(r"^(sat|unsat|unknown)$", output.read().decode(), re.MULTILINE)
    return found if status == 0 else None


@dataclass
class Counts:
    checks: int = 0
    compared: int = 0
    models: int = 0
    cores: int = 0
    unknown: int = 0
    proofs: int = 0

    def add(self, other: Counts) -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def proof_differences(script: Script, ours: list[tuple[str, str]], seconds: float) -> tuple[int, list[str]]:
    """Proves what is `unsat`, within `seconds` each, and fails to refute what is `sat`. Returns the number of proofs
    that were checked, and what differs."""
    checked, wrong = 0, []
    try:
        problems = proof.read(script.text())
    except NoProofError:
        return 0, []
    for number, problem in problems.items():
        answer = ours[number - 1][0]
        try:
            refuted = prove(problem, seconds)
        except SatisfiableError:
            found = "sat"
        except (TimeoutError, NoProofError):
            continue
        else:
            found = "unsat"
            body = {"script": script.text(), "checks": [vars(refuted)]}
            checked += proof.check(body).checks == [number]
        if {answer, found} == {"sat", "unsat"}:
            wrong.append(f"check {number - 1}: {answer}, its plain translation {found}")
    return checked, wrong


def differences(seed: str, proof_seconds: float = 0.0) -> tuple[Counts, list[str]]:
    """Compares the script of a seed; returns what was counted and what differs. `proof_seconds` limits each proof."""
    script = Generator(seed).make()
    text, counts, wrong = script.text(), Counts(), []
    ours = partita_answers(script)
    named = re.sub(r"\(assert \(! (.*) :named \w+\)\)$", r"(assert \1)", portable(text), flags=re.MULTILINE)
    for solver, theirs in (("z3", z3_answers(named)), ("bitwuzla", bitwuzla_answers(named))):
        if theirs is None or len(theirs) != len(ours):
            continue
        for place, ((answer, _), other) in enumerate(zip(ours, theirs, strict=True)):
            counts.compared += {answer, other} <= {"sat", "unsat"}
            if {answer, other} == {"sat", "unsat"}:
                wrong.append(f"check {place}: {answer}, {solver} {other}")
    if proof_seconds:
        counts.proofs, unproved = proof_differences(script, ours, proof_seconds)
        wrong += unproved
    declarations = "\n".join(script.declarations)
    for place, (check, (answer, detail)) in enumerate(zip(script.checks, ours, strict=True)):
        counts.checks += 1
        counts.unknown += answer == "unknown"
        if answer == "sat":
            values = "\n".join(f"(assert (= {pair}))" for pair in pairs(detail))
            terms = [*check.assertions.values(), *check.assumptions]
            everything = portable("\n".join(f"(assert {term})" for term in terms))
            back = z3_answers(f"{declarations}\n{everything}\n{values}\n(check-sat)")
            counts.models += back == ["sat"]
            if back != ["sat"] and back != ["unknown"]:
                wrong.append(f"check {place}: Z3 says {back} to the values {detail}")
        elif answer == "unsat":
            names = detail.strip("()").split() if script.has_cores else list(check.assertions)
            assert set(names) <= set(check.assertions), (names, check)
            core = [check.assertions[name] for name in names] + check.assumptions
            everything = portable("\n".join(f"(assert {term})" for term in core))
            back = z3_answers(f"{declarations}\n{everything}\n(check-sat)")
            counts.cores += back == ["unsat"]
            if back == ["sat"]:
                wrong.append(f"check {place}: the core {names} is satisfiable")
    return counts, wrong


def pairs(values: str) -> list[str]:
    """The pairs of a term and its value in the answer to `get-value`, without their parentheses."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(values):
        if character == "(":
            depth += 1
            if depth == 2:
                start = at + 1
        elif character == ")":
            if depth == 2:
                found.append(values[start:at])
            depth -= 1
    return found
