"""The monitor: a client that shows what an engine does, and steers it. It decides nothing."""
