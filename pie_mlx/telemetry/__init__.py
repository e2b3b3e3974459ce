"""OpenTelemetry: spans of programs, requests, replies and tools, by the conventions for generative AI.

`spans` makes them of events, and `exporting`, the only module that knows the SDK, sends them.
"""
