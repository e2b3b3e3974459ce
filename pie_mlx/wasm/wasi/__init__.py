"""The part of WASI 0.2 that components import, on the program's own loop, files and proxy."""
