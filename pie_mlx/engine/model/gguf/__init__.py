"""GGUF files: read within bounds, and converted once to a directory that mlx-lm loads."""
