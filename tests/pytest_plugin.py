"""The words with which a fresh pytest has the plugin `pie`, also where the package is a checkout that was not installed
again."""

from importlib.metadata import entry_points

INSTALLED = bool(entry_points(group="pytest11", name="pie"))
PLUGIN = [] if INSTALLED else ["-p", "pie_mlx.testing.plugin"]
