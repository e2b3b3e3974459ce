"""`pie stop`: `command` parses the command line, `stopping` ends the engine and waits for its end."""
