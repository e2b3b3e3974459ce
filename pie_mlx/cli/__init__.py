"""The `pie` command: parse, call, print. One module per verb, imported when it is used."""
