"""`partita cc` as a drop-in compiler: outputs, messages and exit status, alone and under make."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from partita.cc import embedded, parts
from partita.cc.musl import prepare_musl
from partita.replay.program import compiled_launcher
from partita.toolchain import EXPLORING_PACKAGES, driver, include_flags
from support import PARTITA, REPOSITORY, Run

PROJECT = REPOSITORY / "tests" / "projects" / "words"
MAIN = "int f(int); int main(int c, char **v) { return f(c); }\n"
TWICE = "int f(int x) { return 2 * x; }\n"


@pytest.fixture(scope="module", autouse=True)
def native_musl() -> None:
    """Compiles native musl before the tests: the first use prints a note on stderr."""
    prepare_musl()
    parts.prepare()
    with compiled_launcher():
        pass


@pytest.fixture
def cc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the compiler in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "twice.c").write_text(TWICE)

    def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(PARTITA), "cc", *words], input=text, capture_output=True, text=True, check=False)

    return run


def sources(path: Path | str) -> list[tuple[str, str]] | None:
    """Returns source and reason of each record; only records without bitcode have a reason."""
    found = embedded.records(Path(path).read_bytes())
    assert found is None or all(bool(record.bitcode) != bool(record.why) for record in found)
    return None if found is None else [(record.source, record.why) for record in found]


def clean(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_objects_and_executables(cc: Run) -> None:
    clean(cc("-c", "main.c"))
    clean(cc("-O2", "-g", "-c", "twice.c", "-o", "other.o"))
    clean(cc("main.o", "other.o", "-o", "prog"))
    assert subprocess.run(["./prog", "x"], check=False).returncode == 4
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]


def test_several_sources_at_once(cc: Run) -> None:
    clean(cc("-c", "main.c", "twice.c"))
    assert (sources("main.o"), sources("twice.o")) == ([("main.c", "")], [("twice.c", "")])
    clean(cc("main.c", "twice.c", "-MD", "-o", "prog"))
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]
    clean(cc("main.c", "twice.o"))
    assert subprocess.run(["./a.out"], check=False).returncode == 2
    left = set("main.c twice.c main.o twice.o prog prog.d a.out".split())
    assert set(os.listdir()) == left, "nothing else is left behind"


@pytest.mark.parametrize("words", ["-L. -ltwice", "-L . -l twice", "./libtwice.so.1", "-L. -l:libtwice.so.1"])
def test_shared_libraries_become_archives(cc: Run, words: str) -> None:
    """The executable runs without the library and contains its bitcode."""
    Path("unused.c").write_text("int unused(void) { return 1; }\n")
    clean(cc("-fPIC", "-c", "unused.c"))
    for _ in range(2):  # the second time replaces the first output
        clean(cc("-shared", "-fPIC", "-Wl,-soname,libtwice.so.1", "twice.c", "unused.o", "-o", "libtwice.so.1"))
    Path("libtwice.so").symlink_to("libtwice.so.1")
    clean(cc("main.c", *words.split(), "-o", "prog"))
    for file in ("libtwice.so", "libtwice.so.1"):
        Path(file).unlink()
    assert subprocess.run(["./prog", "x"], check=False).returncode == 4
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]


def test_symbols_of_the_runtime_do_not_clash(cc: Run) -> None:
    """A program without symbolic inputs must not be linked with the runtime's clocks and random numbers."""
    Path("main.c").write_text(
        "#include <stdlib.h>\n#include <time.h>\n"
        "int main(void) { srand(1); return time(0) < 1500000000 || rand() < 0; }\n"
    )
    clean(cc("main.c", "-o", "prog"))
    assert subprocess.run(["./prog"], check=False).returncode == 0
    Path("main.c").write_text(
        "#include <klee/klee.h>\n#include <time.h>\n"
        'int main(void) { int x; klee_make_symbolic(&x, 4, "x"); return time(0) < 1500000000 ? 9 : x == 3; }\n'
    )
    clean(cc("main.c", "-o", "prog"))
    assert subprocess.run(["./prog"], check=False, stderr=subprocess.DEVNULL).returncode == 2


def test_assembly_is_native_only(cc: Run) -> None:
    Path("twice.S").write_text("#define TWO 2\n.globl f\nf: imul $TWO, %edi, %eax\n ret\n")
    clean(cc("main.c", "twice.S", "-o", "prog"))
    assert subprocess.run(["./prog"], check=False).returncode == 2
    assert sources("prog") == [("main.c", ""), ("twice.S", "assembly")]
    # Assembly is not preprocessed, so folders of headers are unused; clang still warns about the user's own.
    Path("once.s").write_text(".globl once\nonce: ret\n")
    clean(cc("-c", "once.s"))
    assert "unused during compilation: '-isystem here'" in cc("-c", "-isystem", "here", "once.s").stderr


def test_fortran_is_not_compiled(cc: Run) -> None:
    Path("main.f90").write_text("program main\nend\n")
    done = cc("-c", "main.f90")
    assert done.returncode == 1
    assert done.stderr.startswith("partita cc: error: main.f90: clang does not compile Fortran: compile it to an")


def test_cpp_that_needs_no_library_beside_c(cc: Run) -> None:
    template = "template <class T> T twice(T x) { return x + x; }\n"
    Path("twice.cpp").write_text(template + 'extern "C" int f(int x) { return twice(x); }\n')
    clean(cc("main.c", "twice.cpp", "-o", "prog"))
    assert subprocess.run(["./prog"], check=False).returncode == 2
    assert sources("prog") == [("main.c", ""), ("twice.cpp", "")]


def test_other_outputs_equal_the_compilers(cc: Run) -> None:
    clean(cc("-S", "twice.c"))
    assert "imul" in Path("twice.s").read_text() or "shl" in Path("twice.s").read_text()
    assert "int f(int x)" in cc("-E", "twice.c").stdout
    assert cc("-M", "twice.c").stdout == "twice.o: twice.c\n"
    assert "clang version" in cc("--version").stdout
    assert cc("-dumpmachine").stdout == "x86_64-unknown-linux-musl\n"


def test_dependencies(cc: Run) -> None:
    Path("twice.h").write_text("")
    Path("twice.c").write_text('#include "twice.h"\n' + TWICE)
    clean(cc("-MD", "-MF", "twice.dep", "-MT", "target", "-c", "twice.c"))
    assert Path("twice.dep").read_text() == "target: twice.c twice.h\n"


def test_source_on_standard_input(cc: Run) -> None:
    clean(cc("-x", "c", "-c", "-", "-o", "twice.o", text=TWICE))
    assert sources("twice.o") == [("-", "")]
    clean(cc("-o", "prog", "-xc", "-", "-x", "none", "twice.o", text=MAIN))
    assert subprocess.run(["./prog"], check=False).returncode == 2


def test_errors_equal_the_compilers(cc: Run) -> None:
    Path("bad.c").write_text("int f(void) { return x; }\n")
    done = cc("-c", "bad.c", "-o", "bad.o")
    plain = subprocess.run([*driver(), *include_flags(), "-c", "bad.c"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert done.returncode == 1
    assert not Path("bad.o").exists()
    done = cc("-c", "absent.c")
    assert done.returncode == 1
    assert done.stderr == "zig: error: no such file or directory: 'absent.c'\nzig: error: no input files\n"
    done = cc("main.c", "-o", "prog")
    assert done.returncode != 0
    assert "undefined symbol: f" in done.stderr
    assert not Path("prog").exists()


def test_checks_of_configure_scripts_keep_no_bitcode(cc: Run) -> None:
    shutil.copy("twice.c", "conftest.c")
    clean(cc("-c", "conftest.c"))
    assert sources("conftest.o") is None
    clean(cc("-c", "conftest.c", "-o", os.devnull))
    clean(cc("-c", "main.c", "-o", os.devnull))


def test_objects_joined_by_a_linker(cc: Run) -> None:
    clean(cc("-c", "main.c", "twice.c"))
    clean(cc("-r", "-nostdlib", "main.o", "twice.o", "-o", "both.o"))
    clean(cc("both.o", "-o", "prog", "-s"))
    assert subprocess.run(["./prog"], check=False).returncode == 2
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]


def test_partita_cc_executable(cc: Run) -> None:
    """`partita-cc` serves build systems that cannot call a compiler of two words."""
    for tool, words in (("cc", ["-c", "main.c", "twice.c"]), ("ar", ["rc", "lib.a", "twice.o"]), ("ranlib", ["lib.a"])):
        subprocess.run([str(PARTITA.with_name(f"partita-{tool}")), *words], check=True)
    clean(cc("main.o", "lib.a", "-o", "prog"))
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]


@pytest.mark.skipif(shutil.which("strip") is None, reason="no strip on this machine")
def test_undefined_operations_on_constants_stay_in_bitcode(cc: Run, partita: Run, tmp_path: Path) -> None:
    (tmp_path / "folded.c").write_text("int main(void) {\n  (void)(1 / 0);\n  return 0;\n}\n")
    clean(cc("-O2", "-w", "folded.c", "-o", "folded"))
    done = partita("run", "folded", "--quiet")
    assert (done.returncode, "folded.c:2: error: division or remainder by zero" in done.stdout + done.stderr) == (
        1,
        True,
    )


def test_bitcode_survives_strip(cc: Run) -> None:
    clean(cc("-g", "main.c", "twice.c", "-o", "prog"))
    subprocess.run(["strip", "prog"], check=True)
    assert sources("prog") == [("main.c", ""), ("twice.c", "")]


def test_a_project_with_configure_and_make(partita: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if shutil.which("make") is None:
        pytest.skip("no make on this machine")
    path = f"{PARTITA.parent}{os.pathsep}{os.environ['PATH']}"
    for command in (
        [str(PROJECT / "configure"), "CC=partita cc", "AR=partita ar", "RANLIB=partita ranlib"],
        ["make", "-j4", "-s"],
    ):
        done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    # `fold.o` was not linked, but unoptimised code calls its function; `spare.o` is unused.
    names = [(os.path.basename(source), why) for source, why in sources("words") or []]
    assert names == [("main.c", ""), ("report.c", ""), ("count.c", ""), ("fold.c", "")]

    done = partita("run", "./words", "--out", "out", "--quiet")
    assert done.returncode == 1
    assert done.stdout == f"{PROJECT / 'report.c'}:5: error: assertion failed: words != 2 [assert]\n"
    done = partita("replay", "./words", "out", "--quiet", "--lcov", "lines")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "26 as predicted"
    assert f"SF:{PROJECT / 'count.c'}\nDA:4,1\n" in Path("lines").read_text()


def test_sources_without_bitcode_are_listed(cc: Run, partita: Run) -> None:
    Path("twice.s").write_text(".globl f\nf: lea (%rdi,%rdi), %eax\n ret\n")
    subprocess.run([*driver(), "-c", "twice.s", "-o", "foreign.o"], check=True)
    clean(cc("main.c", "foreign.o", "-o", "prog"))
    done = partita("run", "./prog", "--out", "out")
    assert done.stderr == "partita: note: ./prog has no bitcode of foreign.o (another compiler)\n"
    assert "call of `f`, which has no definition" in done.stdout
    done = partita("replay", "./prog", "out", "--gcov")
    assert done.returncode == 2
    assert done.stderr.endswith("cannot count lines of `prog`, which has no bitcode of foreign.o (another compiler)\n")


def test_executables_without_bitcode(cc: Run, partita: Run) -> None:
    subprocess.run([*driver(), "-c", "main.c", "twice.c"], check=True)
    clean(cc("main.o", "twice.o", "-o", "prog"))
    done = partita("run", "./prog")
    how = 'build it with `partita cc`, such as ./configure CC="partita cc" && make'
    assert (done.returncode, done.stderr) == (2, f"partita: error: `./prog` has no bitcode: {how}\n")
    Path("all.S").write_text(".globl main\nmain: xor %eax, %eax\n ret\n")
    clean(cc("all.S", "-o", "prog"))
    done = partita("run", "./prog")
    assert done.returncode == 2
    assert done.stderr.endswith("error: `./prog` has no bitcode, only machine code of all.S (assembly)\n")


def test_damaged_bitcode(cc: Run, partita: Run) -> None:
    clean(cc("main.c", "twice.c", "-o", "prog"))
    data = Path("prog").read_bytes()
    at = data.index(b"PARTBC01")
    Path("prog").write_bytes(data[: at + 300] + bytes((data[at + 300] ^ 1,)) + data[at + 301 :])
    done = partita("run", "./prog")
    assert done.returncode == 2
    why = "the record at offset 0 is truncated or damaged"
    assert f"cannot read the bitcode embedded in `./prog`: {why}; link it again" in done.stderr


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from partita.cc import main

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["cc", "-c", "main.c"]) == 1
    missing = " ".join(EXPLORING_PACKAGES.values())
    expected = f"exploring programs needs packages that are not installed: pip install {missing}"
    assert capsys.readouterr().err == f"partita cc: error: {expected}\n"


def test_warnings_that_are_errors_do_not_stop_a_build(cc: Run) -> None:
    Path("warns.c").write_text("int main(void) { int unused; return 0; }\n")
    for flags in (["-Wall", "-Werror"], ["-Wall", "-Werror=unused-variable"]):
        done = cc(*flags, "-c", "warns.c")
        assert done.returncode == 0, done.stderr
        assert "warning: unused variable" in done.stderr
        assert cc(*flags, "warns.c", "-o", "prog").returncode == 0
        # Configure scripts learn from errors.
        Path("conftest.c").write_text(Path("warns.c").read_text())
        assert cc(*flags, "-c", "conftest.c").returncode == 1
