"""Bitcode and LLVM text as input: valid, damaged, and of other LLVM versions."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from partita._core import dump_program
from partita.errors import UsageError
from partita.frontends import load_program
from partita.frontends.c import compile_c

MAIN = "int helper(int); int main(int argc, char **argv) { return helper(argc); }"
EXPECTED = re.compile(
    r"`.*short\.bc` is not bitcode that LLVM \d+\.\d+\.\d+ reads; is it truncated, or written by a newer LLVM\? \(.+\)"
)
HELPER = "int helper(int x) { return x * 7; }"


@pytest.fixture(scope="module")
def bitcode(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("sources")
    paths = []
    for name, text in (("main.c", MAIN), ("helper.c", HELPER)):
        (folder / name).write_text(text)
        paths.append(str(folder / name))
    return [compiled.bitcode for compiled in compile_c(paths)]


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_program([path], cache=False)
    return str(caught.value)


def test_bitcode_text_and_source_link(bitcode: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "main.bc").write_bytes(bitcode[0])
    (tmp_path / "helper.ll").write_text("define i32 @helper(i32 %x) {\n  %1 = mul i32 %x, 3\n  ret i32 %1\n}\n")
    (tmp_path / "helper.c").write_text(HELPER)
    (tmp_path / "object.o").write_bytes(bitcode[1])  # as `clang -flto -c` writes it
    main = tmp_path / "main.bc"
    assert "mul r0 3" in dump_program(load_program([main, tmp_path / "helper.ll"], cache=False))
    for other in ("helper.c", "object.o"):
        assert "mul nsw r0 7" in dump_program(load_program([main, tmp_path / other], cache=False))


def test_changed_bitcode_is_loaded_anew(bitcode: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "a.ll"
    for number in (1, 2):
        path.write_text(f"define i32 @main() {{\n  ret i32 {number}\n}}\n")
        assert f"ret {number}" in dump_program(load_program([path]))


def test_truncated_bitcode(bitcode: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "short.bc"
    for end in (4, 5, 64, 1000, len(bitcode[0]) - 40):
        path.write_bytes(bitcode[0][:end])
        assert EXPECTED.fullmatch(refusal(path))


def test_damaged_bitcode(bitcode: list[bytes], tmp_path: Path) -> None:
    """With any bit flipped there is a program or an error message, even where LLVM's reader aborts."""
    path = tmp_path / "damaged.bc"
    rng = random.Random(3)
    refusals = []
    for _ in range(12):
        data = bytearray(bitcode[0])
        for _ in range(10):
            data[rng.randrange(4, len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            load_program([path], cache=False)
        except UsageError as error:
            refusals.append(str(error))
    assert any("is damaged: LLVM aborts while reading it (" in text for text in refusals)
    assert all(str(path) in text or "main" in text for text in refusals)


def test_not_bitcode(tmp_path: Path) -> None:
    path = tmp_path / "x.bc"
    path.write_bytes(b"\x7fELF\x02\x01\x01")
    assert refusal(path) == (f"expected LLVM bitcode in `{path}`, found something else: compile with `-emit-llvm -c`")
    text = tmp_path / "x.ll"
    text.write_bytes(b"\xff\xfe\x00binary")
    assert refusal(text) == f"expected LLVM bitcode or text in `{text}`, found neither: compile with `-emit-llvm`"


def test_text_with_typed_pointers(tmp_path: Path) -> None:
    path = tmp_path / "old.ll"
    path.write_text("define i32 @main(i32* %p) {\n  %1 = load i32, i32* %p\n  ret i32 %1\n}\n")
    assert "r1:32 = load r0 align 4" in dump_program(load_program([path], cache=False))


def test_invalid_text(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ll"
    path.write_text("define i32 @main() {\n  %1 = frobnicate i32 3\n  ret i32 %1\n}\n")
    message = refusal(path)
    assert message.startswith(f"`{path}` is not LLVM text that LLVM ")
    assert "expected instruction opcode" in message


def test_code_for_another_machine(tmp_path: Path) -> None:
    path = tmp_path / "arm.ll"
    path.write_text('target triple = "aarch64-unknown-linux-gnu"\ndefine i32 @main() {\n  ret i32 0\n}\n')
    assert refusal(path).startswith("expected code for x86-64 or 32-bit x86, found target `aarch64-unknown-linux-gnu`")


def test_a_fatal_error_of_llvm_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends its process where it finds something that it cannot compile."""
    from partita.frontends import bitcode as frontend

    fatal = "import os, sys; sys.stdin.buffer.read(); print('LLVM ERROR: no such thing', file=sys.stderr); os._exit(1)"
    monkeypatch.setattr(frontend, "_SERVER", fatal)
    file = tmp_path / "program.ll"
    file.write_text("define i32 @main() {\n  ret i32 0\n}\n")
    with pytest.raises(UsageError, match=r"program.ll` is damaged: LLVM aborts while reading it \(no such thing\)"):
        load_program([file], cache=False)
