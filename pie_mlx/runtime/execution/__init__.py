"""Running one program: from an entry and an input to an outcome, and the events on the way.

Knows the SDK, never the engine: the host it is given answers the program's calls.
"""
