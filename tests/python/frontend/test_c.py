"""Compiling C sources to programs: compiler messages, include paths, the compile cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from partita import explore
from partita._core import dump_program
from partita.errors import UsageError
from partita.frontends import cache, load_program
from partita.frontends.c import compile_c
from partita.toolchain import runtime_include
from support import BENCHMARKS

PROGRAMS = sorted((BENCHMARKS / "programs").glob("*.c"))
CLANGS = [name for name in ("clang", "clang-14", "clang-16", "clang-19") if shutil.which(name)]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def load(*paths: str, **options: object) -> str:
    return dump_program(load_program(paths, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_benchmarks_lower_completely(path: Path) -> None:
    for optimize in (False, True):
        dump = load(str(path), optimize=optimize)
        assert "function main(" in dump
        assert "unsupported" not in dump


@pytest.mark.skipif(not CLANGS, reason="no other clang is installed")
@pytest.mark.parametrize("clang", CLANGS)
def test_another_clang(clang: str) -> None:
    for path in PROGRAMS[::8]:
        assert "unsupported" not in load(str(path), clang=clang)


def test_all_intrinsics_are_declared(tmp_path: Path) -> None:
    for name in ("klee/klee.h", "partita.h"):
        prefix = "klee" if "klee" in name else "partita"
        calls = f'{prefix}_make_symbolic(&x, sizeof x, "x"); {prefix}_assume(x > 1); {prefix}_assert(x != 7);'
        calls += f'x += {prefix}_range(1, 5, "r") + {prefix}_int("i") + (int){prefix}_choose(3);'
        calls += f'{prefix}_print_expr("x", x); if ({prefix}_is_symbolic(x)) {prefix}_silent_exit(1);'
        path = write(tmp_path, f"{prefix}.c", f"#include <{name}>\nint main(void) {{ int x; {calls} return x; }}\n")
        dump = load(path)
        assert f"call {prefix}_make_symbolic(r0:64@0, 4:64@8, @.str:64@16)" in dump
        assert f"call {prefix}_assert_fail(" in dump
    assert (runtime_include() / "klee" / "klee.h").is_file()


def test_compiler_errors_are_shown_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "bad.c", "int main(void) {\n  return x;\n}\n")
    with pytest.raises(UsageError) as caught:
        load("bad.c")
    assert str(caught.value) == (
        "bad.c:2:10: error: use of undeclared identifier 'x'\n"
        "    2 |   return x;\n"
        "      |          ^\n"
        "1 error generated."
    )


def test_preprocessed_sources_are_not_preprocessed_again(tmp_path: Path) -> None:
    """Predefined macros are ordinary names in a `.i` file, and its line markers name the original places."""
    text = '# 7 "original.c"\nint main(void) { int linux = 0; return 1 / linux; }\n'
    run = explore(write(tmp_path, "prog.i", text)).finish()
    assert [(Path(bug.file).name, bug.line, bug.class_) for bug in run.bugs] == [("original.c", 7, "division-by-zero")]
    with pytest.raises(UsageError, match=r"original\.c:7:22: error"):
        load(write(tmp_path, "prog.c", text))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "expected at least one program file (.c, .cpp, .rs, .bc, .ll or an executable), found none"),
        (["absent.c"], "cannot read `absent.c`: No such file or directory"),
        (["."], "cannot read `.`: Is a directory"),
        (["notes.txt"], "expected a source in C (.c, .i), C++ (.cpp, .cc, .cxx) or Rust (.rs), bitcode (.bc), LLVM text"
         " (.ll) or an executable, found `notes.txt`"),
        (["nomain.c"], "expected a program with a function `main`, found none: give the file that defines it"),
        (["twice.c", "nomain.c", "again.c"], "`again.c` cannot be linked with the files before it:"
         " Linking globals named 'other': symbol multiply defined!"),
    ],
)  # fmt: skip
def test_bad_input(names: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "notes.txt", "hello")
    write(tmp_path, "nomain.c", "int other(void) { return 1; }")
    write(tmp_path, "again.c", "int other(void) { return 2; }")
    write(tmp_path, "twice.c", "int other(void); int main(void) { return other(); }")
    with pytest.raises(UsageError) as caught:
        load_program(names)
    assert str(caught.value) == message


def test_missing_compiler(tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", "int main(void) { return 0; }")
    with pytest.raises(UsageError, match=r"^cannot run the compiler `no-such-clang`: .*; check --clang$"):
        load_program([path], clang="no-such-clang")


def test_files_are_linked_and_dead_code_is_dropped(tmp_path: Path) -> None:
    one = write(tmp_path, "one.c", "int two(int); int spare(void) { return 3; } int main(void) { return two(4); }")
    two = write(tmp_path, "two.c", "static int g = 5; int unused; int two(int x) { return x + g; }")
    dump = load(one, two)
    assert "call two(" in dump
    assert "internal global g" in dump
    assert "spare" not in dump
    assert "unused" not in dump
    assert "function spare(" in load(one, two, entry=None)


def test_user_defined_allocators_are_kept(tmp_path: Path) -> None:
    text = "char pool[9]; void *malloc(unsigned long n) { return pool; } int main(void) { return 0; }"
    assert "\nfunction malloc(64) -> (64)" in load(write(tmp_path, "a.c", text))


def test_flags_reach_the_compiler(tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", '#include "n.h"\nint main(void) { return N + M; }')
    write(tmp_path, "n.h", "#define N 30")
    assert "ret 35" in load(path, cflags=["-DM=5", f"-I{tmp_path}"])


def test_debug_records_are_ignored(tmp_path: Path) -> None:
    text = "int main(int c, char **v) { int r = c; for (int i = 0; i < c; i++) r += i;"
    text += " switch (r) { case 3: return 1; } return r; }"
    path = write(tmp_path, "a.c", text)
    for optimize in (False, True):
        assert load(path, optimize=optimize) == load(path, optimize=optimize, cflags=["-g"])


def test_plain_code_keeps_its_branches(tmp_path: Path) -> None:
    text = "int main(int c, char **v) { int r = 0; if (c > 1 && c < 9) r = 1; else r = 2; return r; }"
    path = write(tmp_path, "a.c", text)
    plain, optimized = load(path), load(path, optimize=True)
    assert plain.count("branch") == 2
    assert "alloca" not in plain
    assert optimized.count("branch") == 0


# The cache


def entries(folder: Path) -> list[Path]:
    return [path for path in (folder / "cache").rglob("*") if path.is_file()]


def test_cache_is_used_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.c", '#include "n.h"\nint main(void) { return N; }')
    write(tmp_path, "n.h", "#define N 1")
    first = load_program([path])
    assert len(entries(tmp_path)) == 1
    with monkeypatch.context() as patch:
        patch.setattr("partita.frontends.compile_c", None)  # must not be called
        assert load_program([path]) == first
    write(tmp_path, "n.h", "#define N 2")
    assert "ret 2" in load(path)
    assert "ret 2" in load(path)
    assert len(entries(tmp_path)) == 1


def test_options_are_part_of_the_cache_key(tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", "int main(void) { return N; }")
    assert "ret 1" in load(path, cflags=["-DN=1"])
    assert "ret 2" in load(path, cflags=["-DN=2"])
    assert "ret 1" in load(path, cflags=["-DN=1"])
    assert len(entries(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"{}", b"{}\nxx", b"\xff\xfe\n"])
def test_damaged_entries_are_rebuilt(damage: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", "int main(void) { return 9; }")
    good = load_program([path])
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    for content in (damage, whole[:-3], whole[:-1] + bytes((whole[-1] ^ 1,))):
        entry.write_bytes(content)
        assert load_program([path]) == good
        assert entry.read_bytes() == whole


def test_an_unwritable_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", write(tmp_path, "file", "not a folder"))
    assert "ret 9" in load(write(tmp_path, "a.c", "int main(void) { return 9; }"))
    assert cache.cache_dir() == tmp_path / "file" / "partita"


def test_concurrent_processes_fill_the_cache(tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", "int main(void) { return 9; }")
    code = f"import sys; from partita.frontends import load_program; sys.stdout.buffer.write(load_program([{path!r}]))"
    jobs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(4)]
    found = {job.communicate()[0] for job in jobs}
    assert found == {load_program([path])}
    assert len(entries(tmp_path)) == 1


def test_dependencies_with_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "a b$c"
    folder.mkdir()
    path = write(folder, "x y.c", '#include "h#1.h"\nint main(void) { return N; }')
    header = write(folder, "h#1.h", "#define N 1")
    (compiled,) = compile_c([path])
    assert set(compiled.dependencies) == {path, header}


def test_a_missing_header_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path, "a.c", '#include "config.h"\nint main(void) { return 0; }\n')
    with pytest.raises(
        UsageError, match=r"say where `config.h` is, which .* makes: --cflags '-I FOLDER', or .* --project"
    ):
        load(path)
