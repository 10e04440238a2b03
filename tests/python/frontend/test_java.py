"""Java programs: inputs, entry methods, symbolic input, messages, replay, and where executed code comes from."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from partita import UsageError, explore
from partita.jvm.classfile import ClassFormatError, read_class
from support import PROGRAM_FOLDER
from support.java import compile_all, needs_jdk
from support.java_differential import differences

pytestmark = needs_jdk

ROOT = Path(__file__).resolve().parents[3]
ACCOUNT = ROOT / "examples" / "Account.java"
PROGRAM = """package p;
public class Main {
    static int f(int x, String s) {
        if (x == 77) {
            return s.length() / (x - 77);
        }
        return 0;
    }
    static int deep(int n) {
        return deep(n + 1);
    }
    int g(boolean b) {
        return b ? 1 : 2;
    }
    public static void main(String[] arguments) {
        System.out.println("hello " + f(3, "x"));
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("java")
    source = folder / "p" / "Main.java"
    source.parent.mkdir()
    source.write_text(PROGRAM)
    return compile_all([source], folder / "classes")


def command(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "partita", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_the_example_has_its_bug_and_the_virtual_machine_confirms_it(tmp_path: Path) -> None:
    done = command("run", ACCOUNT, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "Account.java:23: error: java.lang.AssertionError: overdrawn [assert]" in done.stdout
    found = json.loads((tmp_path / "out" / "run.json").read_text())
    assert found["complete"]
    assert [bug["class"] for bug in found["bugs"]] == ["assert"]
    assert "Account.java" in (tmp_path / "out" / "coverage.lcov").read_text()
    test = tmp_path / "out" / f"test{found['bugs'][0]['test']:06}.ktest"
    replayed = command("replay", ACCOUNT, test)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "as predicted: assert" in replayed.stdout


def test_class_files_jars_and_folders_are_programs(classes: Path, tmp_path: Path) -> None:
    jar = tmp_path / "app.jar"
    with zipfile.ZipFile(jar, "w") as file:
        file.write(classes / "p" / "Main.class", "p/Main.class")
        file.writestr("META-INF/MANIFEST.MF", "Main-Class: p.Main\n")
    for program in (classes / "p" / "Main.class", classes, jar):
        run = explore(program)
        assert [path.output for path in run] == [b"hello 0\n"]
        assert run.complete


def test_parameters_of_the_entry_method_are_symbolic(classes: Path) -> None:
    run = explore(classes, entry="p.Main.f", symbolic_args=True, string_length=2).finish()
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("arithmetic", 5)]
    assert run.complete
    run = explore(classes, entry="p.Main.g", symbolic_args=True).finish()
    assert run.complete
    assert run.summary()["paths"]["completed"] == 2


def test_deep_recursion_is_a_limit(classes: Path) -> None:
    run = explore(classes, entry="p.Main.deep", symbolic_args=True).finish()
    assert run.bugs == []
    (row,) = run.summary()["incomplete"]
    assert row["why"].startswith("the stack is full: ")
    assert run.summary()["paths"]["limits"] == 1


def test_strings_without_a_given_length_are_counted(classes: Path) -> None:
    run = explore(classes, entry="p.Main.f", symbolic_args=True).finish()
    why = [row["why"] for row in run.summary()["incomplete"]]
    assert why == ["symbolic strings longer than 8 characters: set --string-length"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("Main", "expected --entry as Class.method, found `Main`"),
        ("p.Main.h", "expected a method `h` in the class `p.Main`, found none"),
        ("p.Other.h", "expected the class `p.Other`, found it nowhere: set --classpath"),
        ("p.Main.f", "expected --symbolic-args for an entry method with parameters"),
    ],
)
def test_wrong_entries(classes: Path, entry: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        explore(classes, entry=entry)
    assert str(caught.value) == message


def test_messages_of_the_compiler_are_shown(tmp_path: Path) -> None:
    source = tmp_path / "Wrong.java"
    source.write_text("class Wrong { int x = ; }\n")
    done = command("run", source)
    assert done.returncode == 2
    assert "Wrong.java:1: error: illegal start of expression" in done.stderr


def test_no_main(tmp_path: Path) -> None:
    source = tmp_path / "Empty.java"
    source.write_text("class Empty { }\n")
    with pytest.raises(UsageError, match=r"^expected a method `public static void main\(String\[\]\)`, found none in"):
        explore(source)


def test_a_folder_without_classes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^expected \.java, \.class or \.jar files, found none$"):
        explore(tmp_path)


@pytest.mark.parametrize("use", ["Gone.f();", "new Gone();", "Object o = new Gone[2];", "int n = Gone.n;"])
def test_a_missing_class_is_named_with_its_place(use: str, tmp_path: Path) -> None:
    (tmp_path / "Gone.java").write_text("class Gone { static int n; static void f() { } }\n")
    text = f"class Main {{\n  public static void main(String[] a) {{\n    {use}\n  }}\n}}\n"
    (tmp_path / "Main.java").write_text(text)
    subprocess.run(["javac", "Main.java", "Gone.java"], cwd=tmp_path, check=True)
    (tmp_path / "Gone.class").unlink()
    (tmp_path / "Gone.java").unlink()
    done = command("run", tmp_path / "Main.class")
    assert done.returncode == 2
    assert done.stderr.endswith("Main.java:3: expected the class `Gone`, found it nowhere: set --classpath\n")


def test_no_compiler_and_no_library(monkeypatch: pytest.MonkeyPatch, classes: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UsageError, match=r"^expected a JDK .* for the classes of the Java library, found none"):
        explore(classes)


def test_newer_truncated_and_other_files(classes: Path, tmp_path: Path) -> None:
    data = (classes / "p" / "Main.class").read_bytes()
    newer = data[:6] + (65).to_bytes(2, "big") + data[8:]
    with pytest.raises(ClassFormatError, match=r"found version 65 \(Java 21\): compile with `javac --release 17`$"):
        read_class(newer, "Main.class")
    with pytest.raises(ClassFormatError, match=r"^Main\.class: the class file is truncated$"):
        read_class(data[: len(data) // 2], "Main.class")
    with pytest.raises(ClassFormatError, match=r"^Main\.class: expected a class file, found something else$"):
        read_class(b"MZ" + data, "Main.class")
    (tmp_path / "Main.class").write_bytes(data[:100])
    done = command("run", tmp_path / "Main.class")
    assert done.returncode == 2
    assert "the class file is truncated" in done.stderr


def test_damaged_class_files_are_usage_errors(classes: Path, tmp_path: Path) -> None:
    """Every damaged file is read, or refused with a message that names it."""
    data = (classes / "p" / "Main.class").read_bytes()
    choose = random.Random(7)
    folder = tmp_path / "p"
    folder.mkdir()
    outcomes = set()
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(choose.randrange(1, 4)):
            damaged[choose.randrange(8, len(damaged))] = choose.randrange(256)
        (folder / "Main.class").write_bytes(damaged)
        try:
            explore(tmp_path, max_instructions=20_000).finish()
            outcomes.add("read")
        except UsageError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_code_of_the_library_is_executed(classes: Path) -> None:
    """Strings, collections and parsing run as the JDK's own bytecode: only the table of natives replaces methods."""
    from partita.jvm import natives
    from partita.jvm.classpath import ClassPath, Folder
    from partita.jvm.entry import build_main, find_entry
    from partita.jvm.jdk import Library, home
    from partita.jvm.program import Lowering
    from partita.jvm.world import World

    folder = compile_all([PROGRAM_FOLDER / "java" / f"{name}.java" for name in ("MapPut", "StringParse")], classes)
    for name, wanted in (("MapPut", "java/util/HashMap.putVal"), ("StringParse", "java/lang/Integer.parseInt")):
        world = World(ClassPath([Folder(folder)], Library(home())))
        lowering = Lowering(world, lambda file: file.source or "", None)
        build_main(lowering, find_entry(world, name, "main"), False)
        lowering.run()
        assert any(key.startswith(wanted) for key in lowering.lowered)
        assert all(natives.find(key, False) is not None for key in lowering.executed_natives)
        assert lowering.lowered.isdisjoint(lowering.executed_natives)
        assert len(lowering.lowered) > 10 * len(lowering.executed_natives) / 3


def test_generated_programs_print_what_the_virtual_machine_prints(tmp_path: Path) -> None:
    assert differences(range(8), tmp_path) == []


def test_junit5_classes_run(tmp_path: Path) -> None:
    """The exported class compiles, and its tests pass and fail as the paths ended. An annotation stands for JUnit's."""
    assert command("run", ACCOUNT, "--out", tmp_path / "out").returncode == 1
    done = command("export", tmp_path / "out", "--format", "junit5", "-o", tmp_path / "suite")
    assert done.stdout == f"17 tests in {tmp_path / 'suite'}\n", done.stderr
    annotation = tmp_path / "suite" / "org" / "junit" / "jupiter" / "api" / "Test.java"
    annotation.parent.mkdir(parents=True)
    annotation.write_text(
        "package org.junit.jupiter.api;\nimport java.lang.annotation.*;\n"
        "@Retention(RetentionPolicy.RUNTIME) public @interface Test {}\n"
    )
    (tmp_path / "suite" / "All.java").write_text(
        "class All { public static void main(String[] a) throws Exception { int passed = 0, failed = 0;"
        " for (var m : AccountPartitaTest.class.getDeclaredMethods())"
        " if (m.isAnnotationPresent(org.junit.jupiter.api.Test.class)) try { m.setAccessible(true);"
        " m.invoke(new AccountPartitaTest()); passed++; } catch (java.lang.reflect.InvocationTargetException e) {"
        " if (e.getCause() instanceof AssertionError) failed++; }"
        ' System.err.println(passed + " passed, " + failed + " failed"); } }\n'
    )
    classes = compile_all([*sorted((tmp_path / "suite").rglob("*.java")), ACCOUNT], tmp_path / "classes")
    ran = subprocess.run(["java", "-ea", "-cp", str(classes), "All"], capture_output=True, text=True, check=True)
    assert ran.stderr == "16 passed, 1 failed\n"
