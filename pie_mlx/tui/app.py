"""The application: folds the records of its source, shows the state on screens, and handles keys."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Any, ClassVar

from textual.app import SystemCommand
from textual.screen import Screen
from textual.widget import Widget

from pie_mlx.event_log import EventWriter
from pie_mlx.files import write_file
from pie_mlx.tui.actions import ACTIONS, APP_WIDE, BY_ID, TABS, Action, bindings, key_name
from pie_mlx.tui.choosing import Choice, ChooseScreen
from pie_mlx.tui.controller import Controller, ReadOnlyController
from pie_mlx.tui.engine_tab import EngineTab
from pie_mlx.tui.keymap import Keymap
from pie_mlx.tui.model.alerts import Alert
from pie_mlx.tui.own_commands import READ_ONLY, OwnCommands
from pie_mlx.tui.pacing import REFRESH_SECONDS, Pacing
from pie_mlx.tui.plugins.plugin import Plugins
from pie_mlx.tui.preferences import Preferences
from pie_mlx.tui.screens.base import MonitorScreen
from pie_mlx.tui.screens.engine import EngineScreen
from pie_mlx.tui.screens.help import HelpScreen
from pie_mlx.tui.screens.inferlets import InferletsScreen
from pie_mlx.tui.screens.latency import LatencyScreen
from pie_mlx.tui.screens.launch import LaunchScreen
from pie_mlx.tui.screens.logs import LogsScreen
from pie_mlx.tui.screens.market import MarketScreen
from pie_mlx.tui.screens.mcp import McpScreen
from pie_mlx.tui.screens.overview import OverviewScreen
from pie_mlx.tui.screens.pages import PagesScreen
from pie_mlx.tui.screens.process import ProcessScreen
from pie_mlx.tui.screens.sessions import SessionsScreen
from pie_mlx.tui.screens.tokens import TokensScreen
from pie_mlx.tui.source.base import EventSource
from pie_mlx.tui.source.recording import RecordingSource
from pie_mlx.tui.widgets.palette import CYCLE, THEMES, Palette

_FOLDER = Path(__file__).parent
STYLESHEETS: list[str | PurePath] = [
    _FOLDER / "app.tcss",
    *(_FOLDER / "screens" / f"{name}.tcss" for name in (*TABS, "process", "tokens")),
    _FOLDER / "dialogs.tcss",
]


class MonitorApp(OwnCommands):
    """`save_directory` receives screenshots and recordings; `theme` names one of our themes or of Textual's."""

    # Loaded together: Textual parses all stylesheets again when a screen adds one.
    CSS_PATH = STYLESHEETS
    TITLE = "pie"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar = bindings("everywhere")
    MODES: ClassVar[dict[str, Any]] = {
        "overview": OverviewScreen,
        "inferlets": InferletsScreen,
        "sessions": SessionsScreen,
        "market": MarketScreen,
        "pages": PagesScreen,
        "mcp": McpScreen,
        "logs": LogsScreen,
        "launch": LaunchScreen,
        "latency": LatencyScreen,
        "engine": EngineScreen,
    }

    def __init__(
        self,
        source: EventSource,
        controller: Controller,
        *,
        read_only: bool = False,
        keymap: Keymap | None = None,
        preferences: Preferences | None = None,
        theme: str = "pie-dark",
        save_directory: Path | None = None,
        alerts: Sequence[Alert] = (),
        others: Sequence[EngineTab] = (),
        url: str = "",
        plugins: Plugins | None = None,
        notices: Sequence[str] = (),
    ) -> None:
        tabs = [EngineTab(source, controller, url), *others]
        if read_only:
            tabs = [EngineTab(tab.source, ReadOnlyController(READ_ONLY), tab.url) for tab in tabs]
        self._plugins = plugins or Plugins()
        self._read_only = read_only
        super().__init__(tabs, keymap or Keymap({}), preferences or Preferences(), (*self._plugins.problems, *notices))
        self._save_directory = save_directory or Path.cwd()
        self._alerts = alerts
        self._pacing = Pacing()
        for one in THEMES:
            self.register_theme(one)
        self._begin_with(theme)

    def _begin_with(self, theme: str) -> None:
        """A theme that is chosen later has all style sheets read again."""
        self.set_reactive(MonitorApp.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self.add_class(f"-theme-{theme}", update=False)
        self.set_class(self.current_theme.dark, "-dark-mode", update=False)
        self.set_class(not self.current_theme.dark, "-light-mode", update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.palette = Palette(self.current_theme)

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda theme: self._use_palette(Palette(theme)))
        self.set_keymap(self._keymap_file.keys)
        self.switch_mode(TABS[0])
        if not self.is_headless:
            # `pie serve --monitor` ends the monitor by this signal: exit restores the terminal.
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.bind_plugins()
        for tab in self.engines:
            self.run_worker(partial(tab.source.run, tab.inbox), name="source")
        self.set_interval(REFRESH_SECONDS, self._refresh_if_due)

    # Showing.

    def refresh_now(self) -> None:
        """Show all events so far, unless the view is paused."""
        if not self._paused:
            self._ring()
            self.view = self._current_view()
        for screen in self.screen_stack:
            if isinstance(screen, MonitorScreen):
                screen.show(self.view)

    def _refresh_if_due(self) -> None:
        now = time.monotonic(), time.process_time()
        if any(tab.inbox.changed for tab in self.engines) and not self._paused and self._pacing.is_due(*now):
            self._pacing.begin(*now)
            self.refresh_now()

    def _ring(self) -> None:
        """Ring and say which alerts begin to hold."""
        for tab in self.engines:
            state = tab.inbox.state()
            for each in tab.ring(self._alerts, state):
                self.bell()
                name = f"{tab.source.label}: " if len(self.engines) > 1 else ""
                self.say(f"{name}{each}: {each.value(state):g}")

    def _use_palette(self, palette: Palette) -> None:
        self.palette = palette
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    def show_tab(self, tab: str) -> None:
        """Switch to another screen, closing the detail view."""
        while isinstance(self.screen, ProcessScreen | TokensScreen):
            self.pop_screen()
        self.switch_mode(tab)

    def show_engine(self, place: int) -> None:
        if isinstance(self.screen, ProcessScreen):
            self.screen.dismiss()
        self._engine = self.engines[place]
        self.view = self._current_view()
        self.call_next(self.refresh_now)

    def show_model(self, name: str) -> None:
        """Show the pages and the market of another model, on every screen."""
        if name and name != self.view.state.pool.name:
            self._engine.model = name
            self.view = self._current_view()
            self.refresh_now()

    def show_program(self, tab: str, process: str) -> None:
        """Switch to another screen and show what it has of a program."""
        self.show_tab(tab)
        screen = self.screen
        if isinstance(screen, MonitorScreen):
            screen.show_program(process)

    def open_process(self, process: str) -> None:
        """Open the detail view of a program."""
        if process in self.view.state.processes:
            self.push_screen(ProcessScreen(process))

    def open_tokens(self, process: str) -> None:
        """Open the tokens of a program above its detail view, or above the list it was chosen from."""
        self.push_screen(TokensScreen(process))

    # Actions of `ACTIONS`.

    def action_overview(self) -> None:
        self.show_tab("overview")

    def action_inferlets(self) -> None:
        self.show_tab("inferlets")

    def action_sessions(self) -> None:
        self.show_tab("sessions")

    def action_market(self) -> None:
        self.show_tab("market")

    def action_pages(self) -> None:
        self.show_tab("pages")

    def action_mcp(self) -> None:
        self.show_tab("mcp")

    def action_logs(self) -> None:
        self.show_tab("logs")

    def action_launch(self) -> None:
        self.show_tab("launch")

    def action_latency(self) -> None:
        self.show_tab("latency")

    def action_engine(self) -> None:
        self.show_tab("engine")

    def action_next_tab(self) -> None:
        self._turn(1)

    def action_previous_tab(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        self.show_tab(TABS[(TABS.index(self.current_mode) + by) % len(TABS)])

    def action_next_engine(self) -> None:
        self.show_engine((self.engines.index(self._engine) + 1) % len(self.engines))

    def action_next_model(self) -> None:
        names = [row.name for row in self.view.models]
        if len(names) > 1:
            shown = self.view.state.pool.name
            self.show_model(names[(names.index(shown) + 1) % len(names)] if shown in names else names[0])

    def action_pause(self) -> None:
        playback = self.source.playback
        if playback is not None:
            playback.toggle()
        else:
            self._paused = not self._paused
        self.view = self._current_view()
        self.refresh_now()

    def action_step(self) -> None:
        self._step(1)

    def action_step_back(self) -> None:
        self._step(-1)

    def _step(self, ticks: int) -> None:
        if self.source.playback is not None:
            self.source.playback.step(ticks)

    def action_seek(self) -> None:
        self._seek(5.0)

    def action_seek_back(self) -> None:
        self._seek(-5.0)

    def _seek(self, seconds: float) -> None:
        if self.source.playback is not None:
            self.source.playback.seek(seconds)

    def action_faster(self) -> None:
        self._change_speed(1)

    def action_slower(self) -> None:
        self._change_speed(-1)

    def _change_speed(self, by: int) -> None:
        if self.source.playback is not None:
            self.source.playback.change_speed(by)

    def action_maximise(self) -> None:
        screen = self.screen
        if screen.maximized is not None:
            screen.minimize()
        elif isinstance(screen.focused, Widget):
            screen.maximize(screen.focused)

    def action_theme(self) -> None:
        place = CYCLE.index(self.theme) if self.theme in CYCLE else -1
        self.theme = CYCLE[(place + 1) % len(CYCLE)]

    def action_screenshot(self, filename: str | None = None, path: str | None = None) -> None:
        target = self._save_directory / f"pie-{_stamp()}.svg"
        self._save(target, lambda: write_file(target, self.export_screenshot().encode()))

    def action_save_recording(self) -> None:
        target = self._save_directory / f"pie-{_stamp()}.events"
        self._save(target, lambda: self._write_recording(target))

    def _save(self, target: Path, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            self.say(f"{target}: {error.strerror}")
        else:
            self.notify(f"saved {target}", markup=False)

    def _write_recording(self, target: Path) -> None:
        """The records seen so far; of a recording, all of them."""
        records = self.source.records if isinstance(self.source, RecordingSource) else self.inbox.seen
        moment = 0.0
        with EventWriter(target, lambda: moment) as log:
            for seconds, event in records:
                moment = seconds
                log.write(event)

    def action_go_to(self) -> None:
        screens = [Choice(f"screen {tab}", tab, BY_ID[tab].help) for tab in TABS]
        programs = [
            Choice(f"program {row.id}", f"{row.program} {row.short_id}", f"{row.status}, of {row.username}")
            for row in self.view.programs
        ]
        engines = [
            Choice(f"engine {place}", mark.label, "does not answer" if mark.is_gone else mark.link)
            for place, mark in enumerate(self.view.engines)
            if len(self.engines) > 1
        ]
        models = [
            Choice(f"model {row.name}", row.name, f"model, {row.state}")
            for row in self.view.models
            if len(self.view.models) > 1
        ]
        choices = [*screens, *engines, *models, *programs]
        self.choose(ChooseScreen("Go to", choices, "screen, or program and id"), self._go_to)

    def _go_to(self, key: str) -> None:
        kind, _, name = key.partition(" ")
        if kind == "screen":
            self.show_tab(name)
        elif kind == "engine":
            self.show_engine(int(name))
        elif kind == "model":
            self.show_model(name)
        else:
            self.show_program("inferlets", name)
            self.open_process(name)

    def action_palette(self) -> None:
        self.action_command_palette()

    def action_help(self) -> None:
        self.push_screen(HelpScreen(self._key_groups()))

    async def action_quit(self) -> None:
        self.exit()

    def _key_groups(self) -> list[tuple[str, list[tuple[str, Action]]]]:
        screen = self.screen
        place = screen.NAME if isinstance(screen, MonitorScreen) else TABS[0]
        own = [(key_name(plugin.key), plugin.action) for plugin in self.offered_plugins(place)]
        groups = [
            ("this screen", place),
            ("a recording", "replay"),
            ("several engines", "engines"),
            ("several models", "models"),
            ("everywhere", "everywhere"),
        ]
        found = [
            (title, [(self.key_of(action), action) for action in ACTIONS if where in action.where])
            for title, where in groups
            if where not in APP_WIDE or any(self._is_offered(action) for action in ACTIONS if action.where == (where,))
        ]
        return [*found[:1], *([("your own", own)] if own else []), *found[1:]]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the palette: what the keys do here."""
        place = screen.NAME if isinstance(screen, MonitorScreen) else ""
        for action in ACTIONS:
            if self._is_offered(action) and {place, *APP_WIDE} & set(action.where):
                title = action.id.replace("_", " ").capitalize()
                yield SystemCommand(title, action.help, partial(self._run_named, screen, action.id))
        if isinstance(screen, MonitorScreen):
            for plugin in self.offered_plugins(place):
                yield SystemCommand(plugin.name, plugin.action.help, partial(self.run_plugin, plugin, screen))

    def _run_named(self, screen: Screen[Any], name: str) -> None:
        owner = self if APP_WIDE & set(BY_ID[name].where) else screen
        result = getattr(owner, f"action_{name}")()
        if asyncio.iscoroutine(result):
            self.run_worker(result)


def _stamp() -> str:
    return datetime.now().strftime("%Y%m%d-%H%M%S")
