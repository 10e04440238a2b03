"""The two kinds of trouble that are exceptions; how an analysed program ends is data, not one of these."""


class UsageError(Exception):
    """Something the caller gave is wrong: the message says what was expected, what was found and what to do."""


class InternalError(Exception):
    """Something we did is wrong: worth a bug report."""
