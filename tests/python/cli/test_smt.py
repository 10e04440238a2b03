"""`partita smt`: files, interactive sessions, flags, bad input, exit status."""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from partita.cli import main
from support import PARTITA, PATIENCE_S, Run

SAMPLE = 6
"""Number of queries of each log."""
SCRIPT = """(set-logic QF_BV)
(declare-const x (_ BitVec 8))
(assert (= (bvmul x x) #x31))
(check-sat)
(assert (bvult x #x05))
(check-sat)
"""
HARD = """(declare-const p (_ BitVec 48))(declare-const q (_ BitVec 48))
(assert (= (bvmul p q) #x7fffffffffe7))(assert (bvult #x000000000001 p))(assert (bvult #x000000000001 q))
(assert (bvult p #x000001000000))(assert (bvult q #x000001000000))
(check-sat)
(get-info :reason-unknown)
"""


def test_plain_and_compressed_files(partita: Run, tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.smt2", tmp_path / "a.smt2.gz"
    plain.write_text(SCRIPT)
    packed.write_bytes(gzip.compress(SCRIPT.encode()))
    for path in (plain, packed):
        done = partita("smt", str(path))
        assert (done.stdout, done.stderr, done.returncode) == ("sat\nunsat\n", "", 0)


def test_standard_input_and_z3_style_flags(partita: Run) -> None:
    for arguments in ([], ["-"], ["-in"], ["-smt2", "-in"], ["-in", "-t:10000", "-T:60", "-memory:4000"]):
        done = partita("smt", *arguments, text=SCRIPT)
        assert (done.stdout, done.returncode) == ("sat\nunsat\n", 0), done.stderr


def test_python_dash_m_partita(tmp_path: Path) -> None:
    script = tmp_path / "a.smt2"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "partita", "smt", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("sat\nunsat\n", "", 0)
    wrong = subprocess.run(
        [sys.executable, "-m", "partita", "no-such"], capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert wrong.returncode == 2


def test_version(partita: Run) -> None:
    done = partita("smt", "--version")
    assert re.fullmatch(r"partita version \d+\.\d+\.\d+\n", done.stdout)
    version, *facts = partita("--version").stdout.splitlines()
    assert version == done.stdout.strip()
    found = dict(line.split(maxsplit=1) for line in facts)
    assert list(found) == "build extension python machine compiler bitcode solvers".split()
    assert re.fullmatch(
        r"(release|development \(with assertions\)), commit .+, stable ABI of Python 3.10", found["build"]
    )
    assert Path(found["extension"]).is_file()
    assert found["python"].startswith(platform.python_version())
    assert re.fullmatch(r"ziglang [\d.]+", found["compiler"])
    for package, name in (("z3", "z3-solver"), ("bitwuzla", "bitwuzla"), ("cvc5", "cvc5")):
        assert (f", {name} " in found["solvers"]) == (find_spec(package) is not None)


def test_interactive_answers_are_flushed() -> None:
    with subprocess.Popen([PARTITA, "smt", "-in"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for command, answer in [
            ("(declare-const x (_ BitVec 8))(assert (= x #x2a))(check-sat)", "sat"),
            ("(get-value (x))", "((x #x2a))"),
            ("(push)(assert (= x #x00))(check-sat)", "unsat"),
            ("(assert (= x #x0))", '(error "line '),
            ("(pop)(check-sat)", "sat"),
            ('(echo "still here")', "still here"),
        ]:
            child.stdin.write(command + "\n")
            child.stdin.flush()
            assert child.stdout.readline().startswith(answer), command
        child.stdin.write("(exit)\n")
        child.stdin.flush()
        assert child.wait(PATIENCE_S) == 2, "status after an error"


def test_answers_before_bad_input_are_printed(partita: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.smt2"
    path.write_text(SCRIPT + "(assert (bvadd x #x0001))\n(check-sat)\n")
    done = partita("smt", str(path))
    first, second, error, last = done.stdout.splitlines()
    assert (first, second, last) == ("sat", "unsat", "unknown"), "not about the problem that was written"
    assert error.startswith('(error "line 7 column ')
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"", 0), (b"(check-sat", 2), (bytes(range(256)) * 8, 2), (b"(assert", 2), (b")", 2)],
)
def test_empty_binary_and_truncated_files(partita: Run, tmp_path: Path, content: bytes, status: int) -> None:
    path = tmp_path / "odd.smt2"
    path.write_bytes(content)
    done = partita("smt", str(path))
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert ("(error " in done.stdout) == (status == 2)


def test_unreadable_files(partita: Run, tmp_path: Path) -> None:
    done = partita("smt", str(tmp_path / "none.smt2"))
    assert done.stderr == f"partita: error: cannot read {tmp_path}/none.smt2: No such file or directory\n"
    assert done.returncode == 2
    cut = tmp_path / "cut.smt2.gz"
    cut.write_bytes(gzip.compress(SCRIPT.encode())[:40])
    done = partita("smt", str(cut))
    assert done.returncode == 2
    assert done.stderr.startswith(f"partita: error: cannot read {cut}: ")
    assert partita("smt", "--layers", "bogus", text="").returncode == 2
    assert "expected a .kquery file with --validity" in partita("smt", "--validity", text="").stderr
    assert "expected a number of at least 1, found 'x'" in partita("smt", "-t:x", text="").stderr


def test_kquery(partita: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.kquery"
    path.write_text(
        "array a[2] : w32 -> w8 = symbolic\n"
        "(query [(Ult (Read w8 0 a) 5)] (Ult (Read w8 0 a) 9))\n"
        "(query [(Ult (Read w8 0 a) 5)] (Eq 7 (Read w8 0 a)))\n"
        "(query [(Ult (Read w8 0 a) 5)] (Eq 3 (Read w8 0 a)) [] [a])\n"
    )
    lines = partita("smt", str(path)).stdout.splitlines()
    assert lines[:3] == ["VALID", "INVALID", "INVALID"]
    assert re.fullmatch(r"a: 0[0124][0-9a-f]{2}", lines[3])
    assert partita("smt", "--validity", str(path)).stdout == "true\nfalse\nboth\n"


def test_time_limits(partita: Run) -> None:
    start = time.monotonic()
    done = partita("smt", "-in", "-t:300", text=HARD)
    assert done.stdout == 'unknown\n(:reason-unknown "timeout")\n'
    done = partita("smt", "-in", "-T:1", text=HARD)
    assert done.stdout.splitlines()[-1] == "timeout"
    assert time.monotonic() - start < 90


def test_statistics_and_verification(partita: Run) -> None:
    done = partita("smt", "-in", "--stats", "--verify", "z3", "--layers", "simplify split bitwuzla", text=SCRIPT)
    statistics = json.loads(done.stderr)
    assert [layer["name"] for layer in statistics["layers"]] == ["verify", "simplify", "split", "bitwuzla"]
    assert statistics["layers"][0]["checked"] == 2
    assert statistics["layers"][0]["mismatches"] == 0
    assert done.returncode == 0


def test_edits_of_the_default_chain(partita: Run) -> None:
    done = partita("smt", "-in", "--stats", "--layers=-split", text=SCRIPT)
    assert "split" not in [layer["name"] for layer in json.loads(done.stderr)["layers"]]
    assert done.stdout == "sat\nunsat\n"


def test_no_complete_layer(partita: Run) -> None:
    done = partita("smt", "-in", "--layers", "simplify", text=SCRIPT)
    assert done.stdout.split() == ["unknown", "unknown"]
    assert "the chain has no complete solver" in done.stderr


def test_a_closed_output_is_not_an_error() -> None:
    script = "(check-sat)\n" * 20000
    child = subprocess.Popen(
        [PARTITA, "smt", "-in"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stderr is not None
    child.stdout.close()
    try:
        child.stdin.write(script)
        child.stdin.close()
    except BrokenPipeError:
        os.set_blocking(child.stderr.fileno(), True)
    assert child.wait(PATIENCE_S) == 0
    assert child.stderr.read() == ""


def test_a_sample_of_every_smtlib_log(partita: Run, corpus: Path, tmp_path: Path) -> None:
    """Compares the first queries of each log with the index; `make corpus` runs all of them."""
    parts: list[str] = []
    expected: list[str] = []
    logs: list[str] = []
    for name, verdicts, text in query_logs(corpus, "smt2"):
        part = "(reset)".join(text.split("(reset)")[:SAMPLE]).replace("(exit)", "")
        count = part.count("(check-sat")
        parts.append(part)
        expected += verdicts[:count]
        logs += [name] * count
    path = tmp_path / "sample.smt2"
    path.write_text("(reset)".join(parts))
    found = [line for line in partita("smt", str(path)).stdout.splitlines() if line in ("sat", "unsat", "unknown")]
    assert list(zip(logs, found, strict=True)) == list(zip(logs, expected, strict=True))


def test_a_sample_of_every_kquery_log(corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Compares the first queries of each log with the index; `make corpus` runs all of them. In this process: a file
    cannot declare the arrays of several logs, and one process per log would take most of the time."""
    path = tmp_path / "sample.kquery"
    for name, answers, text in query_logs(corpus, "kquery"):
        parts = text.split("\n(query")[: SAMPLE + 1]
        path.write_text("\n(query".join([*parts[:-1], whole_query(parts[-1])]))
        assert main(["smt", str(path)]) == 0, name
        lines = capfd.readouterr().out.splitlines()
        found = [word for word in (line.split(" ")[0] for line in lines) if word in ("VALID", "INVALID", "UNKNOWN")]
        expected = ["VALID" if answer == "true" else "INVALID" for _, answer in answers]
        assert found, name
        assert found == expected[: len(found)], name


def query_logs(corpus: Path, language: str) -> Iterator[tuple[str, list[Any], str]]:
    """Yields name, answers and text of each log in that language."""
    for path in sorted(corpus.glob("*.json")):
        index = json.loads(path.read_text())
        if language in index:
            text = gzip.decompress((corpus / f"{path.stem}.{language}.gz").read_bytes()).decode()
            yield path.stem, index[language], text


def whole_query(text: str) -> str:
    """Returns the text up to the parenthesis that closes the query."""
    depth = 1
    for match in re.finditer(r"[()]", text):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return text[: match.end()] + "\n"
    return text


def test_a_spec_that_begins_with_a_dash(partita: Run) -> None:
    text = "(declare-const x (_ BitVec 8))\n(assert (bvult x #x05))\n(check-sat)\n"
    for words in (["--layers", "-intervals"], ["--layers=-intervals"]):
        done = partita("smt", "-", "--stats", *words, text=text)
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "sat"), done.stderr
        assert "enumerate" in done.stderr + done.stdout
        assert "intervals" not in done.stderr + done.stdout
