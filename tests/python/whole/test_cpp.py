"""C++ programs: exceptions, the library, native replay, and bugs that only C++ has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from partita import explore
from support import REPOSITORY, Run
from support.cpp_differential import compare

PROGRAMS = REPOSITORY / "tests" / "programs" / "cpp"


def test_every_way_an_exception_leaves_a_function(tmp_path: Path, partita: Run) -> None:
    program, out = PROGRAMS / "exceptions.cpp", tmp_path / "out"
    done = partita("run", str(program), "--out", str(out))
    assert done.returncode == 1, done.stderr
    summary = json.loads((out / "run.json").read_text())
    assert (summary["complete"], summary["paths"]["completed"]) == (True, 8)
    (bug,) = summary["bugs"]
    assert bug["class"] == "exception"
    assert bug["message"] == "terminating due to uncaught exception of type double"
    assert (bug["file"], bug["line"]) == (
        str(program),
        program.read_text()[: program.read_text().index("1.5")].count("\n") + 1,
    )
    replayed = partita("replay", str(program), str(out))
    assert (replayed.returncode, replayed.stdout.splitlines()[-1]) == (0, "9 as predicted")


def test_the_library_prints_what_it_prints_natively(tmp_path: Path, partita: Run) -> None:
    program, binary = PROGRAMS / "library.cpp", tmp_path / "library"
    assert partita("c++", "-std=c++20", str(program), "-o", str(binary)).returncode == 0
    native = subprocess.run([str(binary)], capture_output=True, check=True)
    (path,) = explore(program)
    assert path.ending == "exit 0"
    assert path.output.decode() == native.stdout.decode()


SNIPPETS = {
    "index": ('#include <vector>\nint main() { std::vector<int> v(3); return v[partita_int("i") & 3]; }', "assert"),
    "optional": ("#include <optional>\nint main() { std::optional<int> o; return *o; }", "assert"),
    "iterator": (
        "#include <vector>\n"
        "int main() { std::vector<int> v{1}; auto i = v.begin(); v.push_back(2); v.push_back(3); return *i; }",
        "use-after-free",
    ),
    "pure": (
        "struct A { A() { go(); } void go() { f(); } virtual void f() = 0; };\nstruct B : A { void f() override {} };\n"
        "int main() { B b; }",
        "abort",
    ),
    "noexcept": ("void f() noexcept { throw 1; }\nint main() { f(); }", "exception"),
    "dangling": (
        "#include <string>\n#include <string_view>\n"
        "int main() { std::string_view v = std::string(40, 'x'); return v[3]; }",
        "use-after-free",
    ),
    "cast": (
        "#include <typeinfo>\nstruct A { virtual ~A() {} };\nstruct B : A {};\n"
        "int main() { A a; try { (void)dynamic_cast<B &>(a); } catch (const std::bad_cast &) { return 4; } }",
        "exit 4",
    ),
    "statics": (
        "struct S { int n; S() : n(5) {} ~S() { if (n == 5) __builtin_trap(); } };\n"
        "S &get() { static S s; return s; }\nint main() { return get().n; }",
        "abort",
    ),
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_bugs_of_cpp(name: str, tmp_path: Path) -> None:
    text, ending = SNIPPETS[name]
    program = tmp_path / f"{name}.cpp"
    program.write_text('#include "partita.h"\n' + text)
    run = explore(program)
    assert ending in {path.ending for path in run}
    assert run.summary()["complete"] is True


def test_objects_of_two_compilers_in_one_program(tmp_path: Path, partita: Run) -> None:
    (tmp_path / "half.c").write_text("int half(int n) { return n / 2; }\n")
    (tmp_path / "main.cpp").write_text(
        '#include <partita.hpp>\n#include <stdexcept>\nextern "C" int half(int);\n'
        'int main() {\n  auto n = partita::symbolic<signed char>("n");\n'
        '  if (half(n) == -60) throw std::domain_error("too small");\n  return half(n) > 0;\n}\n'
    )
    for tool, source in (("cc", "half.c"), ("c++", "main.cpp")):
        made = tmp_path / f"{source}.o"
        assert partita(tool, "-O2", "-c", str(tmp_path / source), "-o", str(made)).returncode == 0
    binary = tmp_path / "program"
    objects = [str(tmp_path / "half.c.o"), str(tmp_path / "main.cpp.o")]
    linked = partita("c++", *objects, "-o", str(binary))
    # The first program on a machine says that it compiles libc++.
    said = [line for line in linked.stderr.splitlines() if "once for this installation" not in line]
    assert (linked.returncode, said) == (0, [])
    out = tmp_path / "out"
    done = partita("run", str(binary), "--out", str(out))
    assert "terminating due to uncaught exception of type std::domain_error: too small [exception]" in done.stdout
    replayed = partita("replay", str(binary), str(out))
    assert replayed.stdout.splitlines()[-1].endswith("as predicted")
    assert replayed.returncode == 0


MISMATCHED = {
    "delete of new[]": ("delete new int[3];", "`delete` of a heap object of 12 bytes that `new[]` made"),
    "delete[] of new": ("delete[] new int;", "`delete[]` of a heap object of 4 bytes that `new` made"),
    "free of new": ("free(new long);", "`free` of a heap object of 8 bytes that `new` made"),
    "free of new[]": ("free(new char[5]);", "`free` of a heap object of 5 bytes that `new[]` made"),
    "delete of malloc": ("delete (int *)malloc(4);", "`delete` of a heap object of 4 bytes that `malloc` made"),
    "delete[] of calloc": (
        "delete[] (int *)calloc(2, 4);",
        "`delete[]` of a heap object of 8 bytes that `malloc` made",
    ),
    "realloc of new": ("(void)realloc(new int, 9);", "`realloc` of a heap object of 4 bytes that `new` made"),
    "unique_ptr": ("{ std::unique_ptr<S> p(new S[1]); }", "`delete` of a heap object of 8 bytes that `new[]` made"),
    "over-aligned": ("delete new Wide[2];", "`delete` of a heap object of 128 bytes that `new[]` made"),
}


@pytest.mark.parametrize("name", MISMATCHED)
def test_memory_is_released_by_what_belongs_to_its_allocation(name: str, tmp_path: Path) -> None:
    text, message = MISMATCHED[name]
    program = tmp_path / "program.cpp"
    program.write_text(
        "#include <memory>\n#include <stdlib.h>\nstruct S { long n; };\nstruct alignas(64) Wide { int n; };\n"
        f"int main() {{\n  {text}\n  return 0;\n}}\n"
    )
    run = explore(program).finish()
    assert [(bug.class_, bug.message, bug.line) for bug in run.bugs] == [("mismatched-free", message, 6)]


def test_memory_that_is_released_as_it_was_made(tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(
        """#include <memory>
#include <new>
#include <stdlib.h>
#include <vector>
static char pool[4096];
static size_t used;
struct Own {
  int n = 3;
  static void *operator new(size_t size) { return malloc(size); }
  static void operator delete(void *p) { free(p); }
  static void *operator new[](size_t size) { return pool + (used += size) - size; }
  static void operator delete[](void *) {}
};
struct Odd { ~Odd() { n = 1; } int n; };
struct alignas(64) Wide { int n; };
int main() {
  delete new Own;
  delete[] new Own[3];
  delete[] new Odd[3];
  delete[] new Wide[2];
  delete new Wide;
  delete[] new (std::nothrow) int[2];
  delete new (std::nothrow) int;
  delete (int *)nullptr;
  delete[] (int *)nullptr;
  ::operator delete(::operator new(3));
  ::operator delete[](::operator new[](3));
  free(realloc(malloc(3), 9));
  std::shared_ptr<int[]> shared(new int[2]);
  std::vector<std::unique_ptr<int[]>> all(3);
  for (auto &each : all) each = std::make_unique<int[]>(4);
  return 0;
}
"""
    )
    run = explore(program).finish()
    assert (run.complete, run.bugs) == (True, [])


def test_operators_that_the_program_replaces(tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(
        """#include <new>
#include <stdlib.h>
#include <vector>
static int balance;
void *operator new(size_t size) { balance++; return malloc(size); }
void operator delete(void *p) noexcept { balance--; free(p); }
void operator delete(void *p, size_t) noexcept { balance--; free(p); }
int main() {
  { std::vector<int> v(3); }
  delete new int;
  delete[] new int[2]; // the library's, which call these
  return balance;
}
"""
    )
    (path,) = explore(program)
    assert path.ending == "exit 0", path.message


@pytest.mark.parametrize("seed", [4, 7, 16])
def test_random_programs_print_what_they_print_natively(seed: int, tmp_path: Path) -> None:
    assert compare(seed, tmp_path) == ""
