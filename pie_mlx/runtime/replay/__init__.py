"""Runs programs against a recording instead of an engine: without model, tools and clients, and without waiting."""
