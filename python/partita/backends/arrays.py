"""Reads of arrays for back ends: what is known at constant indices is chosen from by the bits of the index.

What a read looks into is mostly a table of constants or memory written at constant places, above something unknown.
Solvers are slow on that as an array (Bitwuzla needs a minute for what a tree of `ite` over the index bits decides at
once, and Z3 instantiates axioms for every store), so such reads never become `select`s, except at indices that
nothing is known of. A read of several elements chooses among words. An index known to be a narrower word with zeros
above, or to be a multiple of a power of two, makes the tree that much smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.backends.translate import Terms

Term = Any
SPARSE = 4
"""A tree is worth it if at least one in so many of its leaves is known; otherwise indices are compared one by one."""


Known = dict[int, tuple[bool, int]]
"""What is known at an index: (True, a constant's value) or (False, the number of the element's node)."""


def read(terms: Terms, array: int, index: int, count: int) -> Term:
    """`count` adjacent elements from `index` on as one word, the first one lowest."""
    known, bottom = look_into(terms, array)
    whole, size = terms.terms[index], 1 << terms.index_widths[array]
    if index in terms.narrow:
        index = terms.narrow[index]
    at, width, zeros = terms.terms[index], terms.widths[index], trailing_zeros(terms, index)
    # Every index at which any part of the word is known.
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
    if len(leaves) * SPARSE >= 1 << (bits - zeros):
        return tree(terms, leaves, rest, at, width, zeros, bits)
    for i, (_, word) in sorted(leaves.items()):
        rest = functions["ite"](functions["="](at, constant(i, width)), word, rest)
    return rest


def look_into(terms: Terms, array: int) -> tuple[Known, int]:
    """What is known at constant indices, and the array below, which answers all others. A store at an unknown index
    hides what is below it, and is such an array itself."""
    known: Known = {}
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


def word_at(terms: Terms, known: Known, bottom: int, index: int, count: int) -> tuple[object, Term]:
    """The word of `count` elements at a constant index, and what tells it from others."""
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
    """How many low bits are known to be zero."""
    if index in terms.concats:
        low = terms.concats[index][1]
        if terms.constants.get(low) == 0:
            return terms.widths[low]
    return 0


def tree(
    terms: Terms, leaves: dict[int, tuple[object, Term]], rest: Term, at: Term, width: int, zeros: int, bits: int
) -> Term:
    """A choice by bits `zeros` to `bits` of the index, equal halves made once; `rest` for everything else."""
    functions, constant = terms.builder.functions, terms.builder.constant
    # Subtrees are numbered as they are made, so that equal ones are found without comparing terms.
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
