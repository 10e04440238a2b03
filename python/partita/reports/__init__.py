"""What a run found, for other tools: one module a format."""
