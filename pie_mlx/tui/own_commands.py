"""The part of the application that runs commands of the user's own."""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial

from textual.app import SuspendNotSupported

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.dialogs import ConfirmScreen, Question
from pie_mlx.tui.monitor import Monitor
from pie_mlx.tui.plugins.plugin import Plugin, Plugins
from pie_mlx.tui.plugins.running import environment_of, field_name, run_in_background, run_in_foreground, words_of
from pie_mlx.tui.screens.base import MonitorScreen

READ_ONLY = "read-only: nothing can be changed from here"


class OwnCommands(Monitor):
    """`_plugins` are the commands; none runs if the monitor is `_read_only`."""

    _plugins: Plugins
    _read_only: bool

    def bind_plugins(self) -> None:
        """Bind their keys."""
        for key in dict.fromkeys(plugin.key for plugin in self._plugins.all):
            self.bind(key, f"plugin({key!r})", show=False)

    def offered_plugins(self, place: str) -> list[Plugin]:
        """Those that a key runs on a screen."""
        return [plugin for plugin in self._plugins.on(place) if not self._plugin_refusal(plugin)]

    def action_plugin(self, key: str) -> None:
        """Run the user's own command of a key."""
        screen = self.screen
        if isinstance(screen, MonitorScreen) and (plugin := self._plugins.at(key, screen.NAME)):
            self.run_plugin(plugin, screen)

    def run_plugin(self, plugin: Plugin, screen: MonitorScreen) -> None:
        """Run a command with the fields of the selected row, or say why not."""
        if refusal := self._plugin_refusal(plugin):
            self.say(refusal)
            return
        fields = {field_name(name): text for name, text in screen.row_fields().items()}
        try:
            words = words_of(plugin, fields)
        except InvalidArgumentError as error:
            self.say(str(error))
            return
        environment = environment_of(fields, self._engine.url)
        shown = plugin.shell or shlex.join(words)
        run = partial(self._run_words, plugin, words, environment)
        if plugin.confirm:
            question = Question(plugin.name, plugin.action.help, "run it", shown)
            self.push_screen(ConfirmScreen(question), lambda yes: run() if yes else None)
        else:
            run()

    def _plugin_refusal(self, plugin: Plugin) -> str:
        if self._read_only:
            return READ_ONLY
        return f"{plugin.name}: it is not for browsers" if self.is_web and not plugin.in_browser else ""

    def _run_words(self, plugin: Plugin, words: Sequence[str], environment: Mapping[str, str]) -> None:
        if plugin.background:
            self.run_worker(partial(self._run_in_background, plugin.name, words, environment), name="plugin")
            return
        problem = ""
        try:
            with self.suspend():
                try:
                    run_in_foreground(words, environment, input)
                except OSError as error:  # caught here: the terminal does not come back from an error
                    problem = str(error)
        except SuspendNotSupported:
            problem = "this terminal cannot be given away: run it in the background"
        if problem:
            self.say(f"{plugin.name}: {problem}")

    async def _run_in_background(self, name: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        try:
            problem = await run_in_background(words, environment)
        except OSError as error:
            problem = str(error)
        if problem:
            self.say(f"{name}: {problem}")
        else:
            self.notify(f"{name}: done", markup=False)
