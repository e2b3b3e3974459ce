"""Texts on their way to vectors: what a model's files say about it, their tokens, and the wait for the device."""
