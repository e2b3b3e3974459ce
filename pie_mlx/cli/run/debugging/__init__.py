"""`pie run --inline` and `--debug-port`: a program that stops where its author wants to look."""
