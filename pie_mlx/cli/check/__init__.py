"""`pie check`: `command` parses the command line, `findings` examines a program or a configuration."""
