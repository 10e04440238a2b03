"""`partita cc`: a compiler for `CC=` that compiles natively and embeds bitcode in every object.

The native compiler is the pinned clang with musl (`toolchain.py`), called with the user's arguments; its output and
exit status are unchanged. The same source is also compiled to bitcode, as for `partita run prog.c`, and embedded in the
object (`embedded.py`). This module starts once per compiled file and per check of a configure script, so imports are
few and late.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from partita.cc.arguments import Kind, parse
from partita.errors import UsageError

_TOOLS = ("ar", "ranlib")


def main(words: Sequence[str]) -> int:
    """Runs a tool. `words` is `cc`, `c++`, `ar` or `ranlib` and its arguments."""
    try:
        return _main(words)
    except UsageError as error:
        print(f"partita {words[0]}: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _main(words: Sequence[str]) -> int:
    from partita.toolchain import is_narrow, zig_dir

    zig = str(zig_dir() / "zig")
    tool, *arguments = words
    if tool in _TOOLS:
        os.execv(zig, [zig, tool, *arguments])
    line = parse(arguments, cpp=tool == "c++")
    for item in line.sources:
        if item.language == "Fortran":
            raise UsageError(
                f"{item.words[0]}: clang does not compile Fortran: compile it to an object with another compiler,"
                " and link that"
            )
    if is_narrow(arguments):
        raise UsageError(
            "expected a 64-bit program, found `-m32`: give 32-bit sources to `partita run` with `--data-model ILP32`"
        )
    from partita.cc import compile

    if line.other_output:
        os.execv(zig, compile.native_command(line.words, cpp=any(item.language == "C++" for item in line.sources)))
    if line.compile_only:
        return compile.to_objects(line)
    if not any(item.kind is Kind.SOURCE for item in line.items):
        from partita.cc.link import link

        return link(line, {})
    import tempfile

    with tempfile.TemporaryDirectory(prefix="partita-cc-") as folder:
        status, objects = compile.to_temporary_objects(line, folder)
        if status != 0:
            return status
        from partita.cc.link import link

        return link(line, objects)
