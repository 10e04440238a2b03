"""Places of arguments in the System V x86-64 calling convention. `va_start` and clang's expansion of `va_arg` must
agree on them; nothing else depends on them.

A place is an offset in one frame: six general registers (8 bytes each), eight vector registers (16 each), the stack.
"""

from __future__ import annotations

from partita.llvm.types import Type

_GENERAL, _VECTOR, STACK = 0, 48, 176


class CallingConvention:
    """Assigns places, one argument after the other."""

    def __init__(self) -> None:
        self.general = _GENERAL
        self.vector = _VECTOR
        self.stack = STACK

    def assign(self, type_: Type, by_value: Type | None, align: int) -> list[int]:
        """The places of the leaves of the next argument. A structure passed by value has one place."""
        if by_value is not None:
            return [self._on_stack(by_value.size, align)]
        if type_.kind == "vector":
            start = self._in_vector(type_.size, type_.align)
            return [start + offset for offset, _ in type_.leaves]
        return [self._scalar(leaf) for _, leaf in type_.leaves]

    def _scalar(self, type_: Type) -> int:
        if type_.name == "x86_fp80":
            return self._on_stack(16, 16)
        if type_.kind == "float":
            return self._in_vector(type_.size, type_.align)
        size = (type_.size + 7) // 8 * 8
        if self.general + size > _VECTOR:
            return self._on_stack(size, type_.align)
        self.general += size
        return self.general - size

    def _in_vector(self, size: int, align: int) -> int:
        if size > 16 or self.vector + 16 > STACK:
            return self._on_stack(size, align)
        self.vector += 16
        return self.vector - 16

    def _on_stack(self, size: int, align: int) -> int:
        align = max(align, 8)
        place = STACK + (self.stack - STACK + align - 1) // align * align
        self.stack = place + (size + 7) // 8 * 8
        return place
