"""All errors that a program can meet, and the tree they form."""

from pie_mlx.errors import *  # noqa: F403
