"""Inline assembly: empty templates (barriers), and templates of the instructions in one table (`_INSTRUCTIONS`), in
AT&T's order of operands. Every other template is unsupported, with its text.

An operand is a value: outputs have none until they are written or tied to an input, memory is loaded and stored. Carry
and zero flag are values too, and an instruction that leaves them undefined, or as this file does not compute them,
forgets them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from partita.llvm.function import Lowering
from partita.llvm.tokens import UnsupportedError
from partita.llvm.types import Type
from partita.llvm.write import CMP, FLAG, FUNNEL, INT_PREDS, LOAD, SELECT, STORE, UN, UN_OPS, Operand, reg

_OPERAND = re.compile(r"\$(?:(\d+)|\{(\d+):([bwkq])\})|\$\$(-?\w+)|%(\w+)")
_SUFFIXES = {"b": 8, "w": 16, "l": 32, "k": 32, "q": 64}
_PREFIX = re.compile(r"\b(lock|rep|repz|repe)\s*[;\n]\s*")  # on a line of its own
_PREFIXES = ("lock", "rep", "repz", "repe")
# No effect on a program with one thread.
_HINTS = frozenset("nop pause mfence lfence sfence".split())


@dataclass
class _Place:
    """An operand: a register, or memory if it has an address."""

    width: int
    value: Operand | None = None
    address: Operand | None = None


@dataclass
class _Template:
    low: Lowering
    places: list[_Place] = field(default_factory=list)
    registers: dict[str, _Place] = field(default_factory=dict)
    """Registers by the name of their last 16 bits."""
    carry: Operand | None = None
    zero: Operand | None = None

    def get(self, place: _Place, width: int) -> Operand:
        if place.address is not None:
            dst = self.low.new_register(width)
            self.low.emit((LOAD, 1, dst, *place.address))
            return reg(dst)
        if place.value is None:
            raise UnsupportedError("a register without a value")
        return self.low.resize(place.value, place.width, width)

    def set(self, place: _Place, value: Operand, width: int) -> None:
        low = self.low
        if place.address is not None:
            low.emit((STORE, width, 1, *value, *place.address))
        elif width >= 32 or width >= place.width or place.value is None:
            place.value = low.resize(value, width, place.width)  # 32 bits clear the upper half
        else:
            kept = low.integer(-1 << width, place.width)
            upper = low.binary("and", place.width, place.value, kept)
            place.value = low.binary("or", place.width, upper, low.cast("zext", value, width, place.width))

    def compare(self, pred: str, width: int, a: Operand, b: Operand) -> Operand:
        dst = self.low.new_register(1)
        self.low.emit((CMP | INT_PREDS[pred], width, dst, *a, *b))
        return reg(dst)

    def choose(self, width: int, condition: Operand, a: Operand, b: Operand) -> Operand:
        dst = self.low.new_register(width)
        self.low.emit((SELECT, dst, *condition, *a, *b))
        return reg(dst)

    def unary(self, op: str, width: int, a: Operand) -> Operand:
        dst = self.low.new_register(width)
        self.low.emit((UN | UN_OPS[op], dst, *a))
        return reg(dst)

    def set_flags(self, carry: Operand | None, width: int, result: Operand) -> None:
        self.carry = carry
        self.zero = self.compare("eq", width, result, self.low.integer(0, width))

    def register(self, name: str) -> _Place:
        """The register of this number of 64 bits: an operand, or one that the template uses for itself."""
        return self.registers.setdefault(name, _Place(64))

    def condition(self, code: str) -> Operand:
        """The value of a condition code."""
        flag = self.carry if code in ("c", "nc", "b", "ae", "nb") else self.zero if code in _ZERO_CODES else None
        if flag is None:
            raise UnsupportedError(f"the condition `{code}`")
        negated = code in ("nc", "ae", "nb", "nz", "ne")
        return self.low.binary("xor", 1, flag, self.low.integer(1, 1)) if negated else flag


_ZERO_CODES = ("z", "e", "nz", "ne")
# Arguments: the template, the width, the operands in AT&T's order (the destination last).
Instruction = Callable[[_Template, int, list[_Place]], None]


def lower_assembly(
    low: Lowering, name: str, type_: Type, template: str, constraints: str, inputs: list[tuple[Type, list[Operand]]]
) -> None:
    """Emits the instructions for a template and defines its outputs."""
    unknown = UnsupportedError(f"inline assembly `{' '.join(template.split())}`")
    if not template.strip():
        unknown = UnsupportedError(f"inline assembly `` with constraints `{constraints}`")
    try:
        outputs = _execute(low, type_, template, constraints, inputs)
    except UnsupportedError:
        raise unknown from None
    if type_.leaves:
        low.define(name, outputs[0] if type_.width else outputs)


def _execute(
    low: Lowering, type_: Type, template: str, constraints: str, inputs: list[tuple[Type, list[Operand]]]
) -> list[Operand]:
    if not template.strip():
        return _tied_outputs(constraints, type_, inputs)
    machine = _Template(low)
    flags: dict[int, str] = {}
    results: list[int] = []
    widths = [leaf.width for _, leaf in type_.leaves]
    left = list(inputs)
    for part in constraints.split(","):
        if part.startswith(("~", "!")):
            continue
        named = re.search(r"\{(@cc)?(\w+)\}", part)
        if part.startswith("=") and "*" not in part:
            if len(results) == len(widths):
                raise UnsupportedError("an output of several values")
            place = _Place(widths[len(results)])
            results.append(len(machine.places))
            if named is not None and named[1]:
                flags[len(machine.places)] = named[2]
        else:
            given, operands = left.pop(0)
            tied = part.lstrip("%")
            if len(operands) != 1 or not given.width:
                raise UnsupportedError("an input of several values")
            if "*" in part:
                place = _Place(0, address=operands[0])
            elif tied.isdigit():
                place = machine.places[int(tied)]
                place.value = low.resize(operands[0], given.width, place.width)
            else:
                place = _Place(given.width, operands[0])
                known = machine.registers.get(_canonical(named[2])) if named is not None else None
                if known is not None:  # an output in the same register
                    if known.width < given.width:
                        raise UnsupportedError("an input that is wider than the output in its register")
                    known.value = low.resize(operands[0], given.width, known.width)
                    place = known
        if named is not None and not named[1] and place.address is None:
            machine.registers.setdefault(_canonical(named[2]), place)
        machine.places.append(place)
    for line in re.split(r"[;\n]", _PREFIX.sub(r"\1 ", template)):
        _step(machine, line.split())
    for number, code in flags.items():
        width = machine.places[number].width
        machine.places[number].value = low.cast("zext", machine.condition(code), 1, width)
    return [machine.get(machine.places[number], machine.places[number].width) for number in results]


def _tied_outputs(constraints: str, type_: Type, inputs: list[tuple[Type, list[Operand]]]) -> list[Operand]:
    """The outputs of an empty template, a barrier. Each must be tied to an input (`"+r"(x)` in C)."""
    parts = [part for part in constraints.split(",") if not part.startswith("~")]
    outputs = [part for part in parts if part.startswith("=") and "*" not in part]
    given = [part for part in parts if not part.startswith("=") or "*" in part]
    tied: dict[int, list[Operand]] = {}
    for part, (_, operands) in zip(given, inputs, strict=False):
        if part.isdigit():
            tied[int(part)] = operands
    leaves = [operand for number in range(len(outputs)) for operand in tied.get(number, ())]
    if any(number not in tied for number in range(len(outputs))) or len(leaves) != len(type_.leaves):
        raise UnsupportedError("an output without a value")
    return leaves


def _canonical(name: str) -> str:
    """The name of a register's last 16 bits."""
    if len(name) == 2 and name[1] in "lx":
        return name[0] + "x"
    return name[1:] if len(name) == 3 and name[0] in "re" else name


def _register_width(name: str) -> int:
    if len(name) == 2 and name[1] == "l":
        return 8
    return {"r": 64, "e": 32}.get(name[0], 16) if len(name) == 3 else 16


def _step(machine: _Template, words: list[str]) -> None:
    """Executes one line."""
    repeated = False
    while words and words[0] in _PREFIXES:
        repeated = repeated or words[0] != "lock"
        words = words[1:]
    if not words or (len(words) == 1 and words[0] in _HINTS):
        return
    mnemonic, text = words[0], " ".join(words[1:])
    if repeated:
        mnemonic = {"bsf": "tzcnt", "bsr": "lzcnt"}.get(mnemonic.rstrip("lq"), "") + mnemonic[3:]
    width = 0
    if mnemonic not in _INSTRUCTIONS and mnemonic[-1:] in ("b", "w", "l", "q"):
        width, mnemonic = _SUFFIXES[mnemonic[-1]], mnemonic[:-1]
    if mnemonic not in _INSTRUCTIONS:
        raise UnsupportedError("an instruction that is not in the table")
    count, execute = _INSTRUCTIONS[mnemonic]
    operands = [_operand(machine, each) for each in re.split(r"[,\s]+", text) if each]
    if len(operands) != count:
        raise UnsupportedError("another number of operands")
    # Without a suffix the destination, which is last, has the width; memory has none.
    known = [own for _, own in reversed(operands) if own]
    if not width and not known and operands:
        raise UnsupportedError("operands without a width")
    execute(machine, width or (known[0] if known else 64), [place for place, _ in operands])


def _operand(machine: _Template, text: str) -> tuple[_Place, int]:
    """The operand, and its width if that is known."""
    found = _OPERAND.fullmatch(text)
    if found is None:
        raise UnsupportedError("an operand that is not understood")
    plain, numbered, modifier, constant, name = found.groups()
    if constant is not None:
        return _Place(64, machine.low.integer(int(constant, 0), 64)), 0
    if name is not None:
        return machine.register(_canonical(name)), _register_width(name)
    place = machine.places[int(plain or numbered)]
    return place, _SUFFIXES[modifier] if modifier else place.width


def _move(m: _Template, width: int, ops: list[_Place]) -> None:
    m.set(ops[1], m.get(ops[0], width), width)


def _exchange(m: _Template, width: int, ops: list[_Place]) -> None:
    a, b = ops
    if a.address is None and b.address is None and (a.value is None or b.value is None):
        # One has no value yet, as a register that a template saves.
        saved = None if a.value is None else m.low.resize(a.value, a.width, b.width)
        a.value = None if b.value is None else m.low.resize(b.value, b.width, a.width)
        b.value = saved
        return
    first, second = m.get(a, width), m.get(b, width)
    m.set(a, second, width)
    m.set(b, first, width)


def _swap_bytes(m: _Template, width: int, ops: list[_Place]) -> None:
    m.set(ops[0], m.unary("bswap", width, m.get(ops[0], width)), width)


def _rotate(left: int) -> Instruction:
    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        value, count = m.get(ops[1], width), m.get(ops[0], width)
        dst = m.low.new_register(width)
        m.low.emit((FUNNEL | left, dst, *value, *value, *count))
        m.set(ops[1], reg(dst), width)
        m.carry = None

    return execute


def _shift(op: str) -> Instruction:
    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        if width < 32:
            raise UnsupportedError("a shift of fewer than 32 bits")
        count = m.low.binary("and", width, m.get(ops[0], width), m.low.integer(width - 1, width))
        m.set(ops[1], m.low.binary(op, width, m.get(ops[1], width), count), width)
        m.carry = m.zero = None

    return execute


def _sum(op: str, *, carry: bool = False, stores: bool = True) -> Instruction:
    """Sums and differences, of one more bit to see the carry; comparisons do not store theirs."""

    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        low, wide = m.low, width + 1
        a, b = (low.cast("zext", m.get(place, width), width, wide) for place in (ops[1], ops[0]))
        total = low.binary(op, wide, a, b)
        if carry:
            if m.carry is None:
                raise UnsupportedError("the carry flag without a value")
            total = low.binary(op, wide, total, low.cast("zext", m.carry, 1, wide))
        out = low.cast("trunc", low.binary("lshr", wide, total, low.integer(width, wide)), wide, 1)
        result = low.cast("trunc", total, wide, width)
        m.set_flags(out, width, result)
        if stores:
            m.set(ops[1], result, width)

    return execute


def _logic(op: str, *, stores: bool = True) -> Instruction:
    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        if ops[0] is ops[1] and op == "xor" and stores:
            result = m.low.integer(0, width)  # clears a register that need not have a value
        else:
            result = m.low.binary(op, width, m.get(ops[1], width), m.get(ops[0], width))
        m.set_flags(m.low.integer(0, 1), width, result)
        if stores:
            m.set(ops[1], result, width)

    return execute


def _step_by(amount: int) -> Instruction:
    """`inc` and `dec`, which keep the carry flag."""

    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        result = m.low.binary("add", width, m.get(ops[0], width), m.low.integer(amount, width))
        m.set_flags(m.carry, width, result)
        m.set(ops[0], result, width)

    return execute


def _negate(m: _Template, width: int, ops: list[_Place]) -> None:
    value, zero = m.get(ops[0], width), m.low.integer(0, width)
    result = m.low.binary("sub", width, zero, value)
    m.set_flags(m.compare("ne", width, value, zero), width, result)
    m.set(ops[0], result, width)


def _not(m: _Template, width: int, ops: list[_Place]) -> None:
    m.set(ops[0], m.low.binary("xor", width, m.get(ops[0], width), m.low.integer(-1, width)), width)


def _scan(op: str) -> Instruction:
    """`bsf` and `bsr`: without a set bit the destination keeps its value."""

    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        value = m.get(ops[0], width)
        m.carry, m.zero = None, m.compare("eq", width, value, m.low.integer(0, width))
        found = m.unary(op, width, value)
        if op == "ctlz":
            found = m.low.binary("sub", width, m.low.integer(width - 1, width), found)
        if ops[1].value is not None:
            found = m.choose(width, m.zero, m.get(ops[1], width), found)
        m.set(ops[1], found, width)

    return execute


def _count(op: str) -> Instruction:
    """Counts; the carry flag is set without a bit to find, the zero flag with the first bit set."""

    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        value = m.get(ops[0], width)
        found = m.unary(op, width, value)
        none = m.compare("eq", width, value, m.low.integer(0, width))
        m.set_flags(None if op == "ctpop" else none, width, found)
        m.set(ops[1], found, width)

    return execute


def _product(m: _Template, a: Operand, b: Operand, width: int) -> tuple[Operand, Operand]:
    """Low and high half of a product of numbers without sign."""
    low, wide = m.low, 2 * width
    product = low.binary("mul", wide, low.cast("zext", a, width, wide), low.cast("zext", b, width, wide))
    high = low.binary("lshr", wide, product, low.integer(width, wide))
    return low.cast("trunc", product, wide, width), low.cast("trunc", high, wide, width)


def _multiply(m: _Template, width: int, ops: list[_Place]) -> None:
    if width < 32:
        raise UnsupportedError("a product of fewer than 32 bits")
    low, high = _product(m, m.get(m.register("ax"), width), m.get(ops[0], width), width)
    m.set(m.register("ax"), low, width)
    m.set(m.register("dx"), high, width)
    m.carry, m.zero = m.compare("ne", width, high, m.low.integer(0, width)), None


def _multiply_apart(m: _Template, width: int, ops: list[_Place]) -> None:
    """`mulx`: by `dx`, without flags."""
    low, high = _product(m, m.get(m.register("dx"), width), m.get(ops[0], width), width)
    m.set(ops[1], low, width)
    m.set(ops[2], high, width)


def _divide(m: _Template, width: int, ops: list[_Place]) -> None:
    if width < 32:
        raise UnsupportedError("a quotient of fewer than 32 bits")
    low, wide = m.low, 2 * width
    upper, lower = (low.cast("zext", m.get(m.register(name), width), width, wide) for name in ("dx", "ax"))
    dividend = low.binary("or", wide, low.binary("shl", wide, upper, low.integer(width, wide)), lower)
    divisor = low.cast("zext", m.get(ops[0], width), width, wide)
    for name, op in (("ax", "udiv"), ("dx", "urem")):
        m.set(m.register(name), low.cast("trunc", low.binary(op, wide, dividend, divisor), wide, width), width)
    m.carry = m.zero = None


def _exchange_add(m: _Template, width: int, ops: list[_Place]) -> None:
    old, added = m.get(ops[1], width), m.get(ops[0], width)
    total = m.low.binary("add", width, old, added)
    m.set_flags(m.compare("ult", width, total, old), width, total)
    m.set(ops[0], old, width)
    m.set(ops[1], total, width)


def _compare_exchange(m: _Template, width: int, ops: list[_Place]) -> None:
    accumulator = m.register("ax")
    old, expected, new = m.get(ops[1], width), m.get(accumulator, width), m.get(ops[0], width)
    m.carry, m.zero = m.compare("ult", width, expected, old), m.compare("eq", width, expected, old)
    m.set(ops[1], m.choose(width, m.zero, new, old), width)
    m.set(accumulator, m.choose(width, m.zero, expected, old), width)


def _identify(m: _Template, width: int, ops: list[_Place]) -> None:
    """`cpuid` of a processor that has no leaves: programs use their plain code."""
    for name in ("ax", "bx", "cx", "dx"):
        m.set(m.register(name), m.low.integer(0, 32), 32)


def _read_time(m: _Template, width: int, ops: list[_Place]) -> None:
    """`rdtsc`: the C library's clock, so that time passes, or is an input with `--ambient symbolic`."""
    from partita.llvm.calls import call_library  # calls needs this file

    low = m.low
    key = f"time {low.new_register(64)}"
    call_library(low, key, low.types.integer(64), "clock", [])
    time = reg(low.result(key, 64))
    upper = low.binary("lshr", 64, time, low.integer(32, 64))
    m.set(m.register("ax"), low.cast("trunc", time, 64, 32), 32)
    m.set(m.register("dx"), low.cast("trunc", upper, 64, 32), 32)


def _set_on(code: str) -> Instruction:
    def execute(m: _Template, width: int, ops: list[_Place]) -> None:
        m.set(ops[0], m.low.cast("zext", m.condition(code), 1, 8), 8)

    return execute


# Number of operands, semantics.
_INSTRUCTIONS: dict[str, tuple[int, Instruction]] = {
    "mov": (2, _move),
    "xchg": (2, _exchange),
    "bswap": (1, _swap_bytes),
    "rol": (2, _rotate(FLAG)),
    "ror": (2, _rotate(0)),
    "shl": (2, _shift("shl")),
    "sal": (2, _shift("shl")),
    "shr": (2, _shift("lshr")),
    "sar": (2, _shift("ashr")),
    "add": (2, _sum("add")),
    "adc": (2, _sum("add", carry=True)),
    "sub": (2, _sum("sub")),
    "sbb": (2, _sum("sub", carry=True)),
    "cmp": (2, _sum("sub", stores=False)),
    "and": (2, _logic("and")),
    "or": (2, _logic("or")),
    "xor": (2, _logic("xor")),
    "test": (2, _logic("and", stores=False)),
    "inc": (1, _step_by(1)),
    "dec": (1, _step_by(-1)),
    "neg": (1, _negate),
    "not": (1, _not),
    "bsf": (2, _scan("cttz")),
    "bsr": (2, _scan("ctlz")),
    "tzcnt": (2, _count("cttz")),
    "lzcnt": (2, _count("ctlz")),
    "popcnt": (2, _count("ctpop")),
    "mul": (1, _multiply),
    "mulx": (3, _multiply_apart),
    "div": (1, _divide),
    "xadd": (2, _exchange_add),
    "cmpxchg": (2, _compare_exchange),
    "cpuid": (0, _identify),
    "rdtsc": (0, _read_time),
    **{f"set{code}": (1, _set_on(code)) for code in ("c", "nc", "b", "ae", "nb", *_ZERO_CODES)},
}
