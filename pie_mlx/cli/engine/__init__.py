"""How a verb reaches a running engine, or describes the one that it starts."""
