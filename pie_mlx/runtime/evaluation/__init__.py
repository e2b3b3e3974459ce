"""Scores programs over data sets: rows, checks, and what the last run had."""
