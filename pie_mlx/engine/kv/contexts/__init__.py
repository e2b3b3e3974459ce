"""What each context holds, and how it leaves the pool, returns, and undoes a failed pass. Contexts build on pages,
never the reverse."""
