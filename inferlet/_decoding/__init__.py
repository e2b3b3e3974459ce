"""Tokens of a reply become text, reasoning and tool calls."""
