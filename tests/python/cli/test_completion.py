"""`partita completion SHELL`, run in the shells: completions match the argument parser."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from partita.cli import COMMANDS, TOOLS, make_parser
from partita.cli.completion import SHELLS, read
from support import PATIENCE_S, Run

# Typed words, and the completions of the last one.
CASES = [
    (["ex"], ["export"]),
    (["run", "--max-t"], ["--max-tests", "--max-time"]),
    (["run", "--max-s"], ["--max-solver-time"]),
    (["run", "--search", "r"], ["random-path"]),
    (["export", "here", "--format", "c"], ["ctest"]),
    (["store", ""], ["clear", "export", "stats"]),
    (["completion", "f"], ["fish"]),
    (["run", "spe"], ["special.c"]),
    (["run", "--stdin", "spe"], ["special.c"]),
    (["run", "--seed", ""], []),
]


@pytest.fixture
def script(tmp_path: Path, partita: Run, request: pytest.FixtureRequest) -> Path:
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine: install Debian's package {shell}")
    done = partita("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "special.c").write_text("int main(void) { return 0; }\n")
    path = tmp_path / f"partita.{shell}"
    path.write_text(done.stdout)
    return path


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash(script: Path) -> None:
    for words, expected in CASES:
        given = " ".join(f"'{word}'" for word in ["partita", *words])
        code = f"source {script.name}; COMP_WORDS=({given}); COMP_CWORD={len(words)}; _partita; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(
            ["bash", "-c", code], cwd=script.parent, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert (sorted(done.stdout.split()), done.stderr) == (expected, ""), words


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish(script: Path) -> None:
    typed = "".join(f"echo == ; complete -C 'partita {' '.join(words)}'\n" for words, _ in CASES)
    environment = {**os.environ, "HOME": str(script.parent), "XDG_CONFIG_HOME": str(script.parent)}
    done = subprocess.run(
        ["fish", "-N", "-c", f"source {script.name}\n{typed}"],
        cwd=script.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    _, *found = done.stdout.split("==\n")
    offered = [sorted(line.split("\t")[0] for line in lines.splitlines()) for lines in found]
    assert offered == [expected for _, expected in CASES], done.stderr


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh(script: Path) -> None:
    """A tab inserts the only possible completion."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(script.parent)
        os.environ.update(TERM="dumb", HOME=str(script.parent), PS1="")
        os.execlp("zsh", "zsh", "-f", "-i")

    def until(words: str) -> str:
        written = b""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and words.encode() not in written:
            if select.select([terminal], [], [], 0.2)[0]:
                written += os.read(terminal, 4096)
        return written.decode(errors="replace")

    try:
        os.write(terminal, f"autoload -U compinit; compinit -u -D; source ./{script.name}; echo re''ady\n".encode())
        assert "ready" in until("ready")
        for words, offered in CASES:
            if len(offered) == 1:
                os.write(terminal, f"partita {' '.join(words)}\t".encode())
                added = offered[0].removeprefix(words[-1]) + " "
                assert added in until(added), words
                os.write(terminal, b"\x15")  # clear the line
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def test_every_command_and_option_is_completed(partita: Run) -> None:
    commands = {command.name: command for command in read(make_parser())}
    assert set(commands) == {"", *COMMANDS, *TOOLS}
    options = {name for option in commands["run"].options for name in option.names}
    assert {"--sym-args", "--max-time", "--json", "--quiet", "--layers"} <= options
    for shell in SHELLS:
        text = partita("completion", shell).stdout
        assert all(option[2:] in text for option in options if option.startswith("--")), shell


def test_unknown_shells_are_refused(partita: Run) -> None:
    done = partita("completion", "tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'tcsh'" in done.stderr
