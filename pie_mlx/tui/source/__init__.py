"""Sources of events: a server, a recording, or a script."""

from pie_mlx.tui.source.base import Feed, Link, LinkState, Source

__all__ = ["Feed", "Link", "LinkState", "Source"]
