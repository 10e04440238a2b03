"""The output of `partita --version`: the version and the parts of this installation, for bug reports."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Sequence
from typing import Any

SOLVERS = ("z3-solver", "bitwuzla", "cvc5")


class Version(argparse.Action):
    """Prints the version and exits."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        _values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        print(version_text())
        parser.exit()


def version_line() -> str:
    from partita import __version__

    return f"partita version {__version__}"


def version_text() -> str:
    solvers = [f"{name} {version}" for name in SOLVERS if (version := installed(name))]
    rows = {
        "build": build(),
        "extension": extension(),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "machine": f"{platform.system()} {platform.release()} {platform.machine()}",
        "compiler": f"ziglang {installed('ziglang') or 'missing'}",
        "bitcode": f"llvmlite {installed('llvmlite') or 'missing'}",
        "solvers": ", ".join(["our own", *solvers]),
    }
    return "\n".join([version_line(), *(f"{name:<11}{value}" for name, value in rows.items())])


def installed(package: str) -> str | None:
    from importlib import metadata  # 50 ms, and every command imports this module

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def extension() -> str:
    """The file of the extension module; its name has the Python ABI."""
    from partita import _core

    return str(_core.__file__)


def build() -> str:
    """Profile and commit of the build."""
    from partita import _core

    commit = f"commit {_core.BUILD_COMMIT}" if _core.BUILD_COMMIT else "commit unknown"
    return f"{_core.BUILD_PROFILE}, {commit}, stable ABI of Python 3.10"
