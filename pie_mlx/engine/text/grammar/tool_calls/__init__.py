"""Grammars of tool calls in the format of the model."""
