"""Examines this machine for `pie doctor`, without starting an engine.

`machine` gathers facts and turns failures into facts; `diagnosis` judges facts and has no effects.
"""
