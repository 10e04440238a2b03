"""Runs a script and proves what is answered `unsat`."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from partita import _core
from partita.errors import UsageError
from partita.proof import file
from partita.proof.file import Refuted
from partita.proof.script import NoProofError, Problem, Script, commands
from partita.proof.search import SatisfiableError, prove

GZIP_MAGIC = b"\x1f\x8b"
MISSING, WRONG = 3, 4


def read_script(path: str) -> str:
    """The text of a script; each byte is a character, since only ASCII has a meaning in it."""
    try:
        data = Path(path).read_bytes()
        return (gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data).decode("latin-1")
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


class Prover:
    """Gives the commands of a script to the solver one by one, and proves each `unsat`."""

    def __init__(self, script: _core.Script, text: str, timeout: float | None) -> None:
        self.status = 0
        self._script = script
        self._text = text
        self._timeout = timeout
        self._plain = Script()
        self._unsupported: str | None = None
        self._refuted: list[Refuted] = []

    def run(self, write: Callable[[str], object], is_over: Callable[[], bool]) -> None:
        start = 0
        for end, command in self._commands():
            if self._script.exited() or is_over():
                return
            answers: list[str] = []

            def note(text: str, answers: list[str] = answers) -> None:
                answers.append(text)
                write(text)

            self._script.run(self._text[start:end].encode("latin-1"), False, note)
            start = end
            self._follow(command, "".join(answers).strip())
        if not self._script.exited() and not is_over():
            self._script.run(self._text[start:].encode("latin-1"), True, write)

    def _commands(self) -> Iterator[tuple[int, object]]:
        try:
            yield from commands(self._text)
        except NoProofError as error:
            self._unsupported = self._unsupported or str(error)

    def _follow(self, command: object, answer: str) -> None:
        problem = None
        if self._unsupported is None:
            try:
                problem = self._plain.execute(command)
            except (NoProofError, IndexError, TypeError, ValueError) as error:
                self._unsupported = str(error)
        if answer == "unsat" and isinstance(command, tuple) and str(command[0]).startswith("check-sat"):
            self._prove(problem)

    def _prove(self, problem: Problem | None) -> None:
        where = "" if problem is None else f"check {problem.number}: "
        try:
            if problem is None:
                raise NoProofError(self._unsupported)
            self._refuted.append(prove(problem, self._timeout))
        except SatisfiableError:
            self._fail(WRONG, f"{where}unsat is wrong: the plain translation has a model")
        except TimeoutError as error:
            self._fail(MISSING, f"{where}no proof: {error}")
        except (NoProofError, IndexError, KeyError, TypeError, ValueError) as error:
            self._fail(MISSING, f"{where}no proof: the plain translation does not support: {error}")

    def _fail(self, status: int, message: str) -> None:
        self.status = max(self.status, status)
        print(f"partita: error: {message}", file=sys.stderr, flush=True)

    def write(self, path: Path) -> None:
        """Writes the proofs; without any, there is no file."""
        path.unlink(missing_ok=True)
        if self._refuted:
            file.write(path, self._text, self._refuted)
        elif not self.status:
            print(f"partita: warning: nothing was answered unsat, so {path} is not written", file=sys.stderr)
