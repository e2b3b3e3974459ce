"""Finds a model directory, checks its files before any library reads them, and loads it."""
