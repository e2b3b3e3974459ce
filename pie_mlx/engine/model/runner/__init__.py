"""Runs batches on the device thread: a batch becomes a step, its logits become tokens and scores."""
