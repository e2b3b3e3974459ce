"""Open the source of `pie top` and show it."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from pie_mlx.cli.engine.connection import engine_address, open_client
from pie_mlx.cli.options import Common
from pie_mlx.client import Client
from pie_mlx.config import pie_home
from pie_mlx.tui.controller import Controller, ReadOnlyController
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.keymap import Keymap, read_keymap
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.views.summary import summary
from pie_mlx.tui.source.base import EventSource
from pie_mlx.tui.source.demo import DemoSource
from pie_mlx.tui.source.live import LiveSource
from pie_mlx.tui.source.recording import RecordingSource, open_recording

REPLAY_REFUSAL = "a recording cannot be steered"
KEYS_FILE = "monitor-keys.toml"
LOOK_SECONDS = 1.0
"""How long --json watches an engine, to measure rates."""


@dataclass(frozen=True, slots=True)
class TopRequest:
    """One use of `pie top`."""

    replay: Path | None
    demo: bool
    read_only: bool
    theme: str | None
    keys: Path | None


def monitor(request: TopRequest, common: Common) -> int:
    """Show the monitor until the user leaves. Raises PieError, OSError and click.UsageError before it shows."""
    source, controller = opened(request, common)
    if common.json:
        print(msgspec.json.encode(summary(_state_now(source))).decode())
        return 0
    if not sys.stdout.isatty() and not os.environ.get("TEXTUAL_DRIVER"):  # `textual serve` draws in a browser
        raise click.UsageError("pie top needs a terminal: use --json for a script")
    return _show(source, controller, request)


def opened(request: TopRequest, common: Common) -> tuple[EventSource, Controller]:
    """The source to watch, and its controller. Raises PieError for a file that is not a recording."""
    if request.replay is not None:
        try:
            return open_recording(request.replay), ReadOnlyController(REPLAY_REFUSAL)
        except OSError as error:
            raise click.UsageError(f"--replay {request.replay}: {error.strerror}") from None
    if request.demo:
        demo = DemoSource()
        return demo, demo

    async def open_now() -> Client:
        return await open_client(engine_address(common))

    label = common.url or os.environ.get("PIE_URL") or "this machine"
    live = LiveSource(label, open_now)
    return live, live


def _show(source: EventSource, controller: Controller, request: TopRequest) -> int:
    from pie_mlx.tui.app import MonitorApp
    from pie_mlx.tui.widgets.palette import theme_names

    theme = request.theme or "pie-dark"
    if theme not in theme_names():
        raise click.UsageError(f"--theme {theme}: there is none; known: {', '.join(theme_names())}")
    app = MonitorApp(source, controller, read_only=request.read_only, keymap=_keymap(request.keys), theme=theme)
    app.run()
    return app.return_code or 0


def _keymap(file: Path | None) -> Keymap:
    """The named file, else the user's own if it exists."""
    own = pie_home(os.environ) / KEYS_FILE
    if file is None and not own.exists():
        return Keymap({})
    return read_keymap(file or own)


def _state_now(source: EventSource) -> MonitorState:
    """The state of an engine now, or at the end of a recording. Raises PieError."""
    inbox = Inbox()
    if isinstance(source, RecordingSource):
        source.playback.seek_to(1.0)
        source.play(inbox, 0.0)
    elif isinstance(source, DemoSource):
        source.start(inbox)
    elif isinstance(source, LiveSource):
        asyncio.run(source.feed_for(inbox, LOOK_SECONDS))
    return inbox.state()
