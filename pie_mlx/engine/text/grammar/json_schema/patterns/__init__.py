"""Patterns as languages: sets of texts that can be intersected, complemented and written as a pattern again."""
