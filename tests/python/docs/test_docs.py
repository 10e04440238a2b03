"""The documentation builds without warnings, and its examples print what the pages show.

In a page, a block after a line that ends in "`NAME`:" (or begins so) is a file; `console` blocks are typed and `python`
blocks run in the same folder. In expected output `...` matches any text. Messages on standard error (such as that the C
library is being compiled) are not compared. The folder has the project's `examples`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import PARTITA, PATIENCE_S, REPOSITORY

DOCS = REPOSITORY / "docs"
BLOCK = re.compile(
    r"(?:^`(?P<name>[\w.-]+)`[^`\n]*[:.]\n\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
PAGES = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]
EXECUTED = [page for page in PAGES if re.search(r"(?m)^```(console|python)$", page.read_text())]


def sessions(body: str) -> Iterator[tuple[str, str]]:
    """Yields each command of a console block with its expected output."""
    for part in re.split(r"(?m)^\$ ", body)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def agrees(expected: str, printed: str) -> bool:
    lines = expected.strip().splitlines()
    pattern = "".join(
        r"(.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in lines
    )
    return re.fullmatch(pattern, printed.strip() + "\n" if lines else printed) is not None


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{PARTITA.parent}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=folder, env=environment, text=True, timeout=PATIENCE_S, capture_output=True)


@pytest.mark.parametrize("page", EXECUTED, ids=lambda page: page.name)
def test_examples_of_a_page(page: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    for block in BLOCK.finditer(page.read_text()):
        name, language, body = block["name"], block["language"], block["body"]
        if name:
            (tmp_path / name).write_text(body)
        elif language == "console":
            for command, expected in sessions(body):
                tool = command.split()[0]
                if "/" not in tool and shutil.which(tool) is None and not (PARTITA.parent / tool).exists():
                    pytest.skip(f"{page.name} needs `{tool}`, which this machine does not have")
                done = run("sh", "-c", command, folder=tmp_path)
                printed = f"`{command}` printed\n{done.stdout}\n{done.stderr}"
                assert agrees(expected, done.stdout), f"{page.name}: {printed}\nexpected\n{expected}"
        elif language == "python":
            (tmp_path / "block.py").write_text(body)
            done = run(sys.executable, "block.py", folder=tmp_path)
            assert done.returncode == 0, done.stderr


def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install -r requirements/dev.txt")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    options = (tmp_path / "site" / "reference" / "options.html").read_text()
    for word in ("--max-memory", "--sym-args", "partita replay", "--verify"):
        assert word in options
