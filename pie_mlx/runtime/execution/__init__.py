"""Runs one program: from an entry and an input to an outcome, with its events.

Knows the SDK, never the engine: a host, passed in, answers the program's calls.
"""
