"""Events for monitors: the numbered feed, and totals and history for late ones. Knows no connections."""
