"""Proofs that terms are unsatisfiable, by a solver that Partita does not contain: Z3 or Bitwuzla."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from partita.check.terms import PREDICATES, NoSemanticsError, Term, needed
from partita.errors import UsageError

NAMES = ("bitwuzla", "z3")
MODES = {"floor": "RTN", "ceil": "RTP", "trunc": "RTZ", "rint": "RNE", "round": "RNA", "roundeven": "RNE"}
"""Rounding modes of operators that round to an integer."""


def make(name: str | None) -> Z3 | Bitwuzla:
    """The solver of this name, or the first that is installed."""
    for candidate in [name] if name else NAMES:
        if importlib.util.find_spec(candidate):
            return Z3() if candidate == "z3" else Bitwuzla()
    wanted = name or "a second solver, Z3 or Bitwuzla,"
    extra = name or "z3"
    raise UsageError(f"expected {wanted} to be installed, found none: pip install 'partita[{extra}]'")


class _Prover:
    """Translates each term once, and asks."""

    def __init__(self) -> None:
        self.proofs = 0
        self._translated: dict[Term, Any] = {}
        self._proved: set[frozenset[Any]] = set()

    def is_unsat(self, bits: Iterable[Any]) -> bool:
        """Is it impossible that all these bits are one?"""
        terms = frozenset(bit for bit in bits if bit != 1)
        if 0 in terms or terms in self._proved:
            return True
        for term in needed(terms, self._translated):
            self._translated[term] = self.translate(term)
        self.proofs += 1
        if not self.ask([self._translated[term] for term in terms]):
            return False
        self._proved.add(terms)
        return True

    def operand(self, arg: Any, width: int) -> Any:
        return self._translated[arg] if isinstance(arg, Term) else self.number(arg, width)

    def translate(self, term: Term) -> Any:
        args, of = term.args, self.operand
        if term.op == "input":
            return self.select(args[0], of(args[1], 32))
        if term.op == "extract":
            return self.extract(of(args[0], 0), args[1] + args[2] - 1, args[1])
        if term.op == "concat":
            return self.build("concat", of(args[0], args[3]), of(args[1], args[2]))
        if term.op == "sext":
            return self.sext(of(args[0], 0), term.width - args[0].width)
        if term.op == "ite":
            return self.choose(of(args[0], 1), of(args[1], args[3]), of(args[2], args[3]))
        if term.op == "opaque":
            raise NoSemanticsError(f"the result of `{args[0]}` is used")
        if term.op.startswith("fp."):
            self.has_floats = True
            return self.floating(term)
        built = self.build(term.op, *[of(arg, args[0]) for arg in args[1:]])
        return self.bit(built) if term.op in PREDICATES else built

    def floating(self, term: Term) -> Any:
        """An operator of floating point, from words to a word."""
        op, parameter, *args = term.op[3:], *term.args
        # A format is its bits: exponent, significand, word. The first bit of the significand is not in the word.
        formats = [part for part in parameter if isinstance(part, tuple)]
        is_x87 = any(exponent + significand != word for exponent, significand, word in formats)
        if is_x87 or op == "frem":
            raise NoSemanticsError(f"floating point that no other solver has: {'x87' if is_x87 else op}")
        width = parameter[1] if op == "of" else formats[0][2]
        words = [self.operand(arg, width) for arg in args]
        form = formats[-1][:2]
        nan = self.number((1 << form[0] + 2) - 1 << form[1] - 2, term.width)  # what x86 makes
        if op == "of":
            return self.word(term, self.of_integer(words[0], form, parameter[2]), nan)
        numbers = [self.from_word(word, formats[0][:2]) for word in words]
        if op == "int":
            return self.to_integer(numbers[0], parameter[1], parameter[2])
        if op == "cast":
            return self.word(term, self.cast(numbers[0], form), nan)
        return self.word(term, self.compute(op, MODES.get(op, "RNE"), numbers), nan)

    has_floats = False
    number: Any
    select: Any
    from_word: Any
    word: Any
    of_integer: Any
    to_integer: Any
    cast: Any
    compute: Any
    extract: Any
    build: Any
    sext: Any
    choose: Any
    bit: Any
    ask: Any


class Z3(_Prover):
    name = "z3"

    def __init__(self) -> None:
        super().__init__()
        import z3

        self.z3 = z3
        self.arrays: dict[str, Any] = {}
        self.solver = z3.SolverFor("QF_ABV")
        functions = {"bvudiv": z3.UDiv, "bvurem": z3.URem, "bvsrem": z3.SRem, "bvlshr": z3.LShR, "bvult": z3.ULT,
                     "bvule": z3.ULE, "concat": z3.Concat}  # fmt: skip
        signs = {"bvadd": "add", "bvsub": "sub", "bvmul": "mul", "bvsdiv": "truediv", "bvshl": "lshift",
                 "bvashr": "rshift", "bvand": "and", "bvor": "or", "bvxor": "xor", "bvnot": "invert", "bvneg": "neg",
                 "=": "eq", "bvslt": "lt", "bvsle": "le"}  # fmt: skip
        methods = {op: getattr(z3.BitVecRef, f"__{name}__") for op, name in signs.items()}
        self.operators: dict[str, Any] = {**functions, **methods}

    def number(self, value: int, width: int) -> Any:
        return self.z3.BitVecVal(value, width)

    def select(self, name: str, index: Any) -> Any:
        sorts = (self.z3.BitVecSort(32), self.z3.BitVecSort(8))
        return self.z3.Select(self.arrays.setdefault(name, self.z3.Array(name, *sorts)), index)

    def extract(self, value: Any, high: int, low: int) -> Any:
        return self.z3.Extract(high, low, value)

    def build(self, op: str, *args: Any) -> Any:
        return self.operators[op](*args)

    def sext(self, value: Any, more: int) -> Any:
        return self.z3.SignExt(more, value)

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        return self.z3.If(condition == 1, a, b)

    def bit(self, truth: Any) -> Any:
        return self.z3.If(truth, self.number(1, 1), self.number(0, 1))

    def from_word(self, word: Any, form: tuple[int, int]) -> Any:
        return self.z3.fpBVToFP(word, self.z3.FPSort(*form))

    def word(self, term: Term, value: Any, nan: Any) -> Any:
        return self.z3.If(self.z3.fpIsNaN(value), nan, self.z3.fpToIEEEBV(value))

    def of_integer(self, word: Any, form: tuple[int, int], is_signed: int) -> Any:
        convert = self.z3.fpSignedToFP if is_signed else self.z3.fpUnsignedToFP
        return convert(self.z3.RNE(), word, self.z3.FPSort(*form))

    def to_integer(self, value: Any, width: int, is_signed: int) -> Any:
        convert = self.z3.fpToSBV if is_signed else self.z3.fpToUBV
        return convert(self.z3.RTZ(), value, self.z3.BitVecSort(width))

    def cast(self, value: Any, form: tuple[int, int]) -> Any:
        return self.z3.fpFPToFP(self.z3.RNE(), value, self.z3.FPSort(*form))

    def compute(self, op: str, mode: str, values: list[Any]) -> Any:
        z3 = self.z3
        found = {"fadd": z3.fpAdd, "fsub": z3.fpSub, "fmul": z3.fpMul, "fdiv": z3.fpDiv, "fma": z3.fpFMA,
                 "sqrt": z3.fpSqrt}  # fmt: skip
        return found.get(op, z3.fpRoundToIntegral)(getattr(z3, mode)(), *values)

    def ask(self, bits: list[Any]) -> bool:
        solver = self.z3.Solver() if self.has_floats else self.solver
        solver.reset()
        solver.add([bit == 1 for bit in bits])
        found = solver.check()
        if found == self.z3.unknown:
            raise NoSemanticsError(f"z3 gives no answer: {solver.reason_unknown()}")
        return bool(found == self.z3.unsat)


class Bitwuzla(_Prover):
    name = "bitwuzla"

    def __init__(self) -> None:
        super().__init__()
        import bitwuzla

        self.b, self.manager = bitwuzla, bitwuzla.TermManager()
        self.arrays: dict[str, Any] = {}
        kinds = {"=": "EQUAL", "concat": "BV_CONCAT"}
        names = ["bvadd", "bvsub", "bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvshl", "bvlshr", "bvashr",
                 "bvand", "bvor", "bvxor", "bvnot", "bvneg", "bvult", "bvule", "bvslt", "bvsle"]  # fmt: skip
        special = {"bvlshr": "BV_SHR", "bvashr": "BV_ASHR"}
        kinds |= {name: special.get(name, "BV_" + name[2:].upper()) for name in names}
        self.kinds = {op: getattr(bitwuzla.Kind, name) for op, name in kinds.items()}
        self.one = self.number(1, 1)
        self.words: dict[Term, Any] = {}

    def number(self, value: int, width: int) -> Any:
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), value)

    def select(self, name: str, index: Any) -> Any:
        if name not in self.arrays:
            sort = self.manager.mk_array_sort(self.manager.mk_bv_sort(32), self.manager.mk_bv_sort(8))
            self.arrays[name] = self.manager.mk_const(sort, name)
        return self.manager.mk_term(self.b.Kind.ARRAY_SELECT, [self.arrays[name], index])

    def extract(self, value: Any, high: int, low: int) -> Any:
        return self.manager.mk_term(self.b.Kind.BV_EXTRACT, [value], [high, low])

    def build(self, op: str, *args: Any) -> Any:
        return self.manager.mk_term(self.kinds[op], list(args))

    def sext(self, value: Any, more: int) -> Any:
        return self.manager.mk_term(self.b.Kind.BV_SIGN_EXTEND, [value], [more])

    def choose(self, condition: Any, a: Any, b: Any) -> Any:
        return self.manager.mk_term(self.b.Kind.ITE, [self.build("=", condition, self.one), a, b])

    def bit(self, truth: Any) -> Any:
        return self.manager.mk_term(self.b.Kind.ITE, [truth, self.one, self.number(0, 1)])

    def fp(self, kind: str, args: list[Any], numbers: list[int] | None = None) -> Any:
        return self.manager.mk_term(getattr(self.b.Kind, f"FP_{kind}"), args, numbers or [])

    def mode(self, name: str) -> Any:
        return self.manager.mk_rm_value(getattr(self.b.RoundingMode, name))

    def from_word(self, word: Any, form: tuple[int, int]) -> Any:
        return self.fp("TO_FP_FROM_BV", [word], list(form))

    def word(self, term: Term, value: Any, nan: Any) -> Any:
        """The word of a number, which this solver has no operator for: a new variable that stands for it."""
        new = self.manager.mk_const(self.manager.mk_bv_sort(term.width), f"word{term.number}")
        sort = value.sort()
        again = self.from_word(new, (sort.fp_exp_size(), sort.fp_sig_size()))
        same, is_nan = self.build("=", again, value), self.fp("IS_NAN", [value])
        self.words[term] = self.manager.mk_term(self.b.Kind.ITE, [is_nan, self.build("=", new, nan), same])
        return new

    def of_integer(self, word: Any, form: tuple[int, int], is_signed: int) -> Any:
        return self.fp(f"TO_FP_FROM_{'SBV' if is_signed else 'UBV'}", [self.mode("RNE"), word], list(form))

    def to_integer(self, value: Any, width: int, is_signed: int) -> Any:
        return self.fp(f"TO_{'SBV' if is_signed else 'UBV'}", [self.mode("RTZ"), value], [width])

    def cast(self, value: Any, form: tuple[int, int]) -> Any:
        return self.fp("TO_FP_FROM_FP", [self.mode("RNE"), value], list(form))

    def compute(self, op: str, mode: str, values: list[Any]) -> Any:
        name = {"fadd": "ADD", "fsub": "SUB", "fmul": "MUL", "fdiv": "DIV", "fma": "FMA", "sqrt": "SQRT"}.get(op, "RTI")
        return self.fp(name, [self.mode(mode), *values])

    def ask(self, bits: list[Any]) -> bool:
        solver = self.b.Bitwuzla(self.manager)
        for known in self.words.values():
            solver.assert_formula(known)
        for bit in bits:
            solver.assert_formula(self.build("=", bit, self.one))
        found = solver.check_sat()
        if found == self.b.Result.UNKNOWN:
            raise NoSemanticsError("bitwuzla gives no answer")
        return bool(found == self.b.Result.UNSAT)
