"""`pie model`"""

import json
import os
import sys
import time
from pathlib import Path
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
    """Find, download, convert and remove models."""


@command.command("list")
@common_options
@click.pass_obj
def list_models(common: Common) -> None:
    """List the models on this disk, with the reason for each that cannot be loaded."""
    from pie_mlx.runtime.doctor.models import models_on_disk

    models = models_on_disk()
    if common.json:
        print(json.dumps([_row(model) for model in models]))
    elif common.quiet:
        print("\n".join(model.name for model in models))
    else:
        print(table(("MODEL", "SIZE", "MODIFIED", "SOURCE", "LOADS"), [_cells(model) for model in models]))


@command.command
@click.argument("name", metavar="NAME|REPO|DIR|GGUF")
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
    from pie_mlx.runtime.doctor.models import download_model, find_on_disk

    bars = sys.stderr.isatty() and not (common.quiet or common.json)
    directory = download_model(repo, everything=everything, offline=offline, bars=bars)
    problem = find_on_disk(repo).suitability.problem
    if problem and not common.quiet:
        print(f"pie: warning: {repo} cannot be loaded: {problem}", file=sys.stderr)
    print(json.dumps({"name": repo, "path": str(directory), "problem": problem}) if common.json else directory)


@command.command
@click.argument("repo")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def remove(common: Common, repo: str, yes: bool) -> None:
    """Remove a model from the Hugging Face cache, and what was converted from its GGUF files.

    Of a model that Ollama or LM Studio keeps it removes only what was converted.
    """
    from pie_mlx.runtime.doctor.models import find_cached, removable_bytes, remove_cached

    model = find_cached(repo)
    if not model.embedded:
        confirm(f"Remove {repo} ({size(removable_bytes(model))})?", refusal=f"{repo} was not removed", yes=yes)
    freed_bytes = remove_cached(repo)
    print(
        json.dumps({"removed": repo, "freed_bytes": freed_bytes})
        if common.json
        else f"removed {repo}, {size(freed_bytes)}"
    )


@command.command
@click.argument("name", metavar="GGUF|NAME|REPO")
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="Write there, not to the cache.")
@click.option("--dequantize", is_flag=True, help="Keep no quantization: 2 bytes per weight.")
@click.option(
    "--dtype", type=click.Choice(["auto", "float16", "bfloat16", "float32"]), default="auto", help="Of activations."
)
@common_options
@click.pass_obj
def convert(common: Common, name: str, output: Path | None, dequantize: bool, dtype: str) -> None:
    """Convert a GGUF file to a directory in MLX's format, print its path and what became of each type of weights.

    'pie run' and 'pie chat' do so the first time. What this verb writes to the cache is what they use from then on.
    """
    from pie_mlx.engine.model.gguf.converted import conversion_of, write_conversion
    from pie_mlx.runtime.doctor.models import find_on_disk

    file = find_on_disk(name).path
    if file.is_dir():
        raise click.UsageError(f"{name} is in MLX's format already")
    if output is not None and output.exists():
        raise click.UsageError(f"--output {output} is there already")
    directory = output or conversion_of(file, os.environ)
    choices = [str(one) for one in write_conversion(file, directory, dtype=dtype, dequantise=dequantize)]
    if common.json:
        print(json.dumps({"name": name, "path": os.fspath(directory), "choices": choices}))
    else:
        print("\n".join([str(directory), *([] if common.quiet else [f"  {choice}" for choice in choices])]))


command.add_command(download)
command.add_command(download, "pull")
command.add_command(remove, "rm")


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
        "source": model.source,
        "path": os.fspath(model.path),
    }


def _cells(model: "CachedModel") -> list[str]:
    modified = time.strftime("%Y-%m-%d", time.gmtime(model.modified_at))
    loads = f"no: {model.suitability.problem}" if model.suitability.problem else "yes"
    return [model.name, size(model.size_bytes), modified, model.source, loads]
