"""Exceptions. How an analysed program ends is data (`partita.results`), not an exception."""


class UsageError(Exception):
    """An argument, option or input file is wrong: the message says what was expected, what was found and what to do."""


class NoEntryError(UsageError):
    """The program does not define the function that exploration starts from."""


class UndecidedError(Exception):
    """A solver could not decide a value: the message gives the reason (a timeout, a layer that gave up)."""


class InternalError(Exception):
    """A defect of Partita. Please report it."""
