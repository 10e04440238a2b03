"""The cache of lowered Java programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita import UsageError, explore
from partita.jvm import frontend
from support.java import needs_jdk

pytestmark = needs_jdk


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the programs that were lowered."""
    names: list[str] = []
    original = frontend.lower_java

    def counted(programs: list[str], **options: object) -> frontend.Lowered:
        names.extend(Path(name).name for name in programs)
        return original(programs, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(frontend, "lower_java", counted)
    return names


def bugs(program: Path, **options: object) -> int:
    return len(explore(program, **options).finish().bugs)  # type: ignore[arg-type]


def test_a_program_is_lowered_when_a_source_has_changed(tmp_path: Path, lowered: list[str]) -> None:
    main, other = tmp_path / "Main.java", tmp_path / "Other.java"
    main.write_text("public class Main { public static void main(String[] a) { assert Other.three() == 3; } }")
    other.write_text("class Other { static int three() { return 3; } }")
    assert [bugs(main), bugs(main)] == [0, 0]
    assert lowered == ["Main.java"]
    # The compiler finds the other source itself.
    other.write_text("class Other { static int three() { return 4; } }")
    assert bugs(main) == 1
    assert bugs(main, string_length=3) == 1
    assert len(lowered) == 3


def test_functions_of_mathematics_are_linked_from_the_cache_too(tmp_path: Path, lowered: list[str]) -> None:
    main = tmp_path / "Main.java"
    main.write_text("public class Main { public static void main(String[] a) { assert Math.sin(1) < 0.9; } }")
    assert [bugs(main), bugs(main)] == [0, 0]
    assert lowered == ["Main.java"]


def test_a_class_that_was_missing_is_found_later(tmp_path: Path, lowered: list[str]) -> None:
    (tmp_path / "p").mkdir()
    main, other = tmp_path / "Main.java", tmp_path / "p" / "Other.java"
    main.write_text("public class Main { public static void main(String[] a) { assert p.Other.three() == 4; } }")
    other.write_text("package p; public class Other { public static int three() { return 3; } }")
    subprocess.run(["javac", "-d", str(tmp_path), str(main), str(other)], check=True, cwd=tmp_path)
    kept = (tmp_path / "p" / "Other.class").read_bytes()
    (tmp_path / "p" / "Other.class").unlink()
    program = tmp_path / "Main.class"
    with pytest.raises(UsageError, match=r"expected the class `p\.Other`, found it nowhere"):
        explore(program)
    (tmp_path / "p" / "Other.class").write_bytes(kept)
    assert bugs(program) == 1
    assert len(lowered) == 2
