"""mlx-lm's models over the page pool: which tier an architecture needs, and how a step is computed on it."""
