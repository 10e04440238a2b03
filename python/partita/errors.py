"""The kinds of trouble that are exceptions; how an analysed program ends is data, not one of these."""


class UsageError(Exception):
    """Something the caller gave is wrong: the message says what was expected, what was found and what to do."""


class UndecidedError(Exception):
    """A solver was asked for a value and could not decide: the message says why (a timeout, a layer that gave up)."""


class InternalError(Exception):
    """Something we did is wrong: worth a bug report."""
