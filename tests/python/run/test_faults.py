"""Writes that fail, and runs that are killed: messages are clear, and tests that were written are whole."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support import PARTITA, PATIENCE_S
from support.faults import BUGS, FORKS, has_namespaces, kill, limited, on_full_disk, problems, whole_tests
from support.hostile import PROGRAMS


def test_a_failing_write_of_a_test_ends_the_run_with_a_message(tmp_path: Path) -> None:
    out = tmp_path / "out"
    subprocess.run([str(PARTITA), "run", str(FORKS), "--out", str(tmp_path / "warm"), "--max-tests", "1"], check=False)
    done = limited(20_000, str(FORKS), "--out", str(out), "--max-time", "60s", "--store", "none")
    assert done.status == 2, done.messages
    assert "Traceback" not in done.messages
    # The journal and the tests are written side by side: either may reach the limit first.
    journal = f"partita: error: cannot write `{out}/journal`: File too large: free some space; the run can be resumed"
    if journal not in done.messages:
        assert "partita: error: cannot write tests: File too large" in done.messages
        assert "--out" in done.messages
        assert whole_tests(out) > 500
    assert problems(done, out) == []


def test_a_failing_write_of_the_summary_is_a_message(tmp_path: Path) -> None:
    program = tmp_path / "one.c"
    program.write_text("int main(void) { return 0; }\n")
    subprocess.run(
        [str(PARTITA), "run", str(program), "--out", str(tmp_path / "warm")], check=True, capture_output=True
    )
    done = limited(600, str(program), "--out", str(tmp_path / "out"), "--store", "none")
    assert done.status == 2, done.messages
    assert "cannot write `" in done.messages
    assert "File too large: free some space" in done.messages
    assert "Traceback" not in done.messages
    assert not list((tmp_path / "out").glob("*.part"))


@pytest.mark.skipif(not has_namespaces(), reason="needs `unshare` and the right to mount a file system")
@pytest.mark.parametrize("size", [1 << 14, 1 << 17])
def test_a_full_disk_is_a_message(size: int, tmp_path: Path) -> None:
    done = on_full_disk(size, tmp_path, str(FORKS), "--max-time", "60s", "--store", "none")
    assert done.status == 2, done.messages
    assert "No space left on device" in done.messages
    assert "free some space or choose another folder with --out" in done.messages
    assert problems(done, tmp_path / "out") == []


@pytest.mark.parametrize("size", [0, 1_000, 30_000])
def test_a_failing_write_of_any_file_is_a_message(size: int, tmp_path: Path) -> None:
    program = tmp_path / "bugs.c"
    program.write_text(BUGS)
    files = ["--certificate", str(tmp_path / "certificate"), "--sarif", str(tmp_path / "log.sarif")]
    out = tmp_path / "out"
    done = limited(size, str(program), *files, "--max-instructions", "100000", "--store", "none", "--out", str(out))
    assert done.status == 2, done.messages
    assert problems(done, out) == []


def test_a_run_killed_while_it_compiles_or_starts_leaves_the_next_run_alone(tmp_path: Path) -> None:
    program = tmp_path / "fresh.c"
    for number, after_s in enumerate((0.05, 0.15, 0.3, 0.6)):
        program.write_text(f"int main(void) {{ return {number}; }}\n")
        kill(after_s, str(program), "--out", str(tmp_path / f"killed{number}"))
        assert problems(None, tmp_path / f"killed{number}") == []
    command = [str(PARTITA), "run", str(program), "--out", str(tmp_path / "out")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_output_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    program = tmp_path / "one.c"
    program.write_text("int main(void) { return 0; }\n")
    out = tmp_path / "out"
    with open("/dev/full", "w") as full:
        command = [str(PARTITA), "run", str(program), "--out", str(out), "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    assert "partita: error: cannot write the output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 3
    assert json.loads((out / "run.json").read_text())["stopped"] == "interrupted"


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.2, 0.5, 1.1])
def test_a_run_killed_at_any_moment_leaves_whole_tests(after_s: float, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [str(PARTITA), "run", str(FORKS), "--out", str(out), "--json"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=PATIENCE_S)
    reported = [json.loads(line)["tests"] for line in rest.splitlines()[:-1] if '"progress"' in line]
    # The writer may lag behind by its backlog.
    assert whole_tests(out) >= max([0, *reported]) - 4096
    assert not (out / "run.json").exists()


def test_the_system_limit_of_the_address_space_stops_the_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = PROGRAMS / "malloc_endless_forks.c"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    command = [str(PARTITA), "run", str(program), "--out", str(out), "--max-time", "10s", "--tests", "coverage"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, preexec_fn=limit)
    assert "Traceback" not in done.stderr
    assert done.returncode in (3, 4), (done.returncode, done.stderr)
    if done.returncode == 4:
        assert "partita: error: out of memory: the system refused" in done.stderr
    else:
        assert json.loads((out / "run.json").read_text())["stopped"] in ("max-memory", "max-time")
