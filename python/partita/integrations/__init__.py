"""Partita as the solver of other packages, each in a module of its own that needs that package."""
