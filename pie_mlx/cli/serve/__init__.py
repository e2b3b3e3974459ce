"""`pie serve`: `command` parses the command line, `server` runs the engine until a signal."""
