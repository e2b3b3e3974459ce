"""How calls of programs reach the engine: hosts, processes, the loop they cross to, and the time they take of it."""
