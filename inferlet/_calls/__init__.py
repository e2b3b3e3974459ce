"""Calls to the host, and the checks of what programs pass. The rest of the SDK builds on it."""
