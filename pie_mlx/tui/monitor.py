"""The application as screens use it: the view, the keys, notices, dialogs, and the controller."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import msgspec
from textual.app import App

from pie_mlx.errors import PieError
from pie_mlx.plural import plural
from pie_mlx.tui.actions import ACTIONS, APP_WIDE, ENGINES, MODELS, REPLAY, Action, key_name
from pie_mlx.tui.choosing import ChooseScreen
from pie_mlx.tui.controller import Controller
from pie_mlx.tui.dialogs import ConfirmScreen, PromptScreen
from pie_mlx.tui.engine_tab import EngineTab
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.keymap import Keymap
from pie_mlx.tui.model.text import one_line
from pie_mlx.tui.preferences import Order, Preferences
from pie_mlx.tui.source.base import EventSource
from pie_mlx.tui.view import View


class Monitor(App[None]):
    """The base of the application, which screens use. The subclass knows the screens and shows them."""

    def __init__(
        self, engines: Sequence[EngineTab], keymap: Keymap, preferences: Preferences, notices: Sequence[str] = ()
    ) -> None:
        """The first of the `engines` is shown. `notices` stand on every screen."""
        super().__init__()
        self.engines = engines
        self.preferences = preferences
        self._engine = engines[0]
        self._keymap_file = keymap
        self._paused = False
        self._notice = "; ".join((*keymap.problems, *notices))
        self.view = self._current_view()

    @property
    def source(self) -> EventSource:
        """Of the engine that is shown."""
        return self._engine.source

    @property
    def controller(self) -> Controller:
        """Of the engine that is shown."""
        return self._engine.controller

    @property
    def inbox(self) -> Inbox:
        """What has come from the engine that is shown."""
        return self._engine.inbox

    def refresh_now(self) -> None:
        """Show everything up to now, unless the view is paused."""
        raise NotImplementedError

    def show_tab(self, tab: str) -> None:
        """Switch to another screen, closing the detail view."""
        raise NotImplementedError

    def show_program(self, tab: str, process: str) -> None:
        """Switch to another screen and show what it has of a program."""
        raise NotImplementedError

    def show_engine(self, place: int) -> None:
        """Show another engine, on the same screen."""
        raise NotImplementedError

    def show_model(self, name: str) -> None:
        """Show the pages and the market of another model."""
        raise NotImplementedError

    def open_process(self, process: str) -> None:
        """Show the detail view of a program."""
        raise NotImplementedError

    def open_tokens(self, process: str) -> None:
        """Show the tokens that a program draws."""
        raise NotImplementedError

    def key_labels(self, place: str) -> list[tuple[str, str]]:
        """The keys of a screen's key bar, with their labels."""
        return [
            (self.key_of(action), action.label)
            for action in ACTIONS
            if action.label and self._is_offered(action) and {place, *APP_WIDE} & set(action.where)
        ]

    def key_of(self, action: Action) -> str:
        """The key of an action, as the user has set it."""
        return key_name(self._keymap_file.keys.get(action.id, action.keys))

    def _is_offered(self, action: Action) -> bool:
        if action.steers and self.controller.refusal:
            return False
        if action.where == ENGINES:
            return len(self.engines) > 1
        if action.where == MODELS:
            return len(self.view.models) > 1
        return action.where != REPLAY or self.source.playback is not None

    def say(self, text: str) -> None:
        """Show a line that disappears after a while."""
        self.notify(text, severity="warning", markup=False)

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard."""
        self.copy_to_clipboard(text)
        self.notify(f"copied: {one_line(text)}", markup=False)

    def keep_order(self, table: str, order: Order) -> None:
        """Keep the order of a table for the next time."""
        try:
            self.preferences.keep_order(table, order)
        except OSError as error:
            self.say(f"the order of the table is not kept: {error}")

    def choose(self, screen: ChooseScreen, work: Callable[[str], None]) -> None:
        """Run `work` with the key of the choice, if there is one."""
        self.push_screen(screen, lambda key: work(key) if key is not None else None)

    def confirm(self, screen: ConfirmScreen, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work` if the user confirms."""
        self.push_screen(screen, lambda yes: self.steer(work, f"{screen.question.title}: done") if yes else None)

    def prompt(self, screen: PromptScreen, work: Callable[[str], Awaitable[object]], done: str = "done") -> None:
        """Run `work` with the text that the user writes."""
        self.push_screen(screen, lambda text: self.steer(partial(work, text), done) if text is not None else None)

    def steer(self, work: Callable[[], Awaitable[object]], done: str) -> None:
        """Run `work` of the controller in the background, and show its success or error."""
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
        """Show a program that was started from here."""
        self.refresh_now()
        self.open_process(process)

    def seek_to(self, fraction: float) -> None:
        """Move to a place of the recording."""
        if self.source.playback is not None:
            self.source.playback.seek_to(fraction)

    def _current_view(self) -> View:
        state = self.inbox.state()
        as_of = self._engine.silent_since(state)
        notices = [f"as of {as_of}" if as_of else "", self._notice, self.inbox.connection.text]
        if state.unknown:
            notices.append(f"{plural(state.unknown, 'event')} of kinds this version does not know")
        if state.lost:
            notices.append(f"{plural(state.lost, 'event was', 'events were')} missed")
        return View(
            state=msgspec.structs.replace(state, shown=self._engine.model),
            link=self.inbox.connection,
            facts=self.inbox.known,
            subject=self.source.label,
            playback=self.source.playback,
            paused=self._paused,
            refusal=self.controller.refusal,
            notice=one_line("; ".join(notice for notice in notices if notice)),
            as_of=as_of,
            engines=tuple(each.mark(each.inbox.state(), is_shown=each is self._engine) for each in self.engines),
        )
