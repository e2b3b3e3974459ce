"""Sources of events: a server, a recording, or a script."""

from pie_mlx.tui.source.base import EventSource, Feed, Link, LinkState

__all__ = ["EventSource", "Feed", "Link", "LinkState"]
