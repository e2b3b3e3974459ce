"""Commands of the user's own, bound to keys."""
