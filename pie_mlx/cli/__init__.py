"""The `pie` command: parse, call, print. One module per verb, imported when it is used.

A verb that needs more than click is a folder: `command` holds the options and is all that `--help` loads.
"""
