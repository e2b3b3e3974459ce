"""Drafts: what probably comes next, guessed from the text or by a smaller model."""
