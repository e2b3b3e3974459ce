"""Programs, clients and files that try to do harm, and what the engine promises under each.

Each test attacks a real `pie serve` with real processes. `programs/<language>/` holds the hostile programs; the first
line of each one's docstring is the claim that it tries to break.
"""
