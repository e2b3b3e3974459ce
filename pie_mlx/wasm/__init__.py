"""Runs WebAssembly components of Pie's WIT 0.4.0, in the process of their program.

It knows the WIT, calls and the SDK, never the engine. `binding` knows wasmtime; `interfaces` and `wasi` are what
components import.
"""
