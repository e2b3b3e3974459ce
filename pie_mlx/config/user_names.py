"""Valid names of users."""

import re

RESERVED_USER = "internal"
"""The engine itself, and clients with its token."""
LOCAL_USER = "local"
"""The user of programs installed on the engine's own machine, and of all clients without authentication."""
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


def user_name_problem(name: str) -> str:
    """Why the name is invalid, or ""."""
    if not _USER.fullmatch(name):
        return "Invalid user name: 1 to 64 of A-Z a-z 0-9 . _ @ -, first a letter or digit"
    return "Invalid user name: 'internal' is reserved" if name == RESERVED_USER else ""


def key_user_problem(name: str) -> str:
    """Why a user with a key cannot have the name, or ""."""
    if name.casefold() in (RESERVED_USER, LOCAL_USER):
        return f"Invalid user name: '{name.casefold()}' is reserved"
    return user_name_problem(name)
