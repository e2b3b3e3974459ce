"""The engine's events for monitors: the numbered feed, and the totals and history that a late watcher needs."""
