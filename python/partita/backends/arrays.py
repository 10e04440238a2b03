"""Reads of arrays for back ends: elements known at constant indices become a tree of `ite` over the index bits.

Most arrays are a table of constants, or memory written at constant indices over an unknown base. Solvers are slow on
these as arrays: Bitwuzla needs a minute for queries that it decides at once with the tree, and Z3 instantiates axioms
for every store. `select` is used only for indices without a known element. A read of several elements chooses among
words. The tree is smaller if the index is a zero-extended word or a multiple of a power of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.backends.translate import Terms

Term = Any
MAX_TREE_SPARSITY = 4
"""Largest number of leaves of a tree per known element. Above it, indices are compared one by one."""


KnownElements = dict[int, tuple[bool, int]]
"""Known elements by index: (True, value of a constant) or (False, number of the element's node)."""


def read(terms: Terms, array: int, index: int, count: int) -> Term:
    """`count` adjacent elements from `index` as one word, the first in the low bits."""
    known, bottom = known_elements(terms, array)
    whole, size = terms.terms[index], 1 << terms.index_widths[array]
    if index in terms.narrow:
        index = terms.narrow[index]
    at, width, zeros = terms.terms[index], terms.widths[index], trailing_zeros(terms, index)
    # Indices at which some part of the word is known.
    places = {(i - k) % size for i in known for k in range(count)}
    places = {i for i in places if i < 1 << width and i % (1 << zeros) == 0}
    leaves = {i: word_at(terms, known, bottom, i, count) for i in places}
    functions, constant = terms.builder.functions, terms.builder.constant
    rest = None
    if len(leaves) << zeros < 1 << width:
        rest = functions["select"](terms.term(bottom), whole)
        for k in range(1, count):
            next_index = functions["bvadd"](whole, constant(k % size, terms.index_widths[array]))
            rest = functions["concat"](functions["select"](terms.term(bottom), next_index), rest)
    if not leaves:
        return rest
    bits = max(max(leaves).bit_length(), zeros)
    if len(leaves) * MAX_TREE_SPARSITY >= 1 << (bits - zeros):
        return tree(terms, leaves, rest, at, width, zeros, bits)
    for i, (_, word) in sorted(leaves.items()):
        rest = functions["ite"](functions["="](at, constant(i, width)), word, rest)
    return rest


def known_elements(terms: Terms, array: int) -> tuple[KnownElements, int]:
    """The elements known at constant indices, and the base array for all other indices. A store at an index that is not
    constant ends the search: it is the base array."""
    known: KnownElements = {}
    while True:
        if array in terms.tables:
            array, elements = terms.tables[array]
            for i, value in enumerate(elements):
                known.setdefault(i, (True, value))
        elif array in terms.stores and terms.stores[array][1] in terms.constants:
            array, index, element = terms.stores[array]
            constant = terms.constants.get(element)
            known.setdefault(terms.constants[index], (False, element) if constant is None else (True, constant))
        else:
            return known, array


def word_at(terms: Terms, known: KnownElements, bottom: int, index: int, count: int) -> tuple[object, Term]:
    """The word of `count` elements at a constant index, and a key that identifies it."""
    functions, constant = terms.builder.functions, terms.builder.constant
    width, index_width = terms.widths[bottom], terms.index_widths[bottom]
    places = [(index + k) % (1 << index_width) for k in range(count)]
    parts = [known.get(place) for place in places]
    if all(part is not None and part[0] for part in parts):
        value = sum(part[1] << k * width for k, part in enumerate(parts) if part is not None)
        return value, constant(value, width * count)
    word = None
    for place, part in zip(places, parts, strict=True):
        if part is None:
            piece = functions["select"](terms.term(bottom), constant(place, index_width))
        else:
            piece = constant(part[1], width) if part[0] else terms.terms[part[1]]
        word = piece if word is None else functions["concat"](piece, word)
    return (index, "partly") if None in parts else tuple(parts), word


def trailing_zeros(terms: Terms, index: int) -> int:
    """Number of low bits that are known to be zero."""
    if index in terms.concats:
        low = terms.concats[index][1]
        if terms.constants.get(low) == 0:
            return terms.widths[low]
    return 0


def tree(
    terms: Terms, leaves: dict[int, tuple[object, Term]], rest: Term, at: Term, width: int, zeros: int, bits: int
) -> Term:
    """A choice by bits `zeros` to `bits` of the index, without duplicate subtrees; `rest` for all other indices."""
    functions, constant = terms.builder.functions, terms.builder.constant
    # Subtrees are numbered, so that equal ones are found without comparing terms.
    made: list[Term] = [rest]
    numbers: dict[object, int] = {}
    level = []
    for i in range(0, 1 << bits, 1 << zeros):
        leaf = leaves.get(i)
        if leaf is None:
            level.append(0)
            continue
        key, word = leaf
        if key not in numbers:
            numbers[key] = len(made)
            made.append(word)
        level.append(numbers[key])
    for bit in range(zeros, bits):
        chosen = functions["="](functions["extract"](bit, bit, at), constant(1, 1))
        halves = []
        for low, high in zip(level[::2], level[1::2], strict=True):
            node = (bit, low, high, "node")
            if low != high and node not in numbers:
                numbers[node] = len(made)
                made.append(functions["ite"](chosen, made[high], made[low]))
            halves.append(low if low == high else numbers[node])
        level = halves
    result = made[level[0]]
    if width > bits:
        inside = functions["="](functions["extract"](width - 1, bits, at), constant(0, width - bits))
        result = functions["ite"](inside, result, rest)
    return result
