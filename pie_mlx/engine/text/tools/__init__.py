"""The native formats in which models write tool calls."""
