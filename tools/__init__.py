"""Developer tools; nothing here ships in the wheel."""
