"""The engines that `pie top` shows: given, configured, or the one of this machine."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from pie_mlx.cli.engine.connection import engine_address, open_client
from pie_mlx.cli.options import Common
from pie_mlx.client import Client
from pie_mlx.tui.engine_tab import EngineTab
from pie_mlx.tui.own_files import own_file
from pie_mlx.tui.source.live import LiveSource

ENGINES_FILE = "monitor-engines.toml"
THIS_MACHINE = "this machine"


def live_tabs(given: Sequence[str], common: Common, home: Path) -> tuple[list[EngineTab], tuple[str, ...]]:
    """The engines that are `given` by address or configured name; if none are, that of `--url` or PIE_URL, or else that
    of this machine and all configured ones. And problems of the configuration. Raises click.UsageError."""
    configured, problems = configured_engines(home / ENGINES_FILE)
    if given:
        named = [(word, _address(word, configured)) for word in given]
    elif url := common.url or os.environ.get("PIE_URL"):
        named = [(url, url)]
    else:
        named = [(THIS_MACHINE, None), *configured.items()]
    return [_live_tab(name, url, common) for name, url in named], problems


def configured_engines(file: Path) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Addresses by name, one line for each; no file is no engine. Lines that are none are problems."""
    if not file.exists():
        return {}, ()
    lines, problems = own_file(file)
    found = {name: url for name, url in lines.items() if isinstance(url, str) and "://" in url}
    wrong = [f'{file}: {name}: write an address, e.g. "ws://127.0.0.1:8080"' for name in lines if name not in found]
    return found, (*problems, *wrong)


def _address(word: str, configured: Mapping[str, str]) -> str:
    if word in configured or "://" in word:
        return configured.get(word, word)
    known = f"; known: {', '.join(configured)}" if configured else ""
    raise click.UsageError(f"{word}: it is no address, such as ws://127.0.0.1:8080, and no configured engine{known}")


def _live_tab(name: str, url: str | None, common: Common) -> EngineTab:
    async def open_now() -> Client:
        return await open_client(engine_address(replace(common, url=url) if url else common))

    live = LiveSource(name, open_now)
    return EngineTab(live, live, url or "")
