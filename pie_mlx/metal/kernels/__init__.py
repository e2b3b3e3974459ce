"""The Metal kernels: each a `.metal` file, its launcher, and the same in MLX operations."""
