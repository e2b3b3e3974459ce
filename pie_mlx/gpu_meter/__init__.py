"""How busy the Apple GPU is, its power and its temperature, from macOS, without special rights.

`counters` runs in a child process, because it calls private libraries; `reading` makes sense of what it reads; `meter`
asks the child.
"""
