"""Bytes: the port, the HTTP and websocket protocols, and limits on connections.

Knows nothing about the contents of requests and frames.
"""
