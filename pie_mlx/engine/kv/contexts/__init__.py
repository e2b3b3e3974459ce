"""Contexts: their pages and working tokens, suspension, sharing, and how a failed pass is undone."""
