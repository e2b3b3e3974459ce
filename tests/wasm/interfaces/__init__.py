"""Tests of pie_mlx/wasm/interfaces."""
