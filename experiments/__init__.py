"""Experiments of the papers and ours, and benchmarks with targets. Not part of the installed package.

python -m experiments --list
"""
