"""The monitor: a client that shows an engine and controls it. It decides nothing."""
