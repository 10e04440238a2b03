"""The driver of a function: a C file whose `main` makes the parameters symbolic and calls it.

The driver declares the types of the parameters itself, from debug information, with the members' own names: assumptions
(`--assume "list->length <= 8"`) are C expressions over the parameters. It is compiled twice: for exploring it is linked
with the bitcode of the program, for native replay it includes the source (`PARTITA_SOURCE`), so that static
functions can be called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.entry.debug_info import Array, Function, Parameter, Pointer, Record, Scalar, Signature, Type, size_of

FUZZ_TARGET = "LLVMFuzzerTestOneInput"
FUZZ_INITIALIZER = "LLVMFuzzerInitialize"
MAX_ALIASES = 4
"""Earlier objects of the same type that a pointer may share."""
MAX_SIZED = 16
"""Most elements of an array whose number of elements may be a parameter."""
MAX_LINKS = 16
"""Pointers of an array inside an object that are filled; the others are plain bytes."""
_CHAR = Scalar("char", 1, "signed")
_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long", 16: "__int128"}


@dataclass(frozen=True)
class Bounds:
    """Limits of the inputs that a driver makes."""

    length: int = 8
    """Longest string, without the terminator."""
    elements: int = 4
    """Elements of the array that a pointer to a number leads to."""
    objects: int = 24
    sizes: tuple[int, int] = (0, 16)
    """Least and greatest size of the input of a fuzz target."""

    def sized(self, type_: Type | None) -> int:
        """Most elements of an array whose number of elements may be a parameter."""
        return max(1, min(self.length if is_character(type_) else self.elements, MAX_SIZED))


def write_fuzz_driver(has_initializer: bool, bounds: Bounds) -> str:
    """The driver of a libFuzzer target: one object per size, so that its end is checked."""
    low, high = bounds.sizes
    initializer = (
        f'  int argc = 1;\n  char *words[] = {{"fuzz", 0}}, **argv = words;\n  {FUZZ_INITIALIZER}(&argc, &argv);\n'
        if has_initializer
        else ""
    )
    declared = f"int {FUZZ_INITIALIZER}(int *argc, char ***argv);\n" if has_initializer else ""
    return f"""/* Calls a fuzz target with {low} to {high} symbolic bytes. */
#include <partita.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef PARTITA_SOURCE
#define main partita_main_of_the_program
#include PARTITA_SOURCE
#undef main
#else
int {FUZZ_TARGET}(const uint8_t *data, size_t size);
{declared}#endif

int main(void) {{
{initializer}  unsigned size = (unsigned)partita_range({low}, {high + 1}, "size");
  unsigned known = {low};
  while (known < size) known++;
  uint8_t *data = malloc(known);
  partita_make_symbolic(data, known, "data");
  {FUZZ_TARGET}(data, known);
  free(data);
  return 0;
}}
"""


def write_driver(signature: Signature, bounds: Bounds, assumptions: Sequence[str] = ()) -> str:
    """The driver of a function with any parameters."""
    return _Writer(signature, bounds).text(assumptions)


class _Writer:
    def __init__(self, signature: Signature, bounds: Bounds) -> None:
        self._signature = signature
        self._bounds = bounds
        self._records: dict[Record, str] = {}
        self._definitions: list[str] = []
        self._descriptors: dict[Type | None, str] = {}
        self._tables: list[str] = []

    def text(self, assumptions: Sequence[str]) -> str:
        function = self._signature.name
        parameters = self._signature.parameters
        # Record types first: the prototype and the tables mention them.
        types = [self._declared(each.type, "") for each in parameters]
        returned = "void" if self._signature.returns is None else self._declared(self._signature.returns, "")
        setup = []
        for parameter in parameters:
            name, type_ = parameter.name, parameter.type
            setup.append(f"  {self._declared(type_, name)};")
            setup += self._initialised(name, type_, is_sized(self._signature, parameter))
        prototype = f"{returned} (*)({', '.join(types) or 'void'}{', ...' if self._signature.variadic else ''})"
        # A parameter may have the name of the function.
        started = "partita_started" if any(each.name == function for each in parameters) else function
        call = f"(({prototype}){started})({', '.join(each.name for each in parameters)})"
        lines = [
            f"/* Starts `{function}` with symbolic parameters. */",
            "#ifdef PARTITA_SOURCE",
            "#define main partita_main_of_the_program",
            "#include PARTITA_SOURCE",
            "#undef main",
            "#else",
            f"void {function}();",
            "#endif",
            f"#define PARTITA_MAX_OBJECTS {self._bounds.objects}",
            f"#define PARTITA_MAX_ALIASES {MAX_ALIASES}",
            f"#define PARTITA_MAX_SIZED {MAX_SIZED}",
            f"#define PARTITA_MAX_SIZED_TEXT {self._bounds.sized(_CHAR)}",
            f"#define PARTITA_MAX_SIZED_RECORDS {self._bounds.sized(None)}",
            "#include <partita-entry.h>",
            "",
            *(f"{'union' if record.is_union else 'struct'} {tag};" for record, tag in self._records.items()),
            *self._definitions,
            *(f"static const struct partita_type {name};" for name in self._descriptors.values()),
            *self._tables,
            "",
            *([] if started == function else [f"static void *const {started} = (void *){function};"]),
            "int main(void) {",
            *setup,
            *(f'  partita_left_out("{what}");' for what in self._left_out()),
            "  partita_fill();",
            *(f"  __VERIFIER_assume({each});" for each in assumptions),
            f"  {call};",
            "  return 0;",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _left_out(self) -> list[str]:
        """Inputs that callers could pass and the driver does not make."""
        parameters = self._signature.parameters
        targets = list(_targets(parameters))
        sized = [each for each in parameters if is_sized(self._signature, each)]
        texts = sum(is_character(each.type.target) for each in sized if isinstance(each.type, Pointer))
        arrays = [each for each in targets if each is None or isinstance(each, Scalar | Pointer)]
        found = []
        if any(map(is_character, targets)):
            found.append(f"strings of more than {self._bounds.length} bytes (--max-length)")
        if not all(map(is_character, arrays)):
            found.append(f"arrays of more or less than {self._bounds.elements} elements (--max-elements)")
        if texts:
            found.append(
                f"arrays without a terminator of more than {self._bounds.sized(_CHAR)} elements (--max-length)"
            )
        if len(sized) > texts:
            found.append(f"arrays of more than {self._bounds.sized(None)} structures (--max-elements)")
        alone = [each for each in parameters if each not in sized]
        inside = [inner for each in targets if each is not None for _, _, inner in links(each)]
        if any(isinstance(each, Record | Array) for each in [*_behind(alone), *inside]):
            found.append("arrays of structures behind a pointer that comes without a number")
        if any(not isinstance(each, Function) for each in targets):
            found.append("pointers into the middle of objects, to other types, to more than the last objects of a type")
        if any(map(_has_pointer_in_union, [*targets, *(each.type for each in parameters)])):
            found.append("pointers inside of unions, which are filled with any bytes")
        if any(isinstance(each, Function) for each in targets):
            found.append("effects of functions that a parameter points to")
        if self._signature.variadic:
            found.append("arguments behind the last parameter")
        return found

    def _initialised(self, name: str, type_: Type, sized: bool) -> list[str]:
        """Statements that make one parameter symbolic."""
        if isinstance(type_, Pointer):
            target = self._descriptor(type_.target)
            return [f'  partita_pointer(&{name}, &{target}, "{name}", {int(sized)});']
        statements = [f'  partita_make_symbolic(&{name}, sizeof {name}, "{name}");']
        if isinstance(type_, Scalar) and type_.encoding == "boolean":
            # Any other bit pattern is undefined behaviour of the caller.
            statements.append(f"  partita_assume(*(unsigned char *)&{name} <= 1);")
        if isinstance(type_, Record):
            statements.append(f'  partita_value(&{name}, &{self._descriptor(type_)}, "{name}");')
        return statements

    def _declared(self, type_: Type, name: str) -> str:
        """A declaration in C of a name with this type; of no name, the type itself."""
        match type_:
            case Scalar(size=size, encoding=encoding):
                return f"{_scalar(type_, size, encoding)} {name}".rstrip()
            case Pointer(target=target):
                # Pointers to functions are called through their own types by the program only.
                if target is None or isinstance(target, Function | Array):
                    return f"void *{name}"
                return self._declared(target, f"*{name}") if not isinstance(target, Pointer) else f"void **{name}"
            case Array(element=element, count=count):
                return self._declared(element, f"{name}[{count}]")
            case Record():
                keyword = "union" if type_.is_union else "struct"
                return f"{keyword} {self._tag(type_)} {name}".rstrip()
            case Function():
                return f"void *{name}"

    def _tag(self, record: Record) -> str:
        """The name of a record in the driver, which defines it when it is first mentioned."""
        if record not in self._records:
            self._records[record] = f"partita_{len(self._records)}_{record.tag or 'unnamed'}"
            self._define(record)
        return self._records[record]

    def _define(self, record: Record) -> None:
        if not record.members:
            body = [f"  unsigned char bytes[{max(1, record.size)}];"]
        elif record.is_union:
            body = [f"  {self._declared(member.type, member.name or 'unnamed')};" for member in record.members]
            body.append(f"  unsigned char partita_bytes[{record.size}];")
        else:
            body, at = [], 0
            for i, member in enumerate(record.members):
                size = size_of(member.type)
                if member.offset < at or member.offset + size > record.size:
                    continue
                if member.offset > at:
                    body.append(f"  unsigned char partita_gap_{i}[{member.offset - at}];")
                if size:
                    body.append(f"  {self._declared(member.type, member.name or f'partita_unnamed_{i}')};")
                at = member.offset + size
            if at < record.size:
                body.append(f"  unsigned char partita_gap[{record.size - at}];")
        keyword = "union" if record.is_union else "struct"
        # Gaps are explicit, so that the layout is the program's whatever its attributes were.
        packed = f"__attribute__((packed, aligned({_alignment(record)})))"
        self._definitions.append("\n".join([f"{keyword} {self._records[record]} {{", *body, f"}} {packed};"]))

    def _descriptor(self, target: Type | None) -> str:
        """The name of the table that describes what a pointer leads to."""
        if target in self._descriptors:
            return self._descriptors[target]
        name = f"partita_type_{len(self._descriptors)}"
        self._descriptors[target] = name
        inside = links(target) if target is not None else []
        rows = [f'{{{offset}, "{label}", &{self._descriptor(inner)}}}' for offset, label, inner in inside]
        truths = list(_booleans(target, 0)) if target is not None else []
        parts = []
        if rows:
            self._tables.append(f"static const struct partita_link {name}_links[] = {{{', '.join(rows)}}};")
            parts += [f".links = {len(rows)}", f".link = {name}_links"]
        if truths:
            self._tables.append(f"static const size_t {name}_truths[] = {{{', '.join(map(str, truths))}}};")
            parts += [f".truths = {len(truths)}", f".truth = {name}_truths"]
        size, count, is_text = extent(target, self._bounds)
        parts += [f".size = {size}", f".count = {count}", f".is_text = {int(is_text)}"]
        parts.append(f".is_function = {int(isinstance(target, Function))}")
        self._tables.append(f"static const struct partita_type {name} = {{{', '.join(parts)}}};")
        return name


def joined(name: str, dot: str, label: str) -> str:
    """The name of a pointer inside the object `name`."""
    return name + (dot if label and not label.startswith("[") else "") + label


def is_sized(signature: Signature, parameter: Parameter) -> bool:
    """May a parameter be an array whose number of elements is another parameter: of structures, or of characters
    without a terminator?"""

    def counts(type_: Type) -> bool:
        return isinstance(type_, Scalar) and type_.encoding in ("signed", "unsigned") and type_.size >= 4

    target = parameter.type.target if isinstance(parameter.type, Pointer) else None
    may_be = is_character(target) or (isinstance(target, Record | Array) and size_of(target) > 0)
    return may_be and any(counts(each.type) for each in signature.parameters)


def _behind(parameters: Sequence[Parameter]) -> list[Type | None]:
    """The types that the pointers of these parameters lead to."""
    return [target for each in parameters for _, _, target in links(each.type)]


def _targets(parameters: Sequence[Parameter]) -> Iterator[Type | None]:
    """The types that a pointer of the input may lead to, each once."""
    seen: list[Type | None] = []
    pending = _behind(parameters)
    while pending:
        type_ = pending.pop()
        if type_ not in seen:
            seen.append(type_)
            yield type_
            pending += [] if type_ is None else [target for _, _, target in links(type_)]


def _has_pointer_in_union(type_: Type | None, inside: bool = False) -> bool:
    match type_:
        case Pointer():
            return inside
        case Array(element=element):
            return _has_pointer_in_union(element, inside)
        case Record(is_union=is_union, members=members):
            return any(_has_pointer_in_union(each.type, inside or is_union) for each in members)
        case _:
            return False


def is_character(type_: Type | None) -> bool:
    """Does a pointer to this type lead to a string?"""
    return isinstance(type_, Scalar) and type_.name in ("char", "wchar_t")


def extent(target: Type | None, bounds: Bounds) -> tuple[int, int, bool]:
    """Size of an element, number of elements, and whether they are a string, of the object behind a pointer."""
    if target is None:
        return 1, 8 * bounds.elements, False
    if isinstance(target, Scalar):
        if is_character(target):
            return target.size, bounds.length + 1, True
        return target.size, bounds.elements, False
    if isinstance(target, Pointer):
        return 8, bounds.elements, False
    return max(1, size_of(target)), 1, False


def _alignment(type_: Type) -> int:
    match type_:
        case Scalar(size=size):
            return max(1, size & -size)
        case Pointer() | Function():
            return 8
        case Array(element=element):
            return _alignment(element)
        case Record(members=members):
            aligned = [_alignment(each.type) for each in members if each.offset % _alignment(each.type) == 0]
            return max(aligned, default=1)


def _scalar(type_: Scalar, size: int, encoding: str) -> str:
    """A type of C with this size; the program's own name for it may not exist here."""
    if encoding == "float":
        return (
            {2: "_Float16", 4: "float", 8: "double", 16: "long double"}[size]
            if type_.name != "__float128"
            else ("__float128")
        )
    if encoding == "boolean" and size == 1:
        return "_Bool"
    if type_.name == "char":
        return "char"
    integer = _INTEGERS.get(size, "char")
    signed = encoding in ("signed", "enum")
    return f"{'signed' if signed else 'unsigned'} {integer}"


def links(type_: Type, prefix: str = "", at: int = 0) -> list[tuple[int, str, Type | None]]:
    """Pointers inside an object: offset, member, and type of the target. Those in unions are plain bytes."""
    if isinstance(type_, Pointer):
        return [(at, prefix, type_.target)]
    if isinstance(type_, Array):
        size = size_of(type_.element)
        parts = [(f"{prefix}[{i}]", at + i * size, type_.element) for i in range(min(type_.count, MAX_LINKS))]
    elif isinstance(type_, Record) and not type_.is_union:
        dot = f"{prefix}." if prefix else ""
        parts = [(f"{dot}{member.name}", at + member.offset, member.type) for member in type_.members]
    else:
        return []
    return [link for name, place, part in parts for link in links(part, name, place)]


def _booleans(type_: Type, at: int) -> list[int]:
    if isinstance(type_, Scalar):
        return [at] if type_.encoding == "boolean" and type_.size == 1 else []
    if isinstance(type_, Array):
        size = size_of(type_.element)
        return [each for i in range(min(type_.count, 64)) for each in _booleans(type_.element, at + i * size)]
    if isinstance(type_, Record) and not type_.is_union:
        return [each for member in type_.members for each in _booleans(member.type, at + member.offset)]
    return []
