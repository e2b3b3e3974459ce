"""`pie_mlx.sdk` is another name of `inferlet`, module for module, for hosts that know the SDK by it."""

import sys
from importlib import import_module
from pkgutil import walk_packages

import inferlet
from inferlet import *  # noqa: F403

sys.modules |= {
    name.replace("inferlet", __name__, 1): import_module(name)
    for name in ("inferlet", *(found.name for found in walk_packages(inferlet.__path__, "inferlet.")))
}
