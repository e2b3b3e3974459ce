"""One tick after the other: what waits, what is planned, what is in flight, what is committed."""
