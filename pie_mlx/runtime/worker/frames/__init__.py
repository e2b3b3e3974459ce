"""Frames between the engine and a worker: their messages, and their limits before decoding.

Both ends import this room, so it imports neither.
"""
