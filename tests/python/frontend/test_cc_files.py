"""Parts of `partita cc`: command lines, ELF sections, bitcode records, symbols, archives."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita.cc import archive, elf, embedded
from partita.cc.arguments import Kind, parse, split_words
from partita.cc.symbols import symbols
from partita.frontends.c import compile_c
from partita.toolchain import driver, zig_dir
from support import PROGRAM_FOLDER


def compiled(folder: Path, text: str, name: str = "a.c") -> bytes:
    source = folder / name
    source.write_text(text)
    (found,) = compile_c([str(source)])
    return found.bitcode


def native_object(folder: Path, text: str, name: str = "n.c") -> bytes:
    source, made = folder / name, folder / "n.o"
    source.write_text(text)
    subprocess.run([*driver(), "-g", "-c", str(source), "-o", str(made)], check=True)
    return made.read_bytes()


# Command lines


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\n\tc", ["a", "b", "c"]),
        ("'a b' \"c d\"e", ["a b", "c de"]),
        (r"a\ b \"c\" \\", ["a b", '"c"', "\\"]),
        ("'' \"\"", ["", ""]),
        (r"'a\'b'", ["a'b"]),
        ("", []),
        ("\n \n", []),
    ],
)
def test_words_of_response_files(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_response_files_are_expanded_in_place(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("-DB '-DC=x y'")
    (tmp_path / "outer").write_text(f"-DA @{tmp_path}/inner")
    line = parse(["-c", f"@{tmp_path}/outer", "@absent", "a.c"])
    assert line.words == ("-c", "-DA", "-DB", "-DC=x y", "@absent", "a.c")


def test_kinds_of_arguments() -> None:
    text = "-O2 -I inc -DX=1 -Wl,-z,now -L lib -lm -pthread a.c -o prog b.o libc.a -x assembler d.txt -x none e.S"
    text += " -undef"
    line = parse(text.split())
    assert [item.words[0] for item in line.sources] == ["a.c", "d.txt", "e.S"]
    assert [item.language for item in line.sources] == ["c", "assembly", "assembly"]
    assert line.words_of(Kind.INPUT) == ["b.o", "libc.a"]
    assert line.words_of(Kind.LINK) == ["-Wl,-z,now", "-L", "lib", "-lm"]
    assert line.words_of(Kind.COMPILE) == ["-O2", "-I", "inc", "-DX=1", "-undef"]
    assert line.bitcode_words() == ["-I", "inc", "-DX=1", "-undef"]
    assert (line.output, line.compile_only, line.other_output) == ("prog", False, False)


@pytest.mark.parametrize(
    "words", [["--version"], ["-v"], ["-E", "a.c"], ["-S", "a.c"], ["-M", "a.c"], ["-dumpmachine"]]
)
def test_commands_that_make_no_object(words: list[str]) -> None:
    assert parse(words).other_output


def test_bitcode_flags_omit_optimisation_and_output() -> None:
    text = "-MD -MF a.d -MT a.o -Wall -Wno-implicit-int -Wp,-MD,x.d -Wp,-DY -g3 -O3 -flto -fsanitize=address"
    line = parse([*text.split(), "-std=gnu99", "-include", "c.h", "-c", "a.c"])
    assert line.bitcode_words() == ["-Wno-implicit-int", "-Wp,-DY", "-std=gnu99", "-include", "c.h"]


# Sections


def test_adding_a_section(tmp_path: Path) -> None:
    before = native_object(tmp_path, "int f(void) { return 1; }")
    assert elf.section(before, ".mine") is None
    after = elf.add_section(elf.add_section(before, ".mine", b"first"), ".other", b"")
    assert elf.section(after, ".mine") == b"first"
    assert elf.section(after, ".other") == b""
    assert elf.section(after, ".text") == elf.section(before, ".text")
    assert [s.name for s in elf.sections(after)] == [*(s.name for s in elf.sections(before)), ".mine", ".other"]


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n" * 9, b"\x7fELF\x02\x01" + b"\xff" * 90])
def test_files_that_are_not_elf(data: bytes) -> None:
    with pytest.raises(elf.ElfError):
        elf.add_section(data, ".mine", b"x")


def test_truncated_elf(tmp_path: Path) -> None:
    data = native_object(tmp_path, "int f(void) { return 1; }")
    for size in range(0, len(data), 97):
        with pytest.raises(elf.ElfError):
            elf.section(data[:size], ".text")


# Records


def test_records_round_trip(tmp_path: Path) -> None:
    bitcode = compiled(tmp_path, "int g(int); int f(int x) { return g(x); }")
    records = [
        embedded.BitcodeRecord("a.c", "/there", bitcode),
        embedded.BitcodeRecord("s.S", "/there", b"", "assembly"),
    ]
    packed = b"\0".join(map(embedded.pack, records)) + b"\0\0\0"
    data = elf.add_section(native_object(tmp_path, ""), embedded.SECTION, packed)
    assert embedded.records(data) == records
    first, _ = embedded.split(packed)
    assert (first.defines, first.needs) == (["f"], ["g"])


def test_damaged_records_are_refused(tmp_path: Path) -> None:
    packed = embedded.pack(embedded.BitcodeRecord("a.c", "/there", compiled(tmp_path, "int x = 1;")))
    for at in range(0, len(packed), 13):
        damaged = packed[:at] + bytes((packed[at] ^ 0x41,)) + packed[at + 1 :]
        with pytest.raises(embedded.DamagedError):
            list(embedded.split(damaged))
    for size in range(1, len(packed), 41):
        with pytest.raises(embedded.DamagedError):
            list(embedded.split(packed[:size]))


def test_a_newer_schema_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "SCHEMA", 2)
    packed = embedded.pack(embedded.BitcodeRecord("s.S", "/there", b"", "assembly"))
    monkeypatch.setattr(embedded, "SCHEMA", 1)
    with pytest.raises(embedded.DamagedError, match=r"written by a newer partita \(schema 2, known: 1\)"):
        list(embedded.split(packed))


# Symbols


def test_symbols_equal_llvms() -> None:
    from llvmlite import binding as llvm

    paths = sorted(str(path) for path in PROGRAM_FOLDER.glob("*.c"))
    for found in compile_c(paths[:12]):
        module = llvm.parse_bitcode(found.bitcode)
        everything = [*module.functions, *module.global_variables]
        visible = [s for s in everything if s.linkage.name not in ("internal", "private") and "llvm." not in s.name]
        names = symbols(found.bitcode)
        assert set(names.defines) == {s.name for s in visible if not s.is_declaration}
        assert set(names.needs) == {s.name for s in visible if s.is_declaration and s.linkage.name != "external_weak"}
        assert names.defines


def test_kinds_of_symbols(tmp_path: Path) -> None:
    text = """
    extern int needed, weakly __attribute__((weak)), unused; int defined = 1, tentative; static int own = 2;
    inline int only_inline(int x) { return x + needed; }
    __attribute__((weak)) int replaceable(void) { return own; }
    int f(void) { extern int g(void); return g() + only_inline(tentative) + (&weakly ? weakly : 0); }
    """
    names = symbols(compiled(tmp_path, text))
    assert sorted(names.defines) == ["defined", "f", "replaceable", "tentative"]
    assert sorted(names.needs) == ["g", "only_inline"]


@pytest.mark.parametrize("data", [b"", b"BC\xc0\xde", b"BC\xc0\xde" + bytes(40)])
def test_bitcode_without_symbols(data: bytes) -> None:
    with pytest.raises(ValueError, match="expected bitcode"):
        symbols(data)


# Archives


@pytest.mark.parametrize("flags", ["rc", "rcT"])
def test_members_of_archives(tmp_path: Path, flags: str) -> None:
    names = ["a.o", "a name that is longer than fifteen.o", "odd.o"]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(b"x" * (number + 20))
    if flags == "rcT":  # zig's own `rcT` accepts only objects, so the thin archive is written here
        table = "".join(f"{name}/\n" for name in names).encode()
        rows = [b"!<thin>\n", header(b"//", len(table)), table, b"\n" * (len(table) % 2)]
        at = 0
        for number, name in enumerate(names):
            rows.append(header(b"/%d" % at, number + 20))
            at += len(name) + 2
        (tmp_path / "lib.a").write_bytes(b"".join(rows))
    else:
        command = [str(zig_dir() / "zig"), "ar", flags, "lib.a", *names]
        subprocess.run(command, cwd=tmp_path, check=True)
    data = (tmp_path / "lib.a").read_bytes()
    assert archive.is_archive(data)
    assert list(archive.members(str(tmp_path / "lib.a"), data)) == [b"x" * (number + 20) for number in range(3)]


def header(name: bytes, size: int) -> bytes:
    return name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) + b"0".ljust(6) + b"644".ljust(8) + b"%-10d`\n" % size
