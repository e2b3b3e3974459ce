"""`pie run`: `dispatch` chooses the engine, and `local`, `listening` or `remote` runs the program on it."""
