"""Bytes: the port, HTTP and websocket protocols, and how many connections there may be.

Knows nothing of what is said over a connection.
"""
