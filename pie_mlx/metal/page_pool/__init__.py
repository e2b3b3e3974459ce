"""The memory of the KV pages."""
