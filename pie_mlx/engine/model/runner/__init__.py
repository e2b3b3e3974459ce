"""Runs batches on the device thread: a batch becomes a step, its logits become tokens and scores.

Read `runner.py` first, which hands batches to the `device_thread.py`; `batch.py` has what goes in and comes out, and
`pipeline.py` the steps in flight. `sampling.py` turns the logits of a step into results: `drawing.py` draws at random
with numbers of `randomness.py`, `penalties.py` changes logits before, `probing.py` reads them, `gang_rows.py` joins
contexts. `token_watch.py` and `hidden_trail.py` keep by-products for monitors and draft heads. `warm_up.py` compiles
all of it at the start.
"""
