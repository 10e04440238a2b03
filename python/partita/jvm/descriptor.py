"""Layout of class descriptors; `runtime/java/jvm.c` has the same, as a structure.

| offset | contents |
|---|---|
| 0, 4 | number of the class; bytes of an element of an array, 0 for other classes |
| 8 | descriptor of the elements of an array of references |
| 16 | the `java.lang.Class` object |
| 24, 32 | name, and class of bug of an exception that nothing catches, as texts |
| 40 | offset of the instance test of this class, 0 if there is none |
| 48 | descriptor of the superclass |
| 56, 60 | bytes of an object; `FLAG_USER`, `FLAG_INTERFACE`, `FLAG_PRIMITIVE`, `FLAG_IDENTITY` (identity hash codes) |
| 64 | of a boxed number (`Integer` and others): offsets of the value and of `partita$cached`, bytes of the value |
| 72 | name without package and outer classes, as a text |
| 80 | of an enum class: address of the function that returns its constants, or 0 |
| `SLOTS` | virtual methods (addresses of functions) and instance tests (0 or 1), 8 bytes each |
"""

from __future__ import annotations

FIXED_SIZE = SLOTS = 88
SIMPLE_NAME, ENUM_VALUES = 72, 80
FLAG_USER, FLAG_INTERFACE, FLAG_PRIMITIVE, FLAG_IDENTITY = 1, 2, 4, 8

BUG_CLASSES = {
    "java/lang/AssertionError": "assert",
    "java/lang/NullPointerException": "null",
    "java/lang/IndexOutOfBoundsException": "bounds",
    "java/lang/NegativeArraySizeException": "negative-size",
    "java/lang/ArithmeticException": "arithmetic",
    "java/lang/ClassCastException": "class-cast",
    "java/lang/NumberFormatException": "number-format",
    "java/lang/StackOverflowError": "stack-overflow",
}
"""Classes of bugs of uncaught exceptions; other exceptions are `exception`."""
