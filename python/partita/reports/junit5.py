"""Tests of a Java program as a JUnit 5 class: each calls the entry method with the inputs of one path.

A path that ended normally must end so again; the test of a bug fails until the bug is fixed.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from partita import ktest
from partita.errors import UsageError
from partita.jvm.compile import STUBS
from partita.jvm.descriptors import parse_method
from partita.jvm.frontend import Entry, find_start
from partita.jvm.native_input import SEED, STDIN
from partita.reports.folder import new_place, read_run
from partita.reports.suites import regression_tests

_METHODS = {
    "Z": "Boolean",
    "B": "Byte",
    "C": "Char",
    "S": "Short",
    "I": "Int",
    "J": "Long",
    "F": "Float",
    "D": "Double",
}


def export(folder: Path, out: Path) -> int:
    """Writes the class, and the classes it needs, into a new folder. Returns the number of tests."""
    run = read_run(folder)
    if "java" not in run:
        raise UsageError(f"expected the run of a Java program for --format junit5, found one of {run['program'][0]}")
    # A program that exits with a status would end JUnit's process.
    tests = [t for t in regression_tests(folder) if t.ending == "exit 0" or not (t.ending or "").startswith("exit ")]
    # Neither can it be given standard input, nor the seed of a generator.
    tests = [t for t in tests if not any(name in (STDIN, SEED) for name, _ in t.objects)]
    given = run["java"]
    with tempfile.TemporaryDirectory(prefix="partita-junit5-") as scratch:
        start = find_start(run["program"], given["classpath"], given["entry"], Path(scratch))
    new_place(out)
    out.mkdir(parents=True)
    package, _, name = start.owner.rpartition("/")
    target = out / package / f"{name.replace('$', '_')}PartitaTest.java"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        for stub in sorted(STUBS.rglob("*.java")):
            place = out / stub.relative_to(STUBS)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(stub, place)
        target.write_text(_render(package, target.stem, start, tests, given.get("arguments", [])), "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None
    return len(tests)


def _render(package: str, name: str, start: Entry, tests: list[ktest.Test], words: list[str]) -> str:
    head = f"package {package.replace('/', '.')};\n\n" if package else ""
    body = "\n".join(_case(start, test, words) for test in tests)
    return f"""{head}import org.junit.jupiter.api.Test;
import partita.Inputs;

// Written by `partita export --format junit5`.
class {name} {{
{body}}}
"""


def _case(start: Entry, test: ktest.Test, words: list[str]) -> str:
    owner = start.owner.rpartition("/")[2].replace("$", ".")
    receiver = owner if start.is_static else f"new {owner}()"
    arguments = ", ".join(_argument(each, words) for each in parse_method(start.descriptor)[0])
    data = b"".join(len(data).to_bytes(4, "big") + data for _, data in test.objects)
    return f"""    // Ended in: {test.ending}.
    @Test
    void {test.name}() throws Throwable {{
        Inputs.set({json.dumps(data.hex())});
        {receiver}.{start.method}({arguments});
    }}
"""


def _argument(descriptor: str, words: list[str]) -> str:
    if descriptor == "[Ljava/lang/String;":
        return f"new String[] {{{', '.join(map(json.dumps, words))}}}"
    return f"Inputs.next{_METHODS.get(descriptor, 'String')}()"
