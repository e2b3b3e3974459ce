"""Each kernel once more, in MLX operations: what tests and the self check compare it with."""
