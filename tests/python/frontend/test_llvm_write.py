"""The serialised program format: damaged bytes are refused with a reason and never crash the reader."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from partita._core import dump_program
from partita.frontends import load_program
from partita.llvm import write as w
from partita.llvm.write import FORMAT_VERSION, FunctionRecord, Writer
from support import PROGRAM_FOLDER


@pytest.fixture(scope="module")
def program() -> bytes:
    return load_program([PROGRAM_FOLDER / "computed_goto.c"], cache=False)


def with_checksum(data: bytes) -> bytes:
    """Corrects the checksum, so that the reader checks the contents."""
    return data[:12] + struct.pack("<I", zlib.crc32(data[16:])) + data[16:]


def refusal(data: bytes) -> str:
    with pytest.raises(ValueError, match="lowered program") as caught:
        dump_program(data)
    return str(caught.value)


def test_messages(program: bytes) -> None:
    assert refusal(b"") == "not a lowered program: the magic bytes are missing"
    assert refusal(b"\x7fELF" + program[4:]) == "not a lowered program: the magic bytes are missing"
    assert refusal(program[:20]) == "the lowered program is truncated: lower it again"
    assert refusal(program[:-1]) == "the lowered program is truncated: lower it again"
    damaged = bytearray(program)
    damaged[40] ^= 1
    assert refusal(bytes(damaged)) == "the lowered program is damaged (wrong checksum): lower it again"
    newer = program[:8] + struct.pack("<I", FORMAT_VERSION + 1) + program[12:]
    assert refusal(newer) == (
        f"a lowered program of format {FORMAT_VERSION + 1}, but this version reads format {FORMAT_VERSION}:"
        " lower it again"
    )


def test_every_truncation_is_refused(program: bytes) -> None:
    for end in range(0, len(program), 7):
        refusal(program[:end])


def test_mutations_are_refused_or_read(program: bytes) -> None:
    """With any word replaced and the checksum corrected, the reader accepts or refuses but never crashes."""
    rng = random.Random(1)
    words = struct.unpack_from("<I", program, 16)[0]
    refused = 0
    for at in range(24, 24 + 4 * words, 4):
        old = struct.unpack_from("<I", program, at)[0]
        for new in (old ^ 1, old + 1 & 0xFFFFFFFF, 0xFFFFFFFF, rng.getrandbits(32), rng.getrandbits(8)):
            changed = with_checksum(program[:at] + struct.pack("<I", new) + program[at + 4 :])
            try:
                dump_program(changed)
            except ValueError:
                refused += 1
    assert refused > words  # most changes are refused


def test_checks_name_the_place() -> None:
    writer = Writer()
    record = FunctionRecord("f", widths=[32], blocks=[1], locs=[0])
    record.code.extend((7, 0, 1))  # a copy, which does not end a block
    writer.functions.append(record)
    assert refusal(writer.bytes()) == (
        "the lowered program is invalid: function `f`: block 0 does not end in its only terminator"
    )
    record.code = record.code[:0]
    record.code.extend((34, 1, 0))  # returns a register from a function without results
    assert refusal(writer.bytes()) == (
        "the lowered program is invalid: function `f`: block 0, instruction 0: returns 1 values where 0 are declared"
    )
    record.results = [8]
    assert refusal(writer.bytes()) == (
        "the lowered program is invalid: function `f`: block 0, instruction 0: register 0 has 32 bits where 8 are expected"
    )


# Each table of operators with an instruction that uses it (registers: r0 has 64 bits, r1 has 1, r2 has 128).
TABLES = [
    ("BIN_OPS", w.BIN, (0, 0, 0), "r0:64 = {} r0 r0"),
    ("UN_OPS", w.UN, (0, 0), "r0:64 = {} r0"),
    ("OVERFLOW_OPS", w.OVERFLOW, (0, 1, 0, 0), "r0:64 r1:1 = {}o r0 r0"),
    ("INT_PREDS", w.CMP, (64, 1, 0, 0), "r1:1 = cmp {} 64 r0 r0"),
    ("FBIN_OPS", w.FBIN | 1 << 16, (0, 0, 0), "r0:64 = {} f64 r0 r0"),
    ("FUN_OPS", w.FUN | 1 << 16, (0, 0), "r0:64 = {} f64 r0"),
    ("FCMP_PREDS", w.FCMP | 1 << 16, (1, 0, 0), "r1:1 = fcmp {} f64 r0 r0"),
]


def printed(head: int, words: tuple[int, ...]) -> str:
    writer = Writer()
    record = FunctionRecord("f", widths=[64, 1, 128], blocks=[2], locs=[0, 0])
    record.code.extend((head, *words, w.UNREACHABLE))
    writer.functions.append(record)
    return dump_program(writer.bytes()).splitlines()[2].strip()


@pytest.mark.parametrize(("table", "head", "words", "text"), TABLES, ids=[row[0] for row in TABLES])
def test_reader_and_writer_have_the_same_operators(table: str, head: int, words: tuple[int, ...], text: str) -> None:
    operators: dict[str, int] = getattr(w, table)
    for name, number in operators.items():
        assert printed(head | number, words) == text.format(name)
    with pytest.raises(ValueError, match="an operator has an unknown number"):
        printed(head | len(operators) << 8, words)


def test_casts_and_flags_have_the_same_numbers() -> None:
    assert printed(w.CAST | w.CAST_OPS["zext"], (64, 2, 0)) == "r2:128 = zext 64 r0"
    assert printed(w.CAST | w.CAST_OPS["sext"], (64, 2, 0)) == "r2:128 = sext 64 r0"
    assert printed(w.CAST | w.CAST_OPS["trunc"], (64, 1, 0)) == "r1:1 = trunc 64 r0"
    flags = sum(w.FLAGS.values())
    assert printed(w.BIN | w.BIN_OPS["or"] | flags, (0, 0, 0)) == "r0:64 = or nuw nsw exact disjoint r0 r0"
