"""The wheel in an environment with only its declared dependencies, without Rust or a compiler on PATH."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from partita import _core
from support import PATIENCE_S, REPOSITORY

PROFILES = {"quick": "quick", "release": "release"} if _core.BUILD_PROFILE == "release" else {"debug": "dev"}
"""Cargo profiles of the installed extension, by folder."""


def wheel(folder: Path) -> Path:
    """Builds a wheel of the installed extension. Quick where `make` has built it; elsewhere it takes minutes."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    sources = [path for part in ("core/src", "bindings/src") for path in (REPOSITORY / part).rglob("*.rs")]
    newest = max(path.stat().st_mtime for path in sources)
    libraries = [REPOSITORY / target / name / "lib_core.so" for name in PROFILES]
    current = [path for path in libraries if path.exists() and path.stat().st_mtime >= newest]
    if not current:
        pytest.skip(f"no extension of these sources in {libraries[0].parent}: run make test, which builds it there")
    profile = PROFILES[current[0].parent.name]
    command = [str(Path(sys.executable).with_name("maturin")), "build", "--locked", "--offline", "--out", str(folder)]
    # With the value that the Makefile sets, or everything would be rebuilt.
    environment = {name: value for name, value in os.environ.items() if name != "PARTITA_COMMIT"}
    if _core.BUILD_COMMIT is not None:
        environment["PARTITA_COMMIT"] = _core.BUILD_COMMIT
    command += ["--profile", profile]
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, capture_output=True, timeout=PATIENCE_S)
    (built,) = folder.glob("partita-*.whl")
    return built


def needed(package: str, extra: str = "") -> set[str]:
    """Returns the names of all packages that a package with an extra depends on, transitively."""
    found: set[str] = set()
    left = [(package, extra)]
    while left:
        name, chosen = left.pop()
        for row in metadata.requires(name) or []:
            requirement, _, marker = row.partition(";")
            of = re.search(r"extra == ['\"](\w+)['\"]", marker)
            if of[1] != chosen if of else marker:
                continue  # another extra, system or version of Python
            other, more = re.match(r"([\w.-]+)(?:\[(\w+)\])?", requirement.strip()).groups("")
            if other == package or other not in found:
                left.append((other, more))
                found.add(other)
    return found - {package}


def link(packages: set[str], site: Path) -> None:
    """Links packages of this environment into another one."""
    for name in packages:
        files = metadata.files(name) or []
        tops = {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            place = Path(str(metadata.distribution(name).locate_file(top)))
            if not (site / top).exists():
                (site / top).symlink_to(place)


def test_wheel_in_a_minimal_environment(tmp_path: Path, cache: Path) -> None:
    built = wheel(tmp_path / "dist")
    environment = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=PATIENCE_S)
    python = environment / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*install, "--disable-pip-version-check", str(built)], check=True, timeout=PATIENCE_S)
    site = next((environment / "lib").glob("python3*")) / "site-packages"
    link(needed("partita"), site)
    (tmp_path / "bin").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    variables = {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "ZIG_GLOBAL_CACHE_DIR": os.environ["ZIG_GLOBAL_CACHE_DIR"],
    }

    def partita(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(environment / "bin" / "partita"), *words]
        return subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=PATIENCE_S)

    version = partita("--version")
    assert str(site / "partita") in version.stdout, version.stderr
    example = str(REPOSITORY / "examples" / "rle.c")
    run = partita("run", example)
    assert run.returncode == 1, run.stderr
    assert "out-of-bounds-write" in run.stdout
    assert partita("replay", example, "partita-last", "--quiet").returncode == 0
    assert partita("report", "partita-last").stdout == "report in partita-last/report.html\n"
    page = (home / "partita-last" / "report.html").read_text()
    for name in ("style.css", "page.js", "tree.js"):
        assert (REPOSITORY / "python" / "partita" / "reports" / "html" / name).read_text() in page
    for form in ("junit", "seeds", "ctest", "pytest"):
        assert partita("export", "partita-last", "--format", form).returncode == 0
    assert "complete -o filenames -F _partita partita" in partita("completion", "bash").stdout
    # Experiments are not part of the wheel; the command says where they are.
    assert "python -m experiments --list" in partita("bench").stdout
    refused = partita("bench", "foo", "--quick")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "nothing was run. Experiments and benchmarks are part of Partita's repository" in refused.stderr
    assert not (site / "partita" / "bench").exists()
    assert not (site / "experiments").exists()
