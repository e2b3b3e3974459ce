"""`pie bench`: `command` parses the command line, `measure` runs the comparison and prints it."""
