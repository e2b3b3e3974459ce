"""`pie top`: `command` parses the command line, `monitor` opens the source and shows it."""
