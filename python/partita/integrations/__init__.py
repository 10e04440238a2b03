"""Partita as a solver for other packages, one module per package."""
