"""Tests of pie_mlx/wasm/wasi."""
