"""The Java library: programs that use it print the same as in the Java virtual machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from partita import explore
from partita.replay import Verdict
from partita.replay.java import replay_java
from support import PROGRAM_FOLDER
from support.java import compile_all, needs_jdk

pytestmark = needs_jdk
PROGRAMS = sorted((PROGRAM_FOLDER / "java" / "library").glob("*.java"))
ARGUMENTS = {"Reading": ["7", "two"]}
INPUT = b"first line\nsecond\n"
COUNTED = {"Mathematics": {"one of several values: the last bit of a function of `Math`"}}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_all(PROGRAMS, tmp_path_factory.mktemp("library") / "classes")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_output_as_in_the_virtual_machine(program: Path, classes: Path) -> None:
    words = ARGUMENTS.get(program.stem, [])
    command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(classes), program.stem, *words]
    expected = subprocess.run(command, input=INPUT, capture_output=True, check=True).stdout
    run = explore(classes / f"{program.stem}.class", arguments=words, stdin=INPUT, max_time=50)
    paths = list(run)
    assert [path.ending for path in paths] == ["exit 0"], run.summary()["incomplete"]
    assert paths[0].output == expected
    assert {each["why"] for each in run.summary()["incomplete"]} == COUNTED.get(program.stem, set())


def test_standard_input_and_seeds_are_inputs(tmp_path: Path) -> None:
    source = tmp_path / "Inputs.java"
    source.write_text("""import java.io.IOException;
        public class Inputs {
            public static void main(String[] words) throws IOException {
                assert System.in.read() != words[0].charAt(0);
                assert System.in.read() != 'b' || new java.util.Random().nextInt() % 16 != 3;
            }
        }""")
    out = tmp_path / "out"
    run = explore(source, arguments=["a"], sym_stdin=2, out=out).finish()
    assert run.complete
    assert sorted((bug.class_, bug.line) for bug in run.bugs) == [("assert", 4), ("assert", 5)]
    from partita import ktest

    tests = list(ktest.read_folder(out))
    assert {"stdin"} <= {name for test in tests for name, _ in test.objects}
    found = replay_java([str(source)], tests, arguments=["a"])
    # The virtual machine chooses the seed itself, and may end in another way then.
    seeded = [len(each.test.objects) > 1 for each in found]
    assert Verdict.DIFFERENT not in {each.verdict for each in found}
    assert {each.verdict for each, is_seeded in zip(found, seeded, strict=True) if not is_seeded} == {
        Verdict.AS_PREDICTED
    }
    assert True in seeded


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sym-arg", "3"], "expected concrete arguments of a Java program, found `--sym-arg`"),
        (["\u00e4"], "expected ASCII characters in an argument of a Java program, found `\u00e4`"),
    ],
)
def test_arguments_that_are_refused(words: list[str], message: str, classes: Path) -> None:
    from partita.errors import UsageError

    with pytest.raises(UsageError, match=message):
        explore(classes / "Reading.class", arguments=words)
