"""Open the source of `pie top` and show it."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from pie_mlx.cli.options import Common
from pie_mlx.cli.top.engines import live_tabs
from pie_mlx.config import pie_home
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.controller import ReadOnlyController
from pie_mlx.tui.engine_tab import EngineTab
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.keymap import Keymap, read_keymap
from pie_mlx.tui.model.alerts import Alert, alert
from pie_mlx.tui.model.views.summary import summary
from pie_mlx.tui.plugins.plugin import read_plugins
from pie_mlx.tui.preferences import Preferences
from pie_mlx.tui.source.base import EventSource
from pie_mlx.tui.source.demo import DemoSource
from pie_mlx.tui.source.live import LiveSource
from pie_mlx.tui.source.recording import RecordingSource, open_recording

REPLAY_REFUSAL = "a recording cannot be steered"
KEYS_FILE = "monitor-keys.toml"
PLUGINS_FILE = "monitor-plugins.toml"
STATE_FILE = "monitor-state.json"
LOOK_SECONDS = 1.0
"""How long --json watches an engine, to measure rates."""
UNTIL_SECONDS = 0.25
"""How often --until looks."""


@dataclass(frozen=True, slots=True)
class TopRequest:
    """One use of `pie top`."""

    replay: Path | None
    demo: bool
    read_only: bool
    theme: str | None
    keys: Path | None
    alert: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    web: bool = False
    port: int = 0
    engines: tuple[str, ...] = ()

    def words(self, common: Common) -> list[str]:
        """The command line of the same monitor in a terminal."""
        named = {
            "--replay": self.replay,
            "--theme": self.theme,
            "--keys": self.keys,
            "--config": common.config,
            "--url": common.url,
        }
        flags = {"--demo": self.demo, "--read-only": self.read_only}
        options = [word for name, value in named.items() if value is not None for word in (name, str(value))]
        alerts = [word for each in self.alert for word in ("--alert", each)]
        return ["top", *options, *alerts, *(name for name, given in flags.items() if given), *self.engines]


def monitor(request: TopRequest, common: Common) -> int:
    """Show the monitor until the user leaves. Raises PieError, OSError and click.UsageError before it shows."""
    alerts, until = [alert(each) for each in request.alert], [alert(each) for each in request.until]
    tabs, problems = opened(request, common)
    source = tabs[0].source
    if request.web:
        _serve(request, common)
        return 0
    if until:
        return _wait_until(source, until, prints_json=common.json)
    if common.json:
        print(as_json(_inbox_now(source)))
        return 0
    if not sys.stdout.isatty() and not os.environ.get("TEXTUAL_DRIVER"):  # `textual serve` draws in a browser
        raise click.UsageError("pie top needs a terminal: use --json for a script")
    return _show(tabs, request, alerts, problems)


def opened(request: TopRequest, common: Common) -> tuple[list[EngineTab], tuple[str, ...]]:
    """What to watch, and problems of the configuration. Raises PieError for a file that is not a recording."""
    if request.replay is not None:
        try:
            return [EngineTab(open_recording(request.replay), ReadOnlyController(REPLAY_REFUSAL))], ()
        except OSError as error:
            raise click.UsageError(f"--replay {request.replay}: {error.strerror}") from None
    if request.demo:
        demo = DemoSource()
        return [EngineTab(demo, demo)], ()
    return live_tabs(request.engines, common, pie_home(os.environ))


def _show(tabs: Sequence[EngineTab], request: TopRequest, alerts: Sequence[Alert], problems: Sequence[str]) -> int:
    from pie_mlx.tui.app import MonitorApp
    from pie_mlx.tui.widgets.palette import theme_names

    theme = request.theme or "pie-dark"
    if theme not in theme_names():
        raise click.UsageError(f"--theme {theme}: there is none; known: {', '.join(theme_names())}")
    home, keymap = pie_home(os.environ), _keymap(request.keys)
    plugins = home / PLUGINS_FILE
    app = MonitorApp(
        tabs[0].source,
        tabs[0].controller,
        url=tabs[0].url,
        others=tabs[1:],
        read_only=request.read_only,
        keymap=keymap,
        plugins=read_plugins(plugins, keymap) if plugins.exists() else None,
        preferences=Preferences(home / STATE_FILE),
        theme=theme,
        alerts=alerts,
        notices=problems,
    )
    app.run()
    return app.return_code or 0


def _serve(request: TopRequest, common: Common) -> None:
    """Raises InvalidArgumentError without textual-serve, and OSError for a port that is taken."""
    try:
        from pie_mlx.cli.top.web import serve
    except ImportError:
        raise InvalidArgumentError(
            "--web needs textual-serve, which is not installed", hint="pip install 'pie-mlx[web]'"
        ) from None
    serve(request.words(common), request.port)


def _wait_until(source: EventSource, conditions: Sequence[Alert], *, prints_json: bool) -> int:
    """Watch until a condition holds, and print it. 1 if a recording ends before. Raises PieError without an engine."""
    inbox = Inbox()
    if isinstance(source, LiveSource):
        met = asyncio.run(_watched(source, inbox, conditions))
    else:
        inbox = _inbox_now(source)
        met = next((each for each in conditions if each.holds(inbox.state())), None)
    if prints_json:
        print(as_json(inbox))
    elif met is not None:
        print(f"{met}: {met.value(inbox.state()):g}")
    else:
        print(f"not reached at its end: {', '.join(map(str, conditions))}", file=sys.stderr)
    return 0 if met is not None else 1


async def _watched(source: LiveSource, inbox: Inbox, conditions: Sequence[Alert]) -> Alert:
    """Feed until a condition holds, and return it."""
    await source.feed_for(inbox, 0.0)  # an engine that is not there is an error; one that leaves later is waited for
    watching = asyncio.create_task(source.run(inbox))
    try:
        while True:
            state = inbox.state()
            for condition in conditions:
                if condition.holds(state):
                    return condition
            await asyncio.sleep(UNTIL_SECONDS)
    finally:
        watching.cancel()


def _keymap(file: Path | None) -> Keymap:
    """The named file, else the user's own if it exists."""
    own = pie_home(os.environ) / KEYS_FILE
    if file is None and not own.exists():
        return Keymap({})
    return read_keymap(file or own)


def as_json(inbox: Inbox) -> str:
    """The state for scripts."""
    return msgspec.json.encode(summary(inbox.state(), inbox.known)).decode()


def _inbox_now(source: EventSource) -> Inbox:
    """What is known of an engine now, or at the end of a recording. Raises PieError."""
    inbox = Inbox()
    if isinstance(source, RecordingSource):
        source.playback.seek_to(1.0)
        source.play(inbox, 0.0)
    elif isinstance(source, DemoSource):
        source.start(inbox)
    elif isinstance(source, LiveSource):
        asyncio.run(source.feed_for(inbox, LOOK_SECONDS))
    return inbox
