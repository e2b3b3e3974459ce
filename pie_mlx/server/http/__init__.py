"""HTTP on the port: health, metrics and `/v1`; and daemons, on ports of their own.

A process answers each request to a program.
"""
