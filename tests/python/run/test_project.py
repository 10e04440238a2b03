"""Options of projects: `partita.toml`, `[tool.partita]`, `compile_commands.json`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from partita import UsageError
from partita.cli import main
from partita.frontends import compile_commands

needs_toml = pytest.mark.skipif(sys.version_info < (3, 11), reason="reading TOML needs Python 3.11")

PROGRAM = """#include <partita.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned char x;
  partita_make_symbolic(&x, 1, "x");
  if (x == KEY) abort();
  return argc > 1 && argv[1][0] == 'y';
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "prog.c").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summary(folder):
    return json.loads((folder / "partita-last" / "run.json").read_text())


@needs_toml
@pytest.mark.parametrize("name", ["partita.toml", "pyproject.toml"])
def test_run_alone_repeats_the_options_of_the_project(folder, name, monkeypatch, capsys):
    head = "" if name == "partita.toml" else "[tool.partita]\n"
    lines = """program = "prog.c"
cflags = ["-DKEY=200"]
search = "dfs"
max-time = "60s"
arguments = ["yes"]
all-bugs = true
"""
    (folder / name).write_text(head + lines)
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    assert main(["run"]) == 1
    out, err = capsys.readouterr()
    assert "unsigned 200" in out
    assert f"options of {folder / name}" in err
    assert [path.name for path in folder.glob("partita-out-*")] == ["partita-out-0"]
    assert summary(folder)["paths"]["completed"] == 1


@needs_toml
def test_the_command_line_counts_more(folder, monkeypatch, capsys):
    (folder / "partita.toml").write_text('program = "prog.c"\ncflags = "-DKEY=200"\nsearch = "dfs"\nmax-tests = 1\n')
    assert main(["run", "--cflags=-DKEY=300", "--max-tests", "9", "--out", "mine"]) == 0
    assert json.loads((folder / "mine" / "run.json").read_text())["tests"] == 1
    # A value that is the default was chosen too.
    (folder / "partita.toml").write_text('program = "prog.c"\ncflags = "-DKEY=200"\ntests = "bugs"\n')
    assert main(["run", "--tests", "all", "--out", "all"]) == 1
    assert json.loads((folder / "all" / "run.json").read_text())["tests"] == 2


@needs_toml
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('serch = "dfs"', "found `serch`: did you mean `search`?"),
        ("program = 3", "expected `program` in"),
        ('program = "prog.c"\njson = "yes"', "expected `json` in"),
        ('search = "dfs"', "has no `program`"),
        ("program = [", "cannot read"),
        ('program = "prog.c"\ncflags = ["-D A"]', "expected words without blanks for `cflags`"),
    ],
)
def test_mistakes_in_the_file(folder, text, message, capsys):
    (folder / "partita.toml").write_text(text)
    assert main(["run"]) == 2
    assert message in capsys.readouterr().err


def test_no_program_at_all(folder, capsys):
    assert main(["run"]) == 2
    assert "expected a program to explore, such as `partita run prog.c`" in capsys.readouterr().err


SOURCES = {
    "include/q.h": "struct q { int *data; };\nint q_get(const struct q *q, unsigned i);\nint helper(int x);\n",
    "src/q.c": "#include <q.h>\nint q_get(const struct q *q, unsigned i) { return helper(q->data[i % LIMIT]); }\n",
    "src/h.c": '#include "../include/q.h"\nint helper(int x) { return 100 / (x + SHIFT); }\n',
    "src/first.c": "#include <q.h>\nint main(void) { return helper(1); }\n",
    "src/second.c": "int main(void) { return 1; }\nint helper(int x) { return x; }\n",
    "src/other.c": "#error not for this machine\n",
}
COMMANDS = {
    "../src/q.c": "cc -I../include -DLIMIT=4 -Wall -Werror -O2 -o q.o -c ../src/q.c",
    "../src/h.c": "cc '-DSHIFT=5' -c ../src/h.c",
    "../src/first.c": "cc -I ../include -c ../src/first.c",
    "../src/second.c": "cc -c ../src/second.c",
    "../src/other.c": "cc -c ../src/other.c",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    build = tmp_path / "build"
    build.mkdir()
    rows = [{"directory": str(build), "file": name, "command": text} for name, text in COMMANDS.items()]
    (build / "compile_commands.json").write_text(json.dumps(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sources_are_those_that_the_entry_needs(project, capsys):
    assert main(["run", "--project", "build", "--entry", "q_get", "--quiet"]) == 1
    out = capsys.readouterr().out
    assert "src/h.c:2: error: division or remainder by zero" in out
    data = summary(project)
    assert [Path(name).name for name in data["program"]] == ["q.c", "h.c"]
    assert main(["run", "src/first.c", "--project", "build", "--quiet"]) == 0
    assert [Path(name).name for name in summary(project)["program"]] == ["first.c", "h.c"]


def test_the_proposed_command_replays_with_the_flags_of_each_file(project, capsys):
    assert main(["run", "--project", "build", "--entry", "q_get"]) == 1
    out = capsys.readouterr().out
    (command,) = (line for line in out.splitlines() if "partita replay" in line)
    assert main(shlex.split(command.partition("partita ")[2])) == 0
    assert "as predicted" in capsys.readouterr().out


def test_the_proposed_command_has_the_flags_of_the_run(folder, capsys):
    assert main(["run", "prog.c", "--cflags", "-DKEY=5 -DMORE=1"]) == 1
    (command,) = (line for line in capsys.readouterr().out.splitlines() if "partita replay" in line)
    assert main(shlex.split(command.partition("partita ")[2])) == 0
    assert "1 as predicted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--project", "build"], "several files define `main`"),
        (["--project", "build", "--entry", "nothing"], "expected a function `nothing` in the sources"),
        (["--project", "src"], "expected compile_commands.json in `src`, found none"),
        (["elsewhere.c", "--project", "build"], "which compile_commands.json does not have"),
        (["src/other.c", "--project", "build"], "not for this machine"),
    ],
)
def test_mistakes_about_projects(project, words, message, capsys):
    assert main(["run", *words]) == 2
    assert message in capsys.readouterr().err


def test_paths_in_flags_do_not_depend_on_the_folder(project):
    (source,) = (each for each in compile_commands.read(Path("build")).values() if each.endswith("first.c"))
    assert source.flags == ("-I", str(project / "include"))
    (project / "build" / "compile_commands.json").write_text('[{"directory": 3}]')
    with pytest.raises(UsageError, match="cannot read"):
        compile_commands.read(Path("build"))
