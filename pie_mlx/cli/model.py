"""`pie model`"""

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.text import size, table

if TYPE_CHECKING:
    from pie_mlx.runtime.doctor.models import CachedModel


@click.group
@common_options
def command() -> None:
    """List, download and remove models in the Hugging Face cache."""


@command.command("list")
@common_options
@click.pass_obj
def list_models(common: Common) -> None:
    """List the models on this disk, with the reason for each that cannot be loaded."""
    from pie_mlx.runtime.doctor.models import cached_models, embedded_models

    models = [*embedded_models(), *cached_models()]
    if common.json:
        print(json.dumps([_row(model) for model in models]))
    elif common.quiet:
        print("\n".join(model.name for model in models))
    else:
        print(table(("MODEL", "SIZE", "MODIFIED", "LOADS"), [_cells(model) for model in models]))


@command.command
@click.argument("name", metavar="NAME|REPO|DIR")
@common_options
@click.pass_obj
def show(common: Common, name: str) -> None:
    """Show the facts about a model on this disk."""
    from pie_mlx.runtime.doctor.models import find_on_disk

    model = find_on_disk(name)
    row = _row(model)
    if common.json:
        print(json.dumps(row))
        return
    print(name)
    row |= {"loads": "no" if row["problem"] else "yes", "embedded": "yes" if model.embedded else ""}
    row |= {"size": size(row.pop("size_bytes")), "weights": size(row.pop("weight_bytes"))}
    print(
        "\n".join(f"  {key.replace('_', ' '):<18} {value}" for key, value in row.items() if value not in ("", 0, name))
    )


@click.command
@click.argument("repo")
@click.option("--all", "everything", is_flag=True, help="Download every file, not only those that are loaded.")
@click.option("--offline", is_flag=True, envvar="HF_HUB_OFFLINE", help="Use local files only, without a connection.")
@common_options
@click.pass_obj
def download(common: Common, repo: str, everything: bool, offline: bool) -> None:
    """Download a model to the Hugging Face cache, and print its path."""
    from pie_mlx.runtime.doctor.models import download_model, suitability

    bars = sys.stderr.isatty() and not (common.quiet or common.json)
    directory = download_model(repo, everything=everything, offline=offline, bars=bars)
    problem = suitability(directory).problem
    if problem and not common.quiet:
        print(f"pie: warning: {repo} cannot be loaded: {problem}", file=sys.stderr)
    print(json.dumps({"name": repo, "path": str(directory), "problem": problem}) if common.json else directory)


@command.command
@click.argument("repo")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def remove(common: Common, repo: str, yes: bool) -> None:
    """Remove a model from the Hugging Face cache."""
    from pie_mlx.runtime.doctor.models import find_cached, remove_cached

    model = find_cached(repo)
    if not model.embedded:
        confirm(f"Remove {repo} ({size(model.size_bytes)})?", refusal=f"{repo} was not removed", yes=yes)
    freed_bytes = remove_cached(repo)
    print(
        json.dumps({"removed": repo, "freed_bytes": freed_bytes})
        if common.json
        else f"removed {repo}, {size(freed_bytes)}"
    )


command.add_command(download)
command.add_command(download, "pull")


def _row(model: "CachedModel") -> dict[str, Any]:
    found = model.suitability
    return {
        "name": model.name,
        "loads": not found.problem,
        "problem": found.problem,
        "architecture": found.architecture,
        "tier": found.tier,
        "quantization": found.quantization,
        "maximum_positions": found.maximum_positions,
        "size_bytes": model.size_bytes,
        "weight_bytes": found.weight_bytes,
        "modified_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(model.modified_at)),
        "embedded": model.embedded,
        "revision": model.revision,
        "path": os.fspath(model.directory),
    }


def _cells(model: "CachedModel") -> list[str]:
    modified = "built in" if model.embedded else time.strftime("%Y-%m-%d %H:%M", time.gmtime(model.modified_at))
    loads = f"no: {model.suitability.problem}" if model.suitability.problem else "yes"
    return [model.name, size(model.size_bytes), modified, loads]
