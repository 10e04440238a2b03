"""C++ programs: exceptions, the library, native replay, and bugs that only C++ has."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from partita import explore
from support import REPOSITORY, Run

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
