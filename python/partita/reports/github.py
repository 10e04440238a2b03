"""Bugs as annotations of a build: lines that GitHub Actions shows beside the source of a change."""

from __future__ import annotations

import os
from pathlib import Path

from partita.findings import project_root, relative
from partita.results import Bug

MAX_LINES = 20


def wanted(choice: str) -> bool:
    """Are annotations to be printed? `auto`: where GitHub Actions runs the command."""
    return choice == "github" or (choice == "auto" and os.environ.get("GITHUB_ACTIONS") == "true")


def line(bug: Bug, details: list[str]) -> str:
    """A bug as a command of a workflow. `details` are the inputs that lead there."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    root = Path(workspace).resolve() if workspace else project_root(Path.cwd())
    place = [f"file={_property(relative(bug.file, root))}", f"line={bug.line}"] if bug.line else []
    fields = ",".join([*place, f"title={_property(f'partita: {bug.class_}')}"])
    return f"::error {fields}::{_data(chr(10).join([bug.message, *details[:MAX_LINES]]))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
