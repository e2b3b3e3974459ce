"""`pie build`, `install`, `list`, `show` and `remove`: programs on this disk."""
