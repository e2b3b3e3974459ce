"""The monitor: a client that shows the state of an engine and sends it commands. It decides nothing itself."""
