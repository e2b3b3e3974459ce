"""The link, against the engine's own codec and frames."""
