"""Measures this engine beside what people use otherwise, on the machine it is on: what `pie bench` runs.

Every comparison happens in one process on one model: both sides have the same weights, number format and matrix
products, and take turns. `conditions` refuses to go on when that does not hold.
"""
