"""Dynamic calls: string concatenation, lambdas and method references, methods of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.jvm.classfile import ClassFormatError, Dynamic
from partita.jvm.decode import Instruction

if TYPE_CHECKING:
    from partita.jvm.method import MethodLowering


def invoke(m: MethodLowering, i: Instruction) -> int | None:
    site = m.pool[i.args[0]] if i.args[0] < len(m.pool) else None
    if not isinstance(site, Dynamic) or site.bootstrap >= len(m.file.bootstraps):
        raise ClassFormatError(f"{m.place}: expected a dynamic call at {i.pc}, found constant {i.args[0]}")
    handle, _arguments = m.file.bootstraps[site.bootstrap]
    key = f"{handle.member.owner}.{handle.member.name}"
    m.fb.unsupported(f"a dynamic call of {key.replace('/', '.')} in {m.place}")
    return None
