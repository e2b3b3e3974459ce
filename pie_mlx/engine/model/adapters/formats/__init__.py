"""Formats of adapter files: each yields pairs of matrices by projection and knows no model."""
