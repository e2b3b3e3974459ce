"""Networks that read a text at once, in both directions, and what they make of it: a vector, or a score."""
