"""Draft heads: layers that a model was trained with to guess the tokens after the next one, which mlx-lm leaves out."""
