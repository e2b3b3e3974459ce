"""Tests of pie_mlx/wasm/binding."""
