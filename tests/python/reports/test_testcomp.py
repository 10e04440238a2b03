"""`partita export --format testcomp`: conforms to the format's rules (version 1.1 of its DTDs)."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from partita.reports.testcomp import value
from support import Run

PROGRAM = """extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
void reach_error(void) { __assert_fail("0", "p<&>.c", 1, "reach_error"); }
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x == -5 && __VERIFIER_nondet_uchar() == 200)
    reach_error();
  return 0;
}
"""
METADATA = [
    *("sourcecodelang", "producer", "specification", "programfile", "programhash", "entryfunction", "architecture"),
    "creationtime",
]


@pytest.fixture
def run_folder(tmp_path: Path, partita: Run) -> tuple[Path, Path]:
    program, out = tmp_path / "p<&>.c", tmp_path / "out"
    program.write_text(PROGRAM)
    assert partita("run", str(program), "--out", str(out)).returncode == 1
    return program, out


def check_suite(files: dict[str, str], program: Path) -> list[tuple[str, list[tuple[str | None, str | None]]]]:
    """Checks `metadata.xml` by the rules; returns (coversError, inputs) of each test."""
    head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!DOCTYPE {0} PUBLIC "+//IDN sosy-lab.org//DTD '
    head += 'test-format {0} 1.1//EN" "https://sosy-lab.org/test-format/{0}-1.1.dtd">\n<{0}'
    text = files.pop("metadata.xml")
    assert text.startswith(head.format("test-metadata"))
    root = ElementTree.fromstring(text)
    assert [child.tag for child in root] == METADATA
    values = {child.tag: child.text or "" for child in root}
    assert values["programhash"] == hashlib.sha256(program.read_bytes()).hexdigest()
    assert (values["programfile"], values["sourcecodelang"], values["architecture"]) == (str(program), "C", "64bit")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", values["creationtime"])
    tests = []
    for text in files.values():
        assert text.startswith(head.format("testcase"))
        root = ElementTree.fromstring(text)
        assert root.tag == "testcase"
        assert set(root.attrib) == {"coversError"}
        assert all(child.tag == "input" and set(child.attrib) == {"type"} for child in root)
        tests.append((root.attrib["coversError"], [(child.get("type"), child.text) for child in root]))
    return tests


def test_a_suite_follows_the_format(run_folder: tuple[Path, Path], tmp_path: Path, partita: Run) -> None:
    program, out = run_folder
    done = partita("export", str(out), "--format", "testcomp")
    assert (done.returncode, done.stdout) == (0, f"3 tests in {out / 'testcomp'}\n")
    tests = check_suite({file.name: file.read_text() for file in (out / "testcomp").iterdir()}, program)
    assert ("true", [("int", "-5"), ("unsigned char", "200")]) in tests
    assert sorted(covers for covers, _ in tests) == ["false", "false", "true"]

    archive = tmp_path / "suite.zip"
    done = partita("export", str(out), "--format", "testcomp", "-o", str(archive), "--specification", "error")
    assert done.returncode == 0
    with zipfile.ZipFile(archive) as file:
        files = {name: file.read(name).decode() for name in file.namelist()}
    assert "<specification>COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )</spec" in files["metadata.xml"]
    assert sorted(check_suite(files, program)) == sorted(tests)


def test_usage_errors(run_folder: tuple[Path, Path], tmp_path: Path, partita: Run) -> None:
    program, out = run_folder
    done = partita("export", str(tmp_path / "none"), "--format", "testcomp", "-o", str(tmp_path / "suite"))
    assert done.returncode == 2
    assert "expected the folder of a run" in done.stderr
    done = partita("export", str(out), "--format", "testcomp", "-o", str(out))
    assert done.returncode == 2
    assert f"expected a new file or folder to write, found `{out}`" in done.stderr
    program.unlink()
    done = partita("export", str(out), "--format", "testcomp")
    assert done.returncode == 2
    assert f"cannot read `{program}`, whose hash belongs to the tests" in done.stderr


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("char", b"\xff", ("char", "-1")),
        ("bool", b"\x01", ("bool", "1")),
        ("ulonglong", b"\xff" * 8, ("unsigned long long", str(2**64 - 1))),
        ("float", b"\x00\x00\x80\x3f", ("float", "1.0")),
        ("double", b"\x00\x00\x00\x00\x00\x00\xf8\x7f", ("double", "nan")),
        ("anything", b"\x02\x01", ("unsigned short", "258")),
        ("buffer", b"abc", ("unsigned char[3]", "0x616263")),
    ],
)
def test_values_have_their_types(name: str, data: bytes, expected: tuple[str, str]) -> None:
    assert value(name, data) == expected
