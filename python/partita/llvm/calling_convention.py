"""Places of arguments in the System V calling conventions of x86-64 and of 32-bit x86. `va_start` and clang's
expansion of `va_arg` must agree on them; nothing else depends on them.

A place is an offset in one frame: six general registers (8 bytes each), eight vector registers (16 each), the stack.
On 32-bit x86 all arguments are on the stack, one after the other.
"""

from __future__ import annotations

from partita.llvm.types import Type

_GENERAL, _VECTOR, STACK = 0, 48, 176


class CallingConvention:
    """Assigns places, one argument after the other."""

    def __init__(self, *, narrow: bool = False) -> None:
        self._word = 4 if narrow else 8
        self._start = 0 if narrow else STACK
        self.general = _VECTOR if narrow else _GENERAL
        self.vector = STACK if narrow else _VECTOR
        self.stack = self._start

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
            return self._on_stack(type_.size, type_.align)
        if type_.kind == "float":
            return self._in_vector(type_.size, type_.align)
        size = (type_.size + self._word - 1) // self._word * self._word
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
        # On 32-bit x86 only vectors have more than the alignment of a word.
        align = max(align, self._word) if self._word == 8 or (size >= 16 and align == size) else self._word
        place = self._start + (self.stack - self._start + align - 1) // align * align
        self.stack = place + (size + self._word - 1) // self._word * self._word
        return place
