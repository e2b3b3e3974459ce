"""Recordings: everything that crossed between programs and an engine, in a file, as `pie replay` reads it."""
