"""Conversations as the model's template writes them: turns to tokens, replies and tool calls back to values."""
