"""What `/v1` reads and writes: bodies, their fields, refusals. It generates nothing."""
