"""Finds mistakes in the sources of a program, each with its line, without executing it.

`source_reader` runs these checks in a process of limited memory and time; `program.source_reading` starts it.
"""
