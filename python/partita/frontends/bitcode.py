"""Bitcode and LLVM text to one module: reads, links, removes code that `main` does not reach, promotes to registers.

This is the only file that uses llvmlite. It imports it late: a cached program does not need it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast

from partita.errors import NoEntryError, UsageError
from partita.llvm.promotion import calls_setjmp, mark_unwritten, pin, unpin, with_volatile_accesses, without_marks
from partita.llvm.symbolic_bools import makes_symbolic, with_bool_assumptions
from partita.llvm.target import check_target, is_narrow_target
from partita.toolchain import package_dir

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_SERVER = "from partita.frontends.bitcode import _serve; _serve()"
_DONE, _REFUSED = b"text", b"refused"
# Functions that a library calls: a program's own definition of them must stay visible.
_PRESERVED = frozenset("malloc calloc realloc free memalign aligned_alloc posix_memalign reallocarray".split())


def is_bitcode(data: bytes) -> bool:
    return data.startswith(_BITCODE)


def guarded_module_text(
    inputs: Sequence[tuple[str, bytes]],
    *,
    entry: str | None = "main",
    keep: Sequence[str] = (),
    optimize: bool = False,
    in_memory: bool = False,
) -> str:
    """`module_text` of files of unknown origin, in a separate process: LLVM ends its process on some of them."""
    import pickle
    import subprocess

    request = pickle.dumps((list(inputs), entry, list(keep), optimize, in_memory))
    done = subprocess.run([sys.executable, "-c", _SERVER], input=request, capture_output=True, check=False)
    head, _, rest = done.stdout.partition(b"\n")
    if head == _DONE:
        return rest.decode()
    if head == _REFUSED:
        raise UsageError(rest.decode())
    messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
    why = messages[-1].rpartition(": ")[2] if messages else f"status {done.returncode}"
    names = ", ".join(f"`{name}`" for name, _ in inputs)
    which = names if len(inputs) == 1 else f"one of {names}"
    raise UsageError(f"{which} is damaged: LLVM aborts while reading it ({why}); compile it again")


def _serve() -> None:
    """Answers the request of `guarded_module_text`."""
    import pickle

    inputs, entry, keep, optimize, in_memory = pickle.load(sys.stdin.buffer)
    try:
        head, text = _DONE, module_text(inputs, entry=entry, keep=keep, optimize=optimize, in_memory=in_memory)
    except UsageError as error:
        head, text = _REFUSED, str(error)
    sys.stdout.buffer.write(head + b"\n" + text.encode())


def module_text(
    inputs: Sequence[tuple[str, bytes]],
    *,
    entry: str | None = "main",
    keep: Sequence[str] = (),
    optimize: bool = False,
    in_memory: bool = False,
) -> str:
    """The text of all inputs (name and contents) linked into one module.

    Only definitions that `entry` or a function in `keep` reaches are kept; without an entry all are, as for a library.
    With `in_memory` no local variable becomes a register, which has no record of its unwritten bytes.
    """
    llvm = _llvm()
    whole = _link(llvm, inputs)
    if entry is not None:
        _internalize(whole, entry, keep)
    whole = _run_passes(llvm, whole, dead_code=entry is not None, optimize=optimize, in_memory=in_memory)
    return without_marks(str(whole))


def linked_text(inputs: Sequence[tuple[str, bytes]]) -> str:
    """The text of all inputs linked into one module, otherwise unchanged."""
    return str(_link(_llvm(), inputs))


def joined_bitcode(inputs: Sequence[tuple[str, bytes]]) -> bytes:
    """All inputs linked into one module, otherwise unchanged."""
    return cast(bytes, _link(_llvm(), inputs).as_bitcode())


def bitcode_of(text: str) -> bytes:
    """The bitcode of a module's text."""
    return cast(bytes, _read(_llvm(), "module", text.encode()).as_bitcode())


def object_code(text: str) -> bytes:
    """The machine code of a module as an object file."""
    llvm = _llvm()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    module = _read(llvm, "module", text.encode())
    machine = llvm.Target.from_triple(module.triple).create_target_machine(opt=0, reloc="pic")
    return cast(bytes, machine.emit_object(module))


def _link(llvm: ModuleType, inputs: Sequence[tuple[str, bytes]]) -> Any:
    modules = [(name, _read(llvm, name, data)) for name, data in inputs]
    if not modules:
        raise UsageError("expected at least one program file, found none")
    first, whole = modules[0]
    for name, module in modules[1:]:
        widths = [32 if is_narrow_target(each.triple) else 64 for each in (whole, module)]
        if widths[0] != widths[1]:
            raise UsageError(f"`{name}` is code of {widths[1]} bits, and `{first}` of {widths[0]}: compile both alike")
    for name, module in modules[1:]:
        try:
            whole.link_in(module)
        except RuntimeError as error:
            raise UsageError(f"`{name}` cannot be linked with the files before it: {_first_line(error)}") from None
    return whole


@functools.cache
def _llvm() -> ModuleType:
    package_dir("llvmlite")
    from llvmlite import binding

    binding.initialize_native_target()
    return cast(ModuleType, binding)


def _read(llvm: ModuleType, name: str, data: bytes) -> Any:
    version = ".".join(str(part) for part in llvm.llvm_version_info)
    try:
        module = llvm.parse_bitcode(data) if is_bitcode(data) else llvm.parse_assembly(_text(name, data))
        module.verify()
    except RuntimeError as error:
        what = "bitcode" if is_bitcode(data) else "LLVM text"
        raise UsageError(
            f"`{name}` is not {what} that LLVM {version} reads; is it truncated, or written by a newer LLVM?"
            f" ({_first_line(error)})"
        ) from None
    check_target(module.triple)  # LLVM's passes for another target end the process
    return module


def target_of(name: str, data: bytes) -> str:
    """The target of a module."""
    return cast(str, _read(_llvm(), name, data).triple)


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(
            f"expected LLVM bitcode or text in `{name}`, found neither: compile with `-emit-llvm`"
        ) from None


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if len(lines) == 1 or not lines else " ".join(lines[:2])


def defined_functions(inputs: Sequence[tuple[str, bytes]]) -> list[str]:
    """Names of the functions that the inputs define: those that other files can call first, then static ones."""
    llvm = _llvm()
    modules = [_read(llvm, name, data) for name, data in inputs]
    found = [symbol for module in modules for symbol in module.functions if not symbol.is_declaration]
    return [symbol.name for symbol in sorted(found, key=lambda symbol: symbol.linkage.name in ("internal", "private"))]


def declared_names(bitcode: bytes) -> list[str]:
    """Names of the functions and variables that a module uses and does not define."""
    module = _read(_llvm(), "module", bitcode)
    symbols = [*module.functions, *module.global_variables]
    return [symbol.name for symbol in symbols if symbol.is_declaration and not symbol.name.startswith("llvm.")]


def _internalize(module: Any, entry: str, keep: Sequence[str]) -> None:
    """Makes every definition except the entry and `keep` internal, so that unused ones can be removed."""
    found = False
    for symbol in [*module.functions, *module.global_variables]:
        if symbol.is_declaration:
            continue
        if symbol.name == entry or symbol.name in keep:
            found = found or symbol.name == entry
            symbol.linkage = "external"  # a driver calls static functions too
        elif symbol.name not in _PRESERVED and not symbol.name.startswith("llvm."):
            symbol.linkage = "internal"
    if not found:
        raise NoEntryError(f"expected a program with a function `{entry}`, found none: give the file that defines it")


def _run_passes(llvm: ModuleType, module: Any, *, dead_code: bool, optimize: bool, in_memory: bool) -> Any:
    tuning = llvm.create_pipeline_tuning_options(speed_level=2 if optimize else 0)
    tuning.loop_vectorization = False
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(_machine(module.triple), tuning)
    if dead_code:
        first = llvm.create_new_module_pass_manager()
        first.add_global_dead_code_eliminate_pass()
        first.run(module, builder)
    if makes_symbolic(frozenset(function.name for function in module.functions)):
        module = _read(llvm, "module", with_bool_assumptions(str(module)).encode())
    if in_memory:
        return module
    promotion = llvm.create_new_module_pass_manager()
    promotion.add_sroa_pass()
    if optimize:
        if calls_setjmp(text := str(module)):
            module = _read(llvm, "module", with_volatile_accesses(text).encode())
        promotion.run(module, builder)
        builder.getModulePassManager().run(module, builder)
        return module
    module = _read(llvm, "module", pin(mark_unwritten(str(module))).encode())
    promotion.run(module, builder)
    pinned = str(module)
    freed = unpin(pinned)
    if freed != pinned:
        module = _read(llvm, "module", freed.encode())
        promotion.run(module, builder)
    return module


@functools.cache
def _machine(triple: str) -> Any:
    llvm = _llvm()
    target = llvm.Target.from_triple(triple) if triple else llvm.Target.from_default_triple()
    return target.create_target_machine()
