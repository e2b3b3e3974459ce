"""The measurements of `pie bench`: this engine against mlx-lm and llguidance, on the same machine.

Every comparison runs in one process on one model: both sides have the same weights, number format and matrix products,
and take turns. `conditions` refuses a comparison where that does not hold.
"""
