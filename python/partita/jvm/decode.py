"""Decodes the instructions of a method (JVMS 6.5) and finds its basic blocks."""

from __future__ import annotations

import struct
from typing import NamedTuple

from partita.jvm.classfile import ClassFormatError, Code

# Operands by opcode: b signed byte, B unsigned byte, h branch offset, H constant index, s signed short, w wide offset.
_FORMATS = {16: "b", 17: "s", 18: "B", 19: "H", 20: "H", 188: "B", 185: "HBB", 186: "HBB", 197: "HB", 132: "Bb"}
_FORMATS |= dict.fromkeys((*range(21, 26), *range(54, 59), 169), "B")
_FORMATS |= dict.fromkeys((*range(153, 169), 198, 199), "h")
_FORMATS |= dict.fromkeys((*range(178, 185), 187, 189, 192, 193), "H")
_FORMATS |= {200: "w", 201: "w"}
TABLESWITCH, LOOKUPSWITCH, WIDE = 170, 171, 196
GOTO, JSR, RET, GOTO_W, JSR_W, ATHROW = 167, 168, 169, 200, 201, 191
_LAST_OPCODE = 201
RETURNS = range(172, 178)
BRANCHES = frozenset([*range(153, 167), 198, 199])


class Instruction(NamedTuple):
    pc: int
    op: int
    args: tuple[int, ...]
    next: int
    cases: tuple[tuple[int, int], ...] = ()
    """Cases of a switch: value and target. Its default is the only argument."""


def decode(code: Code, place: str) -> list[Instruction]:
    try:
        return list(_instructions(code.code, place))
    except (struct.error, IndexError):
        raise ClassFormatError(f"{place}: the instructions of the method are truncated") from None


def _instructions(data: bytes, place: str):  # type: ignore[no-untyped-def]
    pc = 0
    while pc < len(data):
        op, at = data[pc], pc + 1
        args: list[int] = []
        cases: list[tuple[int, int]] = []
        if op in (TABLESWITCH, LOOKUPSWITCH):
            at = pc + 4 - pc % 4
            default, first = struct.unpack_from(">ii", data, at)
            at += 8
            args.append(pc + default)
            if op == TABLESWITCH:
                (last,) = struct.unpack_from(">i", data, at)
                if not 0 <= last - first < len(data):
                    raise ClassFormatError(f"{place}: a switch at {pc} has a malformed table")
                at += 4
                offsets = struct.unpack_from(f">{last - first + 1}i", data, at)
                cases = [(first + i, pc + offset) for i, offset in enumerate(offsets)]
                at += 4 * len(offsets)
            else:
                if not 0 <= first < len(data):
                    raise ClassFormatError(f"{place}: a switch at {pc} has a malformed table")
                pairs = struct.unpack_from(f">{2 * first}i", data, at)
                cases = [(pairs[i], pc + pairs[i + 1]) for i in range(0, len(pairs), 2)]
                at += 8 * first
        elif op == WIDE:
            op = data[at]
            args = [struct.unpack_from(">H", data, at + 1)[0]]
            at += 3
            if op == 132:
                args.append(struct.unpack_from(">h", data, at)[0])
                at += 2
        else:
            if op > _LAST_OPCODE:
                raise ClassFormatError(f"{place}: unknown instruction {op} at {pc}")
            for letter in _FORMATS.get(op, ""):
                if letter == "w":
                    args.append(pc + struct.unpack_from(">i", data, at)[0])
                    at += 4
                elif letter == "h":
                    args.append(pc + struct.unpack_from(">h", data, at)[0])
                    at += 2
                else:
                    kind = {"b": ">b", "B": ">B", "H": ">H", "s": ">h"}[letter]
                    args.append(struct.unpack_from(kind, data, at)[0])
                    at += struct.calcsize(kind)
        yield Instruction(pc, op, tuple(args), at, tuple(cases))
        pc = at


def targets(instruction: Instruction) -> list[int]:
    """Where an instruction can go, other than to the next one."""
    if instruction.op in BRANCHES or instruction.op in (GOTO, GOTO_W, JSR, JSR_W):
        return [instruction.args[0]]
    if instruction.op in (TABLESWITCH, LOOKUPSWITCH):
        return [instruction.args[0], *(target for _, target in instruction.cases)]
    return []


def leaders(instructions: list[Instruction], code: Code, place: str) -> set[int]:
    """Program counters at which a block starts."""
    known = {instruction.pc for instruction in instructions}
    found = {0}
    for instruction in instructions:
        found.update(targets(instruction))
        if targets(instruction) or instruction.op in (*RETURNS, ATHROW, RET):
            found.add(instruction.next)
    for handler in code.handlers:
        found.add(handler.target)
    found.discard(len(code.code))
    if not found <= known:
        wrong = min(found - known)
        raise ClassFormatError(f"{place}: a branch leads to {wrong}, where no instruction starts")
    return found
