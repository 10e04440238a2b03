"""Experiments: what they measure, on what, and how that is set up."""
