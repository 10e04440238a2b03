"""Counts the constructs of queries that `integers:paper` answers: Figure 7 of the second paper.

Counting takes time, so a configuration of its own does it, whose time is not compared.
"""

from __future__ import annotations

from partita._core import QueryView, RestView
from partita.backends.integer_formulas import PaperTranslation
from partita.backends.integers import DEADLINE_MS, Integers
from partita.layers import Answer

INEQUALITIES = ("Ult", "Ule", "Slt", "Sle")


class Census(Integers):
    """The layer `integers:paper` with two more counters."""

    stands_for = "integers:paper"

    def __init__(self) -> None:
        super().__init__(self.stands_for, PaperTranslation, DEADLINE_MS)
        self.counters |= {"inequalities": 0, "constructs": 0}

    def check(self, query: QueryView, rest: RestView) -> Answer:
        before = self._passed()
        answer = super().check(query, rest)
        if self._passed() == before:
            for number in dict.fromkeys((query.condition, *query.constraints)):
                names = [self._nodes.nodes[at].op for at in self._nodes.postorder(number)]
                self.counters["constructs"] += len(names)
                self.counters["inequalities"] += sum(name in INEQUALITIES for name in names)
        return answer

    def _passed(self) -> float:
        return sum(count for name, count in self.counters.items() if name.startswith("passed_"))
