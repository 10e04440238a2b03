"""Writes the certificate of a complete run (docs/certificates.md). `partita.check` reads it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita import _core


class Certificate:
    """Contents of a certificate without the decisions of the run."""

    def __init__(
        self,
        path: Path,
        parts: Sequence[bytes],
        arguments: Sequence[str],
        environment: Mapping[str, str],
        checks: Sequence[str],
        float_cast: bool,
    ) -> None:
        self.path = path
        self.is_possible = True
        self.parts = parts
        self.arguments = list(arguments)
        self.environment = [f"{name}={value}" for name, value in environment.items()]
        self.options = {"checks": list(checks), "float_cast": float_cast}

    def doubts(self, functions: Collection[str], libc_why: str) -> list[str]:
        """Warnings about the certificate of a program with these functions, for the start of a long run."""
        if "__partita_clone" in functions:
            self.is_possible = False
            return [f"no certificate in `{self.path}`: the checker does not follow threads"]
        if "__partita_setting" in functions:
            why = f"the program is linked with musl and the kernel model ({libc_why})"
            return [f"`partita check` cannot follow the certificate of this run: {why}"]
        return []

    def text(self, decisions: dict[str, Any]) -> str:
        """The file. `decisions` are those that the executor recorded."""
        from partita.check.certificate import SCHEMA, digest, pack

        leaves = []
        for side, step, ending, inputs in decisions["leaves"]:
            leaves.append([side, step, ending, [[name, variable, data.hex()] for name, variable, data in inputs]])
        body = {
            "schema": SCHEMA,
            "version": _core.__version__,
            "parts": [pack(part) for part in self.parts],
            "arguments": self.arguments,
            "environment": self.environment,
            "options": self.options,
            **decisions,
            "leaves": leaves,
        }
        # Tuples become lists, as the checksum is that of what is read again.
        body = json.loads(json.dumps(body))
        return json.dumps({**body, "sha256": digest(body)}) + "\n"
