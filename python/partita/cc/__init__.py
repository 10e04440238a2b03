"""`partita cc`: a compiler for `CC=` that compiles natively and keeps bitcode in every object.

The native part is the pinned clang and musl of `frontends/c.py`, called as the user calls it; what it prints and its
exit status are passed on as they are. Beside it the same source is compiled to bitcode as `partita run prog.c` would,
and put into the object (`frontends/kept.py`). A start of this module stands before every file a project compiles and
every check of its configure script: imports are few and late.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from partita.cc.arguments import Kind, parse
from partita.errors import UsageError

_TOOLS = ("ar", "ranlib")


def main(words: Sequence[str]) -> int:
    """`words` is `cc`, `ar` or `ranlib`, and what follows it."""
    try:
        return _main(words)
    except UsageError as error:
        print(f"partita {words[0]}: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _main(words: Sequence[str]) -> int:
    from partita.toolchain import zig_dir

    zig = str(zig_dir() / "zig")
    tool, *arguments = words
    if tool in _TOOLS:
        os.execv(zig, [zig, tool, *arguments])
    line = parse(arguments)
    for item in line.sources:
        if item.language == "Fortran":
            raise UsageError(
                f"{item.words[0]}: clang does not compile Fortran: make an object of it with another compiler,"
                " and link that"
            )
    from partita.cc import compile

    if line.other:
        os.execv(zig, compile.native_command(line.words))
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
