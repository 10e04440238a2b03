"""Branches, switches, returns, throws and monitors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita.jvm.arith import Operation
from partita.jvm.classfile import ClassFormatError
from partita.jvm.decode import Instruction
from partita.jvm.descriptors import WIDTHS
from partita.llvm.write import CALL, CMP, COPY, INT_PREDS, TOP, Operand, integer, reg

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering

OPERATIONS: dict[int, Operation] = {}
_PREDICATES = ("eq", "ne", "slt", "sge", "sgt", "sle")


def branch(m: MethodLowering, i: Instruction, condition: Operand) -> None:
    """Goes to the target of a branch instruction if a condition holds, and otherwise to the next instruction."""
    m.flush()
    m.fb.branch(condition, m.goes_to(i.args[0]), m.goes_to(i.next))


def _as_value(m: MethodLowering, i: Instruction) -> int | None:
    """Number of instructions after a branch that only make a boolean of its condition: 0 or 1, without a fork.

    `if c goto L; iconst a; goto E; L: iconst b; E:`. Nothing else may lead to L.
    """
    at = m.index[i.pc]
    if at + 3 >= len(m.instructions):
        return None
    first, jump, second = m.instructions[at + 1 : at + 4]
    if not (first.op in (3, 4) and jump.op == 167 and second.op in (3, 4) and first.op != second.op):
        return None
    if i.args[0] != second.pc or jump.args[0] != second.next or m.ways[second.pc] != 1 or m.ways[first.pc]:
        return None
    return second.op - 3


def decide(m: MethodLowering, i: Instruction, condition: Operand) -> int | None:
    taken = _as_value(m, i)
    if taken is None:
        branch(m, i, condition)
        return None
    value = m.fb.cast("zext", 1, 32, condition)
    m.push(value if taken else m.fb.binary("xor", 32, value, integer(1)), "I")
    return 3


def _if_zero(m: MethodLowering, i: Instruction) -> int | None:
    return decide(m, i, m.fb.compare(_PREDICATES[i.op - 153], 32, m.pop("I"), integer(0)))


def _if_compare(m: MethodLowering, i: Instruction) -> int | None:
    b, a = m.pop("I"), m.pop("I")
    return decide(m, i, m.fb.compare(_PREDICATES[i.op - 159], 32, a, b))


def _if_same(m: MethodLowering, i: Instruction) -> int | None:
    b, a = m.pop("A"), m.pop("A")
    if not m.is_user:
        return decide(m, i, m.fb.compare(_PREDICATES[i.op - 165], 64, a, b))
    return decide(m, i, _same(m, a, b, i.op == 166))


def _same(m: MethodLowering, a: Operand, b: Operand, negated: bool) -> Operand:
    """Condition that two references are the same object. In programs that box numbers a function compares them."""
    fb, part, lowering = m.fb, m.part, m.lowering
    same, result = fb.temp(32), fb.temp(1)

    def make() -> list[list[Any]]:
        if not lowering.boxes:
            return [[CMP | INT_PREDS["ne" if negated else "eq"], 64, result, *a, *b]]
        number = part.function("jvm_same", [64, 64], [32])
        call = [CALL, 1 | TOP, same, number, 2, 64, 0, 0, *a, 64, 0, 0, *b]
        return [call, [CMP | INT_PREDS["eq" if negated else "ne"], 32, result, *reg(same), *integer(0)]]

    fb.later(make)
    return reg(result)


def _if_null(m: MethodLowering, i: Instruction) -> int | None:
    return decide(m, i, m.fb.compare(_PREDICATES[i.op - 198], 64, m.pop("A"), integer(0)))


def _goto(m: MethodLowering, i: Instruction) -> None:
    m.flush()
    m.fb.jump(m.goes_to(i.args[0]))


def _switch(m: MethodLowering, i: Instruction) -> None:
    value = m.pop("I")
    if m.stack and value[0] & 7 == 0:
        # The stack goes to its canonical registers first, one of which may hold the value.
        saved = m.fb.temp(32)
        m.fb.emit([COPY, saved, *value], 1)
        value = reg(saved)
    m.flush()
    default = m.goes_to(i.args[0])
    cases = {number & 0xFFFFFFFF: m.goes_to(target) for number, target in i.cases}
    if len(cases) != len(i.cases):
        raise ClassFormatError(f"{m.place}: a switch at {i.pc} has a case twice")
    m.fb.switch(32, value, [(number, block) for number, block in cases.items() if block != default], default)


def _return(m: MethodLowering, i: Instruction) -> None:
    if i.op == 177:
        m.fb.ret(integer(0), *([integer(0)] * (len(m.results) - 1)))
        return
    kind = "IJFDA"[i.op - 172]
    value = m.pop(kind)
    if m.results[1:] != [WIDTHS[kind]]:
        raise ClassFormatError(f"{m.place}: a return at {i.pc} of another type than the method's")
    m.fb.ret(integer(0), value)


def _throw(m: MethodLowering, i: Instruction) -> None:
    value = m.pop("A")
    m.check_null(value)
    m.throw(value)


def _monitor(m: MethodLowering, i: Instruction) -> None:
    """One thread: a monitor is only checked for null."""
    m.check_null(m.pop("A"))


def _subroutine(m: MethodLowering, i: Instruction) -> None:
    m.fb.unsupported(f"the subroutine instruction {i.op} in {m.place}: compile with Java 8 or later")


OPERATIONS |= dict.fromkeys(range(153, 159), _if_zero)
OPERATIONS |= dict.fromkeys(range(159, 165), _if_compare)
OPERATIONS |= {165: _if_same, 166: _if_same, 198: _if_null, 199: _if_null}
OPERATIONS |= {167: _goto, 200: _goto, 170: _switch, 171: _switch}
OPERATIONS |= dict.fromkeys(range(172, 178), _return)
OPERATIONS |= {191: _throw, 194: _monitor, 195: _monitor, 168: _subroutine, 169: _subroutine, 201: _subroutine}
