"""Frames between the engine and a worker: what they say, and how much one may hold before it is decoded.

Both ends import this room, so it knows neither of them.
"""
