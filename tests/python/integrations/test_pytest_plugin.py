"""The plugin for pytest, the action and the hook of `integrations/`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from partita.cli import make_parser
from support import REPOSITORY

FILES = {
    "pytest.ini": "[pytest]\npartita_files = c/*.c\npartita_options = --max-length 3 --cflags=-DZERO=0\n",
    "c/whole.c": "int main(void) { return ZERO; }\n",
    "c/functions.c": """
int unrelated(int x) { return 1 / x; }
int test_fine(unsigned char x) { return x + 1; }
int check_broken(int x) { return 100 / (x - 42); }
""",
    "c/notes.h": "#error not a test\n",
    "other/skipped.c": "#error not a test\n",
    "test_python.py": "def test_python():\n    pass\n",
}


@pytest.fixture
def session(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def run(*words):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr

    return tmp_path, run


def test_files_and_functions_are_tests(session):
    _, run = session
    status, out = run()
    assert status == 1
    assert "whole.c::main PASSED" in out
    assert "functions.c::test_fine PASSED" in out
    assert "functions.c::check_broken FAILED" in out
    assert "division or remainder by zero [division-by-zero]\n    x = 42" in out
    assert "unrelated" not in out
    assert "3 passed" in out
    assert "1 failed" in out


def test_incomplete_explorations_fail_on_request(session):
    folder, run = session
    (folder / "c" / "functions.c").write_text("int test_text(const char *s) { return s && s[0] == 'x'; }\n")
    assert run()[0] == 0
    (folder / "pytest.ini").write_text("[pytest]\npartita_files = c/functions.c\npartita_complete = true\n")
    status, out = run("c")
    assert status == 1
    assert "explored incompletely" in out
    assert "strings of more than 8 bytes" in out


def test_a_file_that_does_not_compile_is_an_error(session):
    folder, run = session
    (folder / "c" / "whole.c").write_text("int main(void) { return x; }\n")
    status, out = run("c/whole.c")
    assert status != 0
    assert "use of undeclared identifier 'x'" in out


def test_without_files_nothing_of_partita_is_imported(session):
    folder, run = session
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_python.py").write_text(
        "import sys\ndef test_python():\n    assert 'partita.explore' not in sys.modules\n"
    )
    assert run()[0] == 0


def words_after(text: str, mark: str) -> list[str]:
    """The words of a command in a file of `integrations/`."""
    line = next(line for line in text.splitlines() if mark in line)
    return line.partition(mark)[2].split("||")[0].split()


def test_the_action_and_the_hook_use_options_that_exist():
    yaml = pytest.importorskip("yaml")
    folder = REPOSITORY / "integrations"
    action = yaml.safe_load((folder / "action" / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "run")
    known = {
        action
        for row in make_parser(["run"])._subparsers._group_actions[0].choices["run"]._actions
        for action in row.option_strings
    }
    for word in words_after(step["run"], 'partita run "${words[@]}"'):
        assert not word.startswith("--") or word in known
    for step in action["runs"]["steps"]:
        assert ("uses" in step) != ("shell" in step)
        # Inputs reach scripts through the environment only: their text is not code.
        assert "${{" not in step.get("run", "")
    (hooks,) = yaml.safe_load((folder / "pre-commit" / "hooks.yaml").read_text())
    (hook,) = hooks["hooks"]
    assert set(words_after(hook["entry"], "partita run")) <= known


@pytest.mark.parametrize(("status", "expected"), [(0, 0), (1, 1), (3, 0), (2, 1)])
def test_the_hook_accepts_incomplete_explorations(status, expected, tmp_path):
    yaml = pytest.importorskip("yaml")
    (hooks,) = yaml.safe_load((REPOSITORY / "integrations" / "pre-commit" / "hooks.yaml").read_text())
    program = tmp_path / "partita"
    program.write_text(f"#!/bin/sh\nexit {status}\n")
    program.chmod(0o755)
    done = subprocess.run(
        hooks["hooks"][0]["entry"], shell=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False
    )
    assert done.returncode == expected
