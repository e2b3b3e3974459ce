"""The application: takes records from the source, shows them, and passes the user's actions to the controller."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.screen import Screen
from textual.widget import Widget

from pie_mlx.errors import PieError
from pie_mlx.event_log import EventWriter
from pie_mlx.files import write_file
from pie_mlx.tui.actions import ACTIONS, BY_ID, TABS, Action, bindings, key_name
from pie_mlx.tui.controller import Bystander, Controller
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.keymap import Keymap
from pie_mlx.tui.model.text import one_line
from pie_mlx.tui.pacing import REFRESH_SECONDS, Pacing
from pie_mlx.tui.screens.base import MonitorScreen
from pie_mlx.tui.screens.confirm import ConfirmScreen
from pie_mlx.tui.screens.help import HelpScreen
from pie_mlx.tui.screens.inferlets import InferletsScreen
from pie_mlx.tui.screens.launch import LaunchScreen
from pie_mlx.tui.screens.logs import LogsScreen
from pie_mlx.tui.screens.market import MarketScreen
from pie_mlx.tui.screens.mcp import McpScreen
from pie_mlx.tui.screens.overview import OverviewScreen
from pie_mlx.tui.screens.pages import PagesScreen
from pie_mlx.tui.screens.process import ProcessScreen
from pie_mlx.tui.screens.prompt import PromptScreen
from pie_mlx.tui.screens.sessions import SessionsScreen
from pie_mlx.tui.source.base import Source
from pie_mlx.tui.source.recording import RecordingSource
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.palette import CYCLE, THEMES, Palette

_FOLDER = Path(__file__).parent
STYLESHEETS: list[str | PurePath] = [
    _FOLDER / "app.tcss",
    *(_FOLDER / "screens" / f"{name}.tcss" for name in (*TABS, "process", "dialog")),
]

READ_ONLY = "read-only: nothing can be changed from here"


class MonitorApp(App[None]):
    """Pictures and recordings go to `save_directory`; `theme` is one of Textual's names or ours."""

    # All at once: a stylesheet that came with its screen would make Textual read all others again.
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
    }

    def __init__(
        self,
        source: Source,
        controller: Controller,
        *,
        read_only: bool = False,
        keymap: Keymap | None = None,
        theme: str = "pie-dark",
        save_directory: Path | None = None,
    ) -> None:
        super().__init__()
        self.source = source
        self.controller = Bystander(READ_ONLY) if read_only else controller
        self.inbox = Inbox()
        self._keymap_file = keymap or Keymap({})
        self._first_theme = theme
        self._save_directory = save_directory or Path.cwd()
        self._paused = False
        self._pacing = Pacing()
        self._notice = "; ".join(self._keymap_file.problems)
        self.palette = Palette(THEMES[0])
        self.view = self._current_view()

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme_changed_signal.subscribe(self, lambda theme: self._use_palette(Palette(theme)))
        self.theme = self._first_theme
        self.set_keymap(self._keymap_file.keys)
        self.switch_mode(TABS[0])
        if not self.is_headless:
            # `pie serve --monitor` ends this way, and must restore the terminal.
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.exit)
        self.run_worker(partial(self.source.run, self.inbox), name="source")
        self.set_interval(REFRESH_SECONDS, self._refresh_if_due)

    # Showing.

    def refresh_now(self) -> None:
        """Show all events so far, unless the view is paused."""
        if not self._paused:
            self.view = self._current_view()
        for screen in self.screen_stack:
            if isinstance(screen, MonitorScreen):
                screen.show(self.view)

    def _refresh_if_due(self) -> None:
        now = time.monotonic(), time.process_time()
        if self.inbox.changed and not self._paused and self._pacing.is_due(*now):
            self._pacing.begin(*now)
            self.refresh_now()

    def _current_view(self) -> View:
        state = self.inbox.state()
        notices = [self._notice, self.inbox.connection.text]
        if state.unknown:
            notices.append(f"{state.unknown} events of kinds this version does not know")
        if state.lost:
            notices.append(f"{state.lost} events were missed")
        return View(
            state=state,
            link=self.inbox.connection,
            facts=self.inbox.known,
            subject=self.source.label,
            playback=self.source.playback,
            paused=self._paused,
            refusal=self.controller.refusal,
            notice=one_line("; ".join(notice for notice in notices if notice)),
        )

    def _use_palette(self, palette: Palette) -> None:
        self.palette = palette
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    def key_labels(self, place: str) -> list[tuple[str, str]]:
        """The key bar of a screen."""
        return [
            (self.key_of(action), action.label)
            for action in ACTIONS
            if action.label and self._is_offered(action) and {place, "everywhere", "replay"} & set(action.where)
        ]

    def key_of(self, action: Action) -> str:
        """The keymap with the user's own keys."""
        return key_name(self._keymap_file.keys.get(action.id, action.keys))

    def _is_offered(self, action: Action) -> bool:
        if action.steers and self.controller.refusal:
            return False
        return action.where != ("replay",) or self.source.playback is not None

    def show_tab(self, tab: str) -> None:
        """Show another screen, and close those on top of the current one."""
        if isinstance(self.screen, ProcessScreen):
            self.screen.dismiss()
        self.switch_mode(tab)

    def open_process(self, process: str) -> None:
        """Open the detail view of a program."""
        if process in self.view.state.processes:
            self.push_screen(ProcessScreen(process))

    def say(self, text: str) -> None:
        """Show a line that disappears automatically."""
        self.notify(text, severity="warning", markup=False)

    def copy(self, command: str) -> None:
        """Put a command into the terminal's clipboard."""
        self.copy_to_clipboard(command)
        self.notify(f"copied: {command}", markup=False)

    # Steering.

    def confirm(self, screen: ConfirmScreen, work: Callable[[], Awaitable[object]]) -> None:
        """Ask the user, and act on a yes."""
        self.push_screen(screen, lambda yes: self.steer(work, f"{screen.question.title}: done") if yes else None)

    def prompt(self, screen: PromptScreen, work: Callable[[str], Awaitable[object]], done: str = "done") -> None:
        """Ask the user for a text, and act on it."""
        self.push_screen(screen, lambda text: self.steer(partial(work, text), done) if text is not None else None)

    def steer(self, work: Callable[[], Awaitable[object]], done: str) -> None:
        """Run an action of the controller, and show its result."""
        self.run_worker(partial(self._steer, work, done), name="steer")

    async def _steer(self, work: Callable[[], Awaitable[object]], done: str) -> None:
        try:
            await work()
        except (PieError, OSError) as error:
            self.say(str(error))
        else:
            self.notify(done, markup=False)

    def talk(self, process: str, text: str) -> None:
        """Send a message and show it in the conversation."""
        self.steer(partial(self.controller.send, process, text), "sent")

    def launched(self, process: str) -> None:
        """Show a program that was started here."""
        self.refresh_now()
        self.open_process(process)

    def seek_to(self, fraction: float) -> None:
        """Go to a place of the recording."""
        if self.source.playback is not None:
            self.source.playback.seek_to(fraction)

    # Actions of the table.

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

    def action_next_tab(self) -> None:
        self._turn(1)

    def action_previous_tab(self) -> None:
        self._turn(-1)

    def _turn(self, by: int) -> None:
        self.show_tab(TABS[(TABS.index(self.current_mode) + by) % len(TABS)])

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
        """The records seen so far; all of them for a recording."""
        records = self.source.records if isinstance(self.source, RecordingSource) else self.inbox.seen
        moment = 0.0
        with EventWriter(target, lambda: moment) as log:
            for seconds, event in records:
                moment = seconds
                log.write(event)

    def action_palette(self) -> None:
        self.action_command_palette()

    def action_help(self) -> None:
        self.push_screen(HelpScreen(self._key_groups()))

    async def action_quit(self) -> None:
        self.exit()

    def _key_groups(self) -> list[tuple[str, list[tuple[str, Action]]]]:
        screen = self.screen
        place = screen.NAME if isinstance(screen, MonitorScreen) else TABS[0]
        groups = [("this screen", place), ("a recording", "replay"), ("everywhere", "everywhere")]
        return [
            (title, [(self.key_of(action), action) for action in ACTIONS if where in action.where])
            for title, where in groups
            if where != "replay" or self.source.playback is not None
        ]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette's commands: the actions of the keys on this screen."""
        place = screen.NAME if isinstance(screen, MonitorScreen) else ""
        for action in ACTIONS:
            if self._is_offered(action) and {place, "everywhere", "replay"} & set(action.where):
                title = action.id.replace("_", " ").capitalize()
                yield SystemCommand(title, action.help, partial(self._run_named, screen, action.id))

    def _run_named(self, screen: Screen[Any], name: str) -> None:
        owner = screen if "everywhere" not in BY_ID[name].where and "replay" not in BY_ID[name].where else self
        result = getattr(owner, f"action_{name}")()
        if asyncio.iscoroutine(result):
            self.run_worker(result)


def _stamp() -> str:
    return datetime.now().strftime("%Y%m%d-%H%M%S")
