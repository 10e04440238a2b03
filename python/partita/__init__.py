"""A symbolic execution engine for C, and a fast bit-vector solver built for it."""
