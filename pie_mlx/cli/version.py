"""`pie version`"""

import importlib.metadata
import json
import platform

import click

import pie_mlx
from pie_mlx.cli.options import Common, common_options

LIBRARIES = ("mlx", "mlx-lm", "transformers")


@click.command
@common_options
@click.pass_obj
def command(common: Common) -> None:
    """Print the versions of pie-mlx and of its main dependencies."""
    versions = {"pie-mlx": pie_mlx.__version__, **{name: importlib.metadata.version(name) for name in LIBRARIES}}
    versions["python"] = platform.python_version()
    if common.json:
        print(json.dumps(versions))
    elif common.quiet:
        print(pie_mlx.__version__)
    else:
        print("\n".join(f"{name:<13}{version}" for name, version in versions.items()))
