"""Examines this machine and the models on it, for `pie doctor` and `pie model`, without starting an engine.

`machine` gathers facts and turns failures into facts; `diagnosis` judges facts and has no effects.
"""
