"""Programs on disk: files, manifest, parameters, input and kind of entry, all read without executing the program.

Only `modules` executes a program's code, and only when `execution` asks for it.
"""
