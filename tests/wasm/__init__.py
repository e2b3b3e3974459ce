"""Tests of WebAssembly components."""
