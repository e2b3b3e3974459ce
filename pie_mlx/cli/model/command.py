"""`pie model`"""

import copy
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pie_mlx.cli.engine.completions import complete_model, complete_model_or_path
from pie_mlx.cli.model.running import load, running, unload
from pie_mlx.cli.options import Common, Whole, common_options
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.text import size, table
from pie_mlx.cli.terminal.vocabulary import iso_time

if TYPE_CHECKING:
    from pie_mlx.runtime.models import CachedModel


_HEADINGS = ("MODEL", "SIZE", "MODIFIED", "SOURCE", "LOADS")
_context = click.option(
    "--context", type=Whole(min=1), default=8192, show_default=True, metavar="TOKENS", help="Length of the context."
)


@click.group
@common_options
def command() -> None:
    """Find, download, convert and remove models."""


@command.command("list")
@common_options
@click.pass_obj
def list_models(common: Common) -> None:
    """List the models on this disk, with the reason for each that cannot be loaded."""
    from pie_mlx.runtime.models import models_on_disk

    models = models_on_disk()
    _print_rows(common, _HEADINGS, [_row(model) for model in models], [_cells(model) for model in models])


@command.command
@click.argument("name", metavar="NAME|REPO|DIR|GGUF", shell_complete=complete_model_or_path)
@_context
@common_options
@click.pass_obj
def show(common: Common, name: str, context: int) -> None:
    """Show the facts about a model on this disk, and the memory it needs."""
    from pie_mlx.runtime.models import find_on_disk

    model = find_on_disk(name)
    context = min(context, model.suitability.maximum_positions or context)
    needed, there = model.suitability.needed_bytes(context), _memory_bytes()
    row = _row(model) | {"context": context, "needed_bytes": needed, "memory_bytes": there, "fits": needed <= there}
    if common.json:
        print(json.dumps(row))
        return
    print(name)
    row |= {"loads": "no" if row["problem"] else "yes", "embedded": "yes" if model.embedded else ""}
    row |= {"size": size(row.pop("size_bytes")), "weights": size(row.pop("weight_bytes"))}
    row.pop("lacks")
    row |= {f"no {promise}": f"it {reason}" for promise, reason in model.suitability.lacks}
    row |= {"KV per token": size(row.pop("kv_bytes_per_token"))}
    fits = "fits" if row.pop("fits") else "does not fit"
    row["memory"] = f"{size(row.pop('needed_bytes'))} for {row.pop('context'):,} tokens; "
    row["memory"] += f"of {size(row.pop('memory_bytes'))} here: {fits}"
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
    from pie_mlx.runtime.models import download_model, find_on_disk

    bars = sys.stderr.isatty() and not (common.quiet or common.json)
    directory = download_model(repo, everything=everything, offline=offline, bars=bars)
    problem = find_on_disk(repo).suitability.problem
    if problem and not common.quiet:
        print(f"pie: warning: {repo} cannot be loaded: {problem}", file=sys.stderr)
    print(json.dumps({"name": repo, "path": str(directory), "problem": problem}) if common.json else directory)


@command.command
@click.argument("repo", shell_complete=complete_model)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def remove(common: Common, repo: str, yes: bool) -> None:
    """Remove a model from the Hugging Face cache, and what was converted from its GGUF files.

    Of a model that Ollama or LM Studio keeps it removes only what was converted.
    """
    from pie_mlx.runtime.models import find_cached, removable_bytes, remove_cached

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
@click.argument("name", metavar="GGUF|NAME|REPO", shell_complete=complete_model_or_path)
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
    from pie_mlx.runtime.models import find_on_disk

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


@command.command
@click.argument("words", nargs=-1)
@click.option("--online", is_flag=True, help="Search huggingface.co for MLX weights.")
@click.option("--limit", type=Whole(min=1), default=20, show_default=True, help="Most models found online.")
@common_options
@click.pass_obj
def search(common: Common, words: tuple[str, ...], online: bool, limit: int) -> None:
    """Find models whose name, architecture or quantization has all WORDS: on this disk, or with --online on the hub."""
    from pie_mlx.runtime.models import models_on_disk, search_hub

    there = models_on_disk()
    if online:
        names = {model.name for model in there}
        found = search_hub(" ".join(words), limit=limit)
        rows: list[dict[str, Any]] = [
            {"name": one.repo, "downloads": one.downloads, "on_disk": one.repo in names} for one in found
        ]
        cells = [[row["name"], f"{row['downloads']:,}", "yes" if row["on_disk"] else ""] for row in rows]
        _print_rows(common, ("MODEL", "DOWNLOADS", "ON DISK"), rows, cells)
        return
    facts = {
        model: f"{model.name} {model.suitability.architecture} {model.suitability.quantization}" for model in there
    }
    chosen = [model for model, text in facts.items() if all(word.casefold() in text.casefold() for word in words)]
    if not (chosen or common.json or common.quiet):
        print("pie: nothing on this disk has these words: --online asks the hub", file=sys.stderr)
    _print_rows(common, _HEADINGS, [_row(model) for model in chosen], [_cells(model) for model in chosen])


@command.command
@_context
@common_options
@click.pass_obj
def recommend(common: Common, context: int) -> None:
    """Name models that fit this machine with a context of some length, the most able first."""
    from pie_mlx.runtime.models import fitting, models_on_disk

    names = {model.name for model in models_on_disk()}
    rows: list[dict[str, Any]] = [
        {
            "name": one.repo,
            "weight_bytes": one.weight_bytes,
            "needed_bytes": one.needed_bytes(context),
            "good_at": one.good_at,
            "on_disk": one.repo in names,
        }
        for one in fitting(_memory_bytes(), context)
    ]
    headings = ("MODEL", "DOWNLOAD", "MEMORY", "ON DISK", "GOOD AT")
    cells = [
        [
            one["name"],
            size(one["weight_bytes"]),
            size(one["needed_bytes"]),
            "yes" if one["on_disk"] else "",
            one["good_at"],
        ]
        for one in rows
    ]
    _print_rows(common, headings, rows, cells)


@command.command
@click.argument("name", metavar="NAME|REPO", shell_complete=complete_model)
@common_options
@click.pass_obj
def verify(common: Common, name: str) -> int:
    """Read a downloaded model and compare each file with the digest by which it was fetched."""
    from pie_mlx.runtime.models import find_cached, verified_files

    words = {True: "as fetched", False: "damaged: fetch it again", None: "has no digest"}
    files = list(verified_files(find_cached(name).path))
    rows = [{"file": file.name, "holds": holds} for file, holds in files]
    _print_rows(common, ("FILE", "STATE"), rows, [[file.name, words[holds]] for file, holds in files])
    return 1 if any(holds is False for _, holds in files) else 0


def _print_rows(
    common: Common, headings: Sequence[str], rows: Sequence[Mapping[str, Any]], cells: Sequence[Sequence[str]]
) -> None:
    if common.json:
        print(json.dumps(rows))
    elif common.quiet:
        print("\n".join(row[0] for row in cells))
    else:
        print(table(headings, cells))


command.add_command(download)
for _verb in (running, load, unload):
    command.add_command(_verb)
for _habit, _verb in {"pull": download, "rm": remove}.items():  # what users of other tools type; help names one of each
    _known = copy.copy(_verb)
    _known.hidden = True
    command.add_command(_known, _habit)


def _memory_bytes() -> int:
    from pie_mlx.backends import current_backend

    return current_backend().memory_bytes()


def _row(model: "CachedModel") -> dict[str, Any]:
    found = model.suitability
    return {
        "name": model.name,
        "loads": not found.problem,
        "problem": found.problem,
        "architecture": found.architecture,
        "tier": found.tier,
        "lacks": dict(found.lacks),
        "quantization": found.quantization,
        "maximum_positions": found.maximum_positions,
        "size_bytes": model.size_bytes,
        "weight_bytes": found.weight_bytes,
        "kv_bytes_per_token": found.kv_bytes_per_token,
        "modified_at": iso_time(model.modified_at),
        "embedded": model.embedded,
        "revision": model.revision,
        "source": model.source,
        "path": os.fspath(model.path),
    }


def _cells(model: "CachedModel") -> list[str]:
    modified = time.strftime("%Y-%m-%d", time.gmtime(model.modified_at))
    loads = f"no: {model.suitability.problem}" if model.suitability.problem else "yes"
    return [model.name, size(model.size_bytes), modified, model.source, loads]
