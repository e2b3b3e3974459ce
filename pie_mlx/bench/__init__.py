"""Compares this engine with its alternatives on this machine: the work of `pie bench`.

Every comparison happens in one process on one model: both sides have the same weights, number format and matrix
products, and take turns. `conditions` refuses anything else.
"""
