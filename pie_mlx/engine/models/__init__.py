"""The models of one engine: their names, and which of them are in memory."""
