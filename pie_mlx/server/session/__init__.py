"""One websocket client: its frames in order, what it is attached to, and what waits to be written to it."""
