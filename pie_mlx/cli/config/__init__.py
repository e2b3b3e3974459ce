"""`pie config`, and the active configuration that other verbs read."""
