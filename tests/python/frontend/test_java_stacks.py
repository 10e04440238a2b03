"""Stacks of bugs in Java programs, and recursion without end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.explore import Run
from partita.replay import Verdict
from partita.replay.java import replay_java
from support.java import needs_jdk

pytestmark = needs_jdk


def run_java(folder: Path, text: str, **options: object) -> Run:
    source = folder / "Main.java"
    source.write_text(text)
    return explore(source, out=folder / "out", **options).finish()  # type: ignore[arg-type]


def test_stack_of_the_throw(tmp_path: Path) -> None:
    """The frames at the throw, which are gone when nothing has caught the exception; library frames are left out."""
    run = run_java(
        tmp_path,
        """import java.util.List;
public class Main {
    static int first(List<Integer> list) {
        return list.get(list.size());
    }
    static void use(int n) {
        try {
            if (n == 1) throw new IllegalStateException("caught");
            first(List.of(1, 2, 3));
        } catch (IllegalStateException e) {
            deny(n);
        }
    }
    static void deny(int n) {
        assert n != 1 : "denied";
    }
    public static void main(String[] arguments) {
        use(org.sosy_lab.sv_benchmarks.Verifier.nondetInt());
    }
}""",
    )
    assert {(bug.class_, bug.line) for bug in run.bugs} == {("bounds", 4), ("assert", 15)}
    stacks = {}
    for file in (tmp_path / "out").glob("*.err"):
        frames = re.findall(r"^  #\d+ Main\.(\w+)\(.* at .*/Main\.java:(\d+)$", file.read_text(), re.MULTILINE)
        stacks[file.suffixes[-2]] = [(name, int(line)) for name, line in frames]
    assert stacks == {
        ".bounds": [("first", 4), ("use", 9), ("main", 18)],
        ".assert": [("deny", 15), ("use", 11), ("main", 18)],
    }


@pytest.mark.parametrize(
    ("body", "line"),
    [
        # Equal arguments and memory, directly and through another method; a symbolic argument that stays.
        ("static int f(int n) { return f(n) + 1; }", 2),
        ("static int f(int n) { return n > 5 ? g(n) : 0; } static int g(int n) { return f(n); }", 2),
        ("static int f(int n) { if (n != 3) return 0; return f(n); }", 2),
    ],
)
def test_recursion_that_repeats_is_a_bug(body: str, line: int, tmp_path: Path) -> None:
    call = "f(org.sosy_lab.sv_benchmarks.Verifier.nondetInt());"
    text = f"public class Main {{\n{body}\npublic static void main(String[] a) {{ {call} }} }}"
    run = run_java(tmp_path, text)
    assert [(bug.class_, bug.line) for bug in run.bugs] == [("stack-overflow", line)]
    assert run.complete
    results = replay_java([str(tmp_path / "Main.java")], list(ktest.read_folder(tmp_path / "out")))
    assert {each.verdict for each in results} == {Verdict.AS_PREDICTED}


@pytest.mark.parametrize(
    "body",
    [
        # Another argument, another memory, a handler: the size of the stack decides.
        "static int f(int n) { return f(n + 1); }",
        "static int count; static int f(int n) { count++; return f(n); }",
        "static int f(int n) { try { return f(n); } catch (StackOverflowError e) { return 1; } }",
        "static int f(int n) { try { return f(n); } finally { return 1; } }",
    ],
)
def test_other_deep_recursion_is_a_limit(body: str, tmp_path: Path) -> None:
    run = run_java(tmp_path, f"public class Main {{ {body}\npublic static void main(String[] a) {{ f(1); }} }}")
    assert run.bugs == []
    assert not run.complete
    assert "the stack is full" in run.summary()["incomplete"][0]["why"]


def test_deep_recursion_that_ends(tmp_path: Path) -> None:
    """Equal calls that are not nested do not repeat."""
    run = run_java(
        tmp_path,
        """public class Main {
    static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    static int down(int n) { return n == 0 ? even(400) + even(400) : down(n - 1); }
    public static void main(String[] arguments) {
        assert down(900) == 2 && down(901) == 2 && even(5000) == 1;
    }
}""",
    )
    assert run.bugs == []
    assert run.complete
