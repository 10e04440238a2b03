"""Scalable families of SMT-LIB scripts: each function writes the script of one size.

They cover what solvers meet: program verification (memory, loops, tables, guards), hardware (adders, multipliers,
counters, state machines), arithmetic identities, combinatorics on bits, and declared functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Family:
    name: str
    write: Callable[[int], str]
    sizes: tuple[int, ...]
    """Sizes of the benchmark, smallest first."""


FAMILIES: list[Family] = []


def family(*sizes: int) -> Callable[[Callable[[int], str]], Callable[[int], str]]:
    def add(write: Callable[[int], str]) -> Callable[[int], str]:
        FAMILIES.append(Family(write.__name__.replace("_", "-"), write, sizes))
        return write

    return add


def word(width: int, value: int) -> str:
    return f"(_ bv{value % (1 << width)} {width})"


def bits(width: int) -> str:
    return f"(_ BitVec {width})"


def constants(sort: str, names: Iterable[str]) -> str:
    return "\n".join(f"(declare-const {name} {sort})" for name in names)


def script(*parts: str, logic: str = "QF_AUFBV") -> str:
    return "\n".join((f"(set-logic {logic})", *parts, "(check-sat)", ""))


def claim(term: str) -> str:
    return f"(assert {term})"


def fold(operator: str, terms: list[str]) -> str:
    result = terms[0]
    for term in terms[1:]:
        result = f"({operator} {result} {term})"
    return result


def balanced(operator: str, terms: list[str]) -> str:
    while len(terms) > 1:
        pairs = [f"({operator} {a} {b})" for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0]


# Arrays as memory.


@family(8, 10, 12)
def array_equality(n: int) -> str:
    """Equality of conditional arrays, with an index of n bits."""
    sort = f"(Array {bits(n)} {bits(8)})"
    return script(constants(sort, "ab"), constants("Bool", "c"), claim("(distinct (= (ite c a b) a) (or c (= a b)))"))


@family(4, 8, 12)
def stores_commute(n: int) -> str:
    """n stores in two orders, at indices that are all different."""
    indices = [f"i{k}" for k in range(n)]
    order = random.Random(n).sample(range(n), n)

    def stored(sequence: Iterable[int]) -> str:
        array = "a"
        for k in sequence:
            array = f"(store {array} i{k} v{k})"
        return array

    return script(
        constants(f"(Array {bits(32)} {bits(8)})", ["a"]),
        constants(bits(32), indices),
        constants(bits(8), [f"v{k}" for k in range(n)]),
        claim(f"(distinct {' '.join(indices)})"),
        claim(f"(distinct {stored(range(n))} {stored(order)})"),
    )


@family(2, 3, 4)
def queue(n: int) -> str:
    """A queue in an array against one that shifts: n steps of symbolic enqueue and dequeue give equal heads."""
    depth, width = 4, 32
    lines = [constants(f"(Array {bits(width)} {bits(8)})", ["m0", "s0"])]
    lines += [f"(define-const {name} {bits(width)} {word(width, 0)})" for name in ("head0", "tail0", "used0")]
    one, zero = word(width, 1), word(width, 0)
    for k in range(n * depth // 2):
        lines.append(constants("Bool", [f"enq{k}", f"deq{k}"]) + "\n" + constants(bits(8), [f"d{k}"]))
        lines.append(claim(f"(not (and enq{k} deq{k}))"))
        lines.append(claim(f"(=> enq{k} (bvult used{k} {word(width, depth)}))"))
        lines.append(claim(f"(=> deq{k} (bvugt used{k} {word(width, 0)}))"))
        memory = f"(Array {bits(width)} {bits(8)})"
        lines.append(f"(define-const m{k + 1} {memory} (ite enq{k} (store m{k} tail{k} d{k}) m{k}))")
        lines.append(
            f"(define-const tail{k + 1} {bits(width)} (ite enq{k} (ite (= tail{k} {word(width, depth)}) {zero} "
            f"(bvadd tail{k} {one})) tail{k}))"
        )
        lines.append(
            f"(define-const head{k + 1} {bits(width)} (ite deq{k} (ite (= head{k} {word(width, depth)}) {zero} "
            f"(bvadd head{k} {one})) head{k}))"
        )
        shifted = f"s{k}"
        for place in range(depth):
            at, after = word(width, place), word(width, place + 1)
            shifted = f"(store {shifted} {at} (select s{k} {after}))"
        lines.append(
            f"(define-const s{k + 1} {memory} (ite enq{k} (store s{k} used{k} d{k}) (ite deq{k} {shifted} s{k})))"
        )
        lines.append(
            f"(define-const used{k + 1} {bits(width)} "
            f"(ite enq{k} (bvadd used{k} {one}) (ite deq{k} (bvsub used{k} {one}) used{k})))"
        )
    last = n * depth // 2
    lines.append(claim(f"(bvugt used{last} {word(width, 0)})"))
    lines.append(claim(f"(distinct (select m{last} head{last}) (select s{last} {word(width, 0)}))"))
    return script(*lines)


@family(4, 8, 16)
def memory_copy(n: int) -> str:
    """A loop that copies n bytes between blocks that do not overlap makes them equal."""
    memory = f"(Array {bits(32)} {bits(8)})"
    size, limit = word(32, n), word(32, 1 << 20)
    lines = [constants(memory, ["m0"]), constants(bits(32), "sdj")]
    lines += [claim(f"(or (bvule (bvadd s {size}) d) (bvule (bvadd d {size}) s))")]
    lines += [claim(f"(bvult s {limit})"), claim(f"(bvult d {limit})"), claim(f"(bvult j {size})")]
    for k in range(n):
        read = f"(select m{k} (bvadd s {word(32, k)}))"
        lines.append(f"(define-const m{k + 1} {memory} (store m{k} (bvadd d {word(32, k)}) {read}))")
    return script(*lines, claim(f"(distinct (select m{n} (bvadd s j)) (select m{n} (bvadd d j)))"))


@family(4, 5, 6)
def memory_sort(n: int) -> str:
    """Bubble sort of n bytes at an unknown place leaves them in order."""
    memory = f"(Array {bits(32)} {bits(8)})"
    lines = [constants(memory, ["m0"]), constants(bits(32), "p")]
    places = [f"(bvadd p {word(32, k)})" for k in range(n)]
    step = 0
    for rest in range(n - 1, 0, -1):
        for one, other in pairwise(places[: rest + 1]):
            x, y = (f"(select m{step} {place})" for place in (one, other))
            swapped = f"(store (store m{step} {one} {y}) {other} {x})"
            lines.append(f"(define-const m{step + 1} {memory} (ite (bvugt {x} {y}) {swapped} m{step}))")
            step += 1
    wrong = [f"(bvugt (select m{step} {one}) (select m{step} {other}))" for one, other in pairwise(places)]
    return script(*lines, claim(f"(or {' '.join(wrong)})"))


@family(4, 6, 8)
def ring_buffer(n: int) -> str:
    """n steps of a ring buffer that starts anywhere, against a list that shifts: equal heads."""
    depth, width = 4, 32
    memory = f"(Array {bits(width)} {bits(width)})"
    one, zero, last = word(width, 1), word(width, 0), word(width, depth - 1)
    lines = [constants(memory, ["r0"]), constants(bits(width), ["head0"])]
    lines.append(claim(f"(bvult head0 {word(width, depth)})"))
    lines.append(f"(define-const tail0 {bits(width)} head0)")
    lines += [f"(define-const {name} {bits(width)} {zero})" for name in ["used0", *(f"l0_{p}" for p in range(depth))]]

    def after(place: str) -> str:
        return f"(ite (= {place} {last}) {zero} (bvadd {place} {one}))"

    for k in range(n):
        lines += [constants("Bool", [f"put{k}"]), constants(bits(width), [f"d{k}"])]
        lines.append(claim(f"(=> put{k} (bvult used{k} {word(width, depth)}))"))
        lines.append(claim(f"(=> (not put{k}) (bvugt used{k} {zero}))"))
        lines.append(f"(define-const r{k + 1} {memory} (ite put{k} (store r{k} tail{k} d{k}) r{k}))")
        lines.append(f"(define-const tail{k + 1} {bits(width)} (ite put{k} {after(f'tail{k}')} tail{k}))")
        lines.append(f"(define-const head{k + 1} {bits(width)} (ite put{k} head{k} {after(f'head{k}')}))")
        used = f"(ite put{k} (bvadd used{k} {one}) (bvsub used{k} {one}))"
        lines.append(f"(define-const used{k + 1} {bits(width)} {used})")
        for p in range(depth):
            shifted = f"l{k}_{p + 1}" if p + 1 < depth else zero
            stored = f"(ite (= used{k} {word(width, p)}) d{k} l{k}_{p})"
            lines.append(f"(define-const l{k + 1}_{p} {bits(width)} (ite put{k} {stored} {shifted}))")
    lines.append(claim(f"(bvugt used{n} {zero})"))
    return script(*lines, claim(f"(distinct (select r{n} head{n}) l{n}_0)"))


@family(4, 6, 8)
def heap_swaps(n: int) -> str:
    """n swaps of symbolic places of one memory keep the xor of two disjoint cells that are swapped back."""
    memory = f"(Array {bits(32)} {bits(32)})"
    lines = [constants(memory, ["m0"]), constants(bits(32), [f"p{k}" for k in range(n)] + [f"q{k}" for k in range(n)])]
    swaps = [*range(n), *reversed(range(n))]
    for step, k in enumerate(swaps):
        lines.append(
            f"(define-const m{step + 1} {memory} "
            f"(store (store m{step} p{k} (select m{step} q{k})) q{k} (select m{step} p{k})))"
        )
    lines += [constants(bits(32), "x"), claim(f"(distinct (select m{len(swaps)} x) (select m0 x))")]
    return script(*lines)


@family(8, 16, 32)
def chained_reads(n: int) -> str:
    """A list in memory: following n pointers from a cell arrives at a marked cell."""
    memory = f"(Array {bits(32)} {bits(32)})"
    lines = [constants(memory, "m"), constants(bits(32), ["x0"])]
    for k in range(n):
        lines.append(f"(define-const x{k + 1} {bits(32)} (select m x{k}))")
        lines.append(claim(f"(bvult x{k} x{k + 1})"))
    lines.append(claim(f"(= x{n} {word(32, 0xDEADBEEF)})"))
    return script(*lines)


@family(4, 8, 12)
def register_machine(n: int) -> str:
    """n instructions with symbolic registers of 64 bits in a memory of bytes."""
    memory = f"(Array {bits(16)} {bits(8)})"
    lines = [constants(memory, ["m0"]), constants(bits(4), [f"{r}{k}" for k in range(n) for r in "abc"])]

    def load(memory: str, register: str) -> str:
        at = f"(concat #b000000000 (concat {register} #b000))"
        return fold("concat", [f"(select {memory} (bvadd {at} {word(16, b)}))" for b in reversed(range(8))])

    for k in range(n):
        total = f"(bvadd {load(f'm{k}', f'a{k}')} {load(f'm{k}', f'b{k}')})"
        lines.append(f"(define-const t{k} {bits(64)} {total})")
        stored = f"m{k}"
        for b in range(8):
            at = f"(bvadd (concat #b000000000 (concat c{k} #b000)) {word(16, b)})"
            stored = f"(store {stored} {at} ((_ extract {8 * b + 7} {8 * b}) t{k}))"
        lines.append(f"(define-const m{k + 1} {memory} {stored})")
    lines.append(claim(f"(= {load(f'm{n}', 'c0')} {word(64, 0x123456789ABCDEF)})"))
    return script(*lines)


@family(64, 256, 1024)
def table_lookup(n: int) -> str:
    """A table of n bytes read twice, at places that depend on each other."""
    values = random.Random(n)
    table = constants(f"(Array {bits(32)} {bits(8)})", "t")
    rows = [claim(f"(= (select t {word(32, k)}) {word(8, values.randrange(256))})") for k in range(n)]
    limit = f"(and (bvult x {word(32, n)}) (bvult y {word(32, n)}))"
    near = f"(= y (bvurem (bvadd (concat #x000000 (select t x)) {word(32, 7)}) {word(32, n)}))"
    return script(table, *rows, constants(bits(32), "xy"), claim(limit), claim(near), claim("(= (select t y) #x2a)"))


# Many assertions, deep paths.


@family(2000, 8000, 20000)
def independent(n: int) -> str:
    lines = [constants(bits(32), (f"a{k}" for k in range(n)))]
    lines += [claim(f"(= a{k} {word(32, k * 7919)})") for k in range(n)]
    return script(*lines)


@family(2000, 8000, 20000)
def independent_pushed(n: int) -> str:
    """Constraints of one input each in a level of their own: the check shares its state with later ones."""
    lines = [constants(bits(32), (f"a{k}" for k in range(n))), "(push 1)"]
    lines += [claim(f"(= a{k} {word(32, k * 7919)})") for k in range(n)]
    return script(*lines)


@family(500, 2000, 4000)
def deep_path(n: int) -> str:
    """A loop of n iterations over 64 input bytes, each a comparison with a constant."""
    choose = random.Random(n)
    lines = [constants(bits(8), (f"x{k}" for k in range(64)))]
    lines += [f"(define-const s0 {bits(32)} {word(32, 0)})"]
    for k in range(n):
        x = choose.randrange(64)
        lines.append(f"(define-const s{k + 1} {bits(32)} (bvadd s{k} (concat #x000000 x{x})))")
        lines.append(claim(f"(distinct x{x} {word(8, choose.randrange(256))})"))
    lines.append(claim(f"(= ((_ extract 7 0) s{n}) #x05)"))
    return script(*lines)


@family(10, 20, 40)
def nested_ite(n: int) -> str:
    """A chain of n `ite` whose conditions are remainders."""
    choose = random.Random(n)
    lines = [constants(bits(32), "xy"), f"(define-const v0 {bits(32)} y)"]
    for k in range(n):
        divisor, rest = choose.randrange(3, 50), choose.randrange(3)
        test = f"(= (bvurem x {word(32, divisor)}) {word(32, rest)})"
        lines.append(f"(define-const v{k + 1} {bits(32)} (ite {test} (bvadd v{k} {word(32, k)}) v{k}))")
    lines.append(claim(f"(= v{n} (bvadd y {word(32, n * n // 9)}))"))
    return script(*lines)


@family(8, 16, 32)
def remainder_choices(n: int) -> str:
    """n steps that add or flip, by the remainder of the last value; the result is wanted."""
    choose = random.Random(n)
    lines = [constants(bits(16), "xy"), f"(define-const v0 {bits(16)} x)"]
    for k in range(n):
        divisor, rest, mask = choose.randrange(3, 40), choose.randrange(3), choose.getrandbits(16)
        test = f"(= (bvurem v{k} {word(16, divisor)}) {word(16, rest)})"
        lines.append(f"(define-const v{k + 1} {bits(16)} (ite {test} (bvadd v{k} y) (bvxor v{k} {word(16, mask)})))")
    return script(*lines, claim(f"(= v{n} {word(16, 1234)})"), claim(f"(bvult y {word(16, 50)})"))


@family(20, 60, 120)
def remainders(n: int) -> str:
    """A system of n remainders of one word of 32 bits."""
    choose = random.Random(n)
    secret = choose.getrandbits(20)
    lines = [constants(bits(32), "x"), claim(f"(bvult x {word(32, 1 << 20)})")]
    for _ in range(n):
        divisor = choose.randrange(2, 4000)
        lines.append(
            claim(f"(bvule (bvurem x {word(32, divisor)}) {word(32, secret % divisor + choose.randrange(divisor))})")
        )
    return script(*lines)


# Arithmetic.


@family(32, 64, 128)
def distributivity(n: int) -> str:
    return script(constants(bits(n), "abc"), claim("(distinct (bvmul a (bvadd b c)) (bvadd (bvmul a b) (bvmul a c)))"))


@family(8, 16, 32)
def associativity(n: int) -> str:
    """A sum of n products in two orders."""
    names = [f"a{k}" for k in range(n)]
    order = random.Random(n).sample(names, n)
    terms = [f"(bvmul {x} {x})" for x in names]
    other = [f"(bvmul {x} {x})" for x in order]
    return script(constants(bits(32), names), claim(f"(distinct {fold('bvadd', terms)} {balanced('bvadd', other)})"))


@family(16, 32, 64)
def polynomials_in_context(n: int) -> str:
    """Equal polynomials that are compared, masked, chosen and used as indices, not equated."""
    sums = ["(bvmul a (bvadd b c))", "(bvadd p q)"]
    squares = ["(bvmul (bvadd a b) (bvsub a b))", "(bvsub (bvmul a a) (bvmul b b))"]
    apart = [
        f"(bvult {sums[0]} {sums[1]})",
        f"(bvslt {squares[0]} {squares[1]})",
        f"(distinct (bvand c {sums[0]}) (bvand {sums[1]} c))",
        f"(distinct (ite k {squares[0]} c) (ite k {squares[1]} c))",
        f"(distinct (select m {sums[0]}) (select m {sums[1]}))",
        f"(distinct ((_ extract 7 0) {sums[0]}) ((_ extract 7 0) {sums[1]}))",
    ]
    return script(
        constants(bits(n), "abcpq"),
        constants("Bool", "k"),
        constants(f"(Array {bits(n)} {bits(8)})", "m"),
        claim("(= p (bvmul a b))"),
        claim("(= q (bvmul c a))"),
        claim(f"(or {' '.join(apart)})"),
    )


@family(16, 32, 64)
def overflow_guard(n: int) -> str:
    """`if (x > INT_MAX / y) return; x * y < 0` is infeasible for positive numbers."""
    most = word(n, (1 << (n - 1)) - 1)
    return script(
        constants(bits(n), "xy"),
        claim(f"(bvsgt y {word(n, 0)})"),
        claim(f"(bvsgt x {word(n, 0)})"),
        claim(f"(not (bvsgt x (bvsdiv {most} y)))"),
        claim(f"(bvslt (bvmul x y) {word(n, 0)})"),
    )


@family(16, 32, 64)
def unsigned_guard(n: int) -> str:
    """`if (y == 0 || x > UINT_MAX / y) return;` excludes each way to notice an overflow of `x * y`."""
    most, zero = word(n, -1), word(n, 0)
    wide = f"(bvmul ((_ zero_extend {n}) x) ((_ zero_extend {n}) y))"
    noticed = [
        "(bvumulo x y)",
        f"(distinct ((_ extract {2 * n - 1} {n}) {wide}) {zero})",
        f"(and (distinct x {zero}) (bvult (bvmul x y) y))",
        "(distinct (bvudiv (bvmul x y) y) x)",
        "(and (bvule u x) (bvugt (bvudiv u y) (bvudiv x y)))",
    ]
    return script(
        constants(bits(n), "xyu"),
        claim(f"(distinct y {zero})"),
        claim(f"(bvule x (bvudiv {most} y))"),
        claim(f"(or {' '.join(noticed)})"),
    )


@family(8, 10, 12)
def division_identity(n: int) -> str:
    return script(
        constants(bits(n), "ab"),
        claim(f"(distinct b {word(n, 0)})"),
        claim("(distinct a (bvadd (bvmul (bvudiv a b) b) (bvurem a b)))"),
    )


@family(64, 128, 256)
def wide_division(n: int) -> str:
    """A quotient and a remainder of n bits with given values."""
    choose = random.Random(n)
    q, b = choose.getrandbits(n // 3) | 1, choose.getrandbits(n // 2) | 1
    return script(
        constants(bits(n), "a"),
        claim(f"(= (bvudiv a {word(n, b)}) {word(n, q)})"),
        claim(f"(= (bvurem a {word(n, b)}) {word(n, b // 3)})"),
    )


@family(6, 7, 8)
def multiplier_equivalence(n: int) -> str:
    """Multiplication against shifting and adding, n bits."""
    parts = [f"(ite (= ((_ extract {k} {k}) b) #b1) (bvshl a {word(n, k)}) {word(n, 0)})" for k in reversed(range(n))]
    return script(constants(bits(n), "ab"), claim(f"(distinct (bvmul a b) {balanced('bvadd', parts)})"))


@family(16, 32, 64)
def adder_structures(n: int) -> str:
    """A ripple-carry adder of single bits against `bvadd`."""
    lines = [constants(bits(n), "ab"), "(define-const c0 (_ BitVec 1) #b0)"]
    for k in range(n):
        x, y = (f"((_ extract {k} {k}) {v})" for v in "ab")
        lines.append(f"(define-const s{k} {bits(1)} (bvxor (bvxor {x} {y}) c{k}))")
        lines.append(f"(define-const c{k + 1} {bits(1)} (bvor (bvand {x} {y}) (bvand c{k} (bvxor {x} {y}))))")
    total = fold("concat", [f"s{k}" for k in reversed(range(n))])
    return script(*lines, claim(f"(distinct (bvadd a b) {total})"))


@family(16, 24, 32)
def square_root(n: int) -> str:
    choose = random.Random(n)
    root = choose.getrandbits(n // 2 - 1) | 1
    low = f"((_ extract {n // 2 - 1} 0) x)"
    return script(
        constants(bits(n), "x"),
        claim(f"(= (bvmul x x) {word(n, root * root)})"),
        claim(f"(= x (concat {word(n - n // 2, 0)} {low}))"),
    )


@family(16, 20, 24)
def modular_inverse(n: int) -> str:
    value = random.Random(n).getrandbits(n) | 1
    return script(
        constants(bits(n), "xy"),
        claim(f"(= (bvmul x {word(n, value)}) {word(n, 1)})"),
        claim(f"(= (bvmul y x) {word(n, 5)})"),
        claim(f"(distinct y {word(n, 5 * value)})"),
    )


@family(8, 10, 12)
def factoring(n: int) -> str:
    """A product of two primes of n bits."""

    def prime(above: int) -> int:
        while any(above % d == 0 for d in range(2, int(above**0.5) + 1)):
            above += 1
        return above

    p, q = prime(3 << (n - 2)), prime(5 << (n - 3))
    zero = word(n, 0)
    return script(
        constants(bits(n), "xy"),
        claim(f"(= (bvmul (concat {zero} x) (concat {zero} y)) {word(2 * n, p * q)})"),
        claim(f"(bvugt x {word(n, 1)})"),
        claim(f"(bvugt y {word(n, 1)})"),
    )


# Bits.


@family(16, 32, 64)
def popcount(n: int) -> str:
    """The population count in parallel against the sum of the bits."""
    naive = balanced("bvadd", [f"((_ zero_extend {n - 1}) ((_ extract {k} {k}) x))" for k in range(n)])
    lines, value, step = [constants(bits(n), "x")], "x", 1
    while step < n:
        mask = sum(((1 << step) - 1) << at for at in range(0, n, 2 * step))
        name = f"p{step}"
        lines.append(
            f"(define-const {name} {bits(n)} (bvadd (bvand {value} {word(n, mask)}) "
            f"(bvand (bvlshr {value} {word(n, step)}) {word(n, mask)})))"
        )
        value, step = name, 2 * step
    return script(*lines, claim(f"(distinct {value} {naive})"))


@family(16, 32, 64)
def rotations(n: int) -> str:
    """Rotation by a variable as two shifts, back and forth."""
    width, amount = word(n, n), f"(bvand k {word(n, n - 1)})"
    there = f"(bvor (bvshl x {amount}) (bvlshr x (bvsub {width} {amount})))"
    back = f"(bvor (bvlshr r {amount}) (bvshl r (bvsub {width} {amount})))"
    return script(constants(bits(n), "xk"), f"(define-const r {bits(n)} {there})", claim(f"(distinct {back} x)"))


@family(2, 3, 4)
def hash_chain(n: int) -> str:
    """A preimage of n rounds of xor, shift and multiplication, partly given."""
    lines = [constants(bits(16), ["h0"])]
    value = 0x1234
    for k in range(n):
        lines.append(f"(define-const g{k} {bits(16)} (bvxor h{k} (bvlshr h{k} {word(16, 7)})))")
        lines.append(f"(define-const h{k + 1} {bits(16)} (bvmul g{k} {word(16, 0x9E37)}))")
        value = (value ^ value >> 7) * 0x9E37 % 65536
    return script(*lines, claim(f"(= h{n} {word(16, value)})"))


@family(4, 8, 12)
def crc(n: int) -> str:
    """A message of n bytes whose CRC-16 is given, with printable characters."""
    lines = [constants(bits(8), [f"x{k}" for k in range(n)]), f"(define-const c0_0 {bits(16)} #xffff)"]
    for k in range(n):
        lines.append(claim(f"(and (bvuge x{k} #x20) (bvult x{k} #x7f))"))
        lines.append(f"(define-const c{k}_1 {bits(16)} (bvxor c{k}_0 (concat x{k} #x00)))")
        for b in range(1, 9):
            shifted = f"(bvshl c{k}_{b} #x0001)"
            following = f"c{k}_{b + 1}" if b < 8 else f"c{k + 1}_0"
            lines.append(
                f"(define-const {following} {bits(16)} (ite (= ((_ extract 15 15) c{k}_{b}) #b1) "
                f"(bvxor {shifted} #x1021) {shifted}))"
            )
    return script(*lines, claim(f"(= c{n}_0 #xbeef)"))


# Combinatorics and control.


@family(5, 6, 7)
def pigeonhole(n: int) -> str:
    """n + 1 pigeons in n holes, as bits."""
    lines = [constants("Bool", [f"p{i}_{j}" for i in range(n + 1) for j in range(n)])]
    lines += [claim(f"(or {' '.join(f'p{i}_{j}' for j in range(n))})") for i in range(n + 1)]
    for j in range(n):
        for i in range(n + 1):
            lines += [claim(f"(not (and p{i}_{j} p{k}_{j}))") for k in range(i)]
    return script(*lines)


@family(5, 6, 7)
def all_different(n: int) -> str:
    """n + 1 different words among n values."""
    names = [f"w{k}" for k in range(n + 1)]
    lines = [constants(bits(8), names), claim(f"(distinct {' '.join(names)})")]
    return script(*lines, *(claim(f"(bvult {name} {word(8, n)})") for name in names))


@family(2, 3)
def sudoku(n: int) -> str:
    """A Sudoku of n * n rows with some cells given."""
    side = n * n
    choose = random.Random(n)
    cells = [[f"c{r}_{c}" for c in range(side)] for r in range(side)]
    lines = [constants(bits(4), (cell for row in cells for cell in row))]
    lines += [claim(f"(and (bvuge {c} #x1) (bvule {c} {word(4, side)}))") for row in cells for c in row]
    groups = [*cells, *map(list, zip(*cells, strict=True))]
    for r in range(0, side, n):
        for c in range(0, side, n):
            groups.append([cells[r + i][c + j] for i in range(n) for j in range(n)])
    lines += [claim(f"(distinct {' '.join(group)})") for group in groups]
    # A solution by rotation of rows, of which a part is given.
    for r in range(side):
        for c in range(side):
            if choose.random() < 0.35:
                lines.append(claim(f"(= {cells[r][c]} {word(4, (r * n + r // n + c) % side + 1)})"))
    return script(*lines)


@family(4, 5, 6)
def sorting_network(n: int) -> str:
    """Odd-even transposition sorts n words."""
    values = [f"x{k}" for k in range(n)]
    lines = [constants(bits(8), values)]
    for step in range(n):
        for k in range(step % 2, n - 1, 2):
            a, b = values[k], values[k + 1]
            low, high = f"l{step}_{k}", f"h{step}_{k}"
            lines.append(f"(define-const {low} {bits(8)} (ite (bvult {a} {b}) {a} {b}))")
            lines.append(f"(define-const {high} {bits(8)} (ite (bvult {a} {b}) {b} {a}))")
            values[k], values[k + 1] = low, high
    ordered = " ".join(f"(bvule {a} {b})" for a, b in pairwise(values))
    return script(*lines, claim(f"(not (and {ordered}))"))


@family(10, 20, 40)
def counters(n: int) -> str:
    """Bounded model checking of two counters for n steps: their sum stays even."""
    lines = [constants(bits(16), ["a0", "b0"]), claim("(= a0 b0)")]
    for k in range(n):
        lines.append(constants("Bool", [f"up{k}"]))
        for v in "ab":
            lines.append(constants(bits(16), [f"{v}{k + 1}"]))
            lines.append(claim(f"(= {v}{k + 1} (ite up{k} (bvadd {v}{k} #x0001) (bvsub {v}{k} #x0001)))"))
    return script(*lines, claim(f"(= ((_ extract 0 0) (bvadd a{n} b{n})) #b1)"))


@family(20, 40, 80)
def state_machine(n: int) -> str:
    """n inputs that drive a machine of 16 states into one state."""
    choose = random.Random(5)
    table = [[choose.randrange(15) for _ in range(4)] for _ in range(16)]
    table[11][2] = 15
    lines = ["(define-const s0 (_ BitVec 4) #x0)", constants(bits(2), [f"i{k}" for k in range(n)])]
    for k in range(n):
        term = "#x0"
        for state, row in enumerate(table):
            for value, following in enumerate(row):
                term = f"(ite (and (= s{k} {word(4, state)}) (= i{k} {word(2, value)})) {word(4, following)} {term})"
        lines.append(f"(define-const s{k + 1} (_ BitVec 4) {term})")
    return script(*lines, claim(f"(= s{n} #xf)"))


@family(8, 16, 32)
def string_search(n: int) -> str:
    """A text of n bytes contains a word, and no earlier place does."""
    text, needle = [f"t{k}" for k in range(n)], b"abcab"
    lines = [constants(bits(8), text)]
    lines += [claim(f"(and (bvuge {t} #x61) (bvule {t} #x63))") for t in text]

    def at(k: int) -> str:
        return "(and " + " ".join(f"(= t{k + j} {word(8, c)})" for j, c in enumerate(needle)) + ")"

    lines += [claim(f"(not {at(k)})") for k in range(n - len(needle))]
    return script(*lines, claim(at(n - len(needle))))


@family(8, 16, 32)
def string_compare(n: int) -> str:
    """Comparison byte by byte of n bytes against comparison of the whole words."""
    names = [[f"{v}{k}" for k in range(n)] for v in "ab"]
    less = "false"
    for a, b in reversed(list(zip(*names, strict=True))):
        less = f"(or (bvult {a} {b}) (and (= {a} {b}) {less}))"
    whole = f"(bvult {fold('concat', names[0])} {fold('concat', names[1])})"
    return script(constants(bits(8), names[0] + names[1]), claim(f"(distinct {less} {whole})"))


# Declared functions.


@family(20, 60, 200)
def congruence(n: int) -> str:
    """f^n(a) = a and f^(n+1)(a) = a imply f(a) = a."""
    word32 = bits(32)
    lines = [f"(declare-fun f ({word32}) {word32})", constants(word32, ["x0"])]
    lines += [f"(define-const x{k + 1} {word32} (f x{k}))" for k in range(n + 1)]
    return script(*lines, claim(f"(= x{n} x0)"), claim(f"(= x{n + 1} x0)"), claim("(distinct x1 x0)"))


@family(4, 8, 16)
def pipelines(n: int) -> str:
    """Two orders of evaluation with an abstract function unit give equal results."""
    lines = [f"(declare-fun alu ({bits(32)} {bits(32)}) {bits(32)})", constants(bits(32), ["r0", "q0"])]
    lines += [constants(bits(32), [f"v{k}" for k in range(n)]), constants("Bool", [f"c{k}" for k in range(n)])]
    lines.append(claim("(= r0 q0)"))
    for k in range(n):
        lines.append(f"(define-const r{k + 1} {bits(32)} (ite c{k} (alu r{k} v{k}) (alu v{k} r{k})))")
        lines.append(f"(define-const q{k + 1} {bits(32)} (alu (ite c{k} q{k} v{k}) (ite c{k} v{k} q{k})))")
    return script(*lines, claim(f"(distinct r{n} q{n})"))
