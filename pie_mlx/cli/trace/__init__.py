"""`pie trace`: where the time of a program went."""
