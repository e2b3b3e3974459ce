"""`uniqueItems`: a walk that remembers the items it has written and allows none of them again."""
