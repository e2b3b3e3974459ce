"""`pie mcp`: `command` parses the command line, `verbs` change the configuration and try servers."""
