"""Limits the operating system does not enforce: looks at workers from outside and ends those that exceed one."""
