"""Runs a model for programs: answers their calls, schedules their passes, accounts for pages and credits.

Knows no files of programs, no sockets and no terminals.
"""
