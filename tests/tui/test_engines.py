"""Several engines in tabs, and commands of the user's own on their rows."""

import asyncio
import sys

import pytest

from pie_mlx.tui.dialogs import ConfirmScreen
from pie_mlx.tui.engine_tab import EngineTab
from pie_mlx.tui.model.alerts import alert
from pie_mlx.tui.own_commands import READ_ONLY
from pie_mlx.tui.plugins.plugin import Plugin, Plugins
from pie_mlx.tui.screens.process import ProcessScreen
from pie_mlx.tui.source.base import Link
from tests.tui.harness import StillDemo, monitor, press, screen_text, shown, toasts


class Named(StillDemo):
    """A demo with a name of its own that stands still, or has gone."""

    def __init__(self, label, ticks, link="live"):
        super().__init__(ticks)
        self.label, self._link = label, Link(link)

    async def run(self, feed):
        self.start(feed)
        feed.link(self._link)
        await asyncio.Event().wait()


def studio(link="live"):
    source = Named("studio", 30, link)
    return EngineTab(source, source, "ws://studio:1")


async def test_a_key_a_click_and_a_name_go_to_another_engine():
    async with monitor(Named("desk", 120), others=[studio()]) as (app, pilot):
        assert "● desk" in screen_text(app).replace("  ", " ")
        desk = app.view.programs
        await press(app, pilot, "2", "e")
        assert (app.view.subject, app.current_mode) == ("studio", "inferlets")
        assert app.view.programs != desk
        assert [row.id for row in app.screen.table.rows] == [row.id for row in app.view.programs]
        await pilot.click("#engines", offset=(5, 0))
        await shown(app, pilot)
        assert app.view.subject == "desk"
        await press(app, pilot, "colon", *"studio", "enter")
        assert app.view.subject == "studio"


async def test_a_command_goes_to_the_engine_of_the_tab_and_a_program_of_another_is_closed():
    tab = studio()
    async with monitor(Named("desk", 120), others=[tab]) as (app, pilot):
        before = app.view.state.processes
        await press(app, pilot, "2", "enter", "e")
        assert not isinstance(app.screen, ProcessScreen)
        chosen = app.screen.selected_process()
        await press(app, pilot, "k", "y")
        assert tab.inbox.state().processes[chosen].outcome == "killed"
        await press(app, pilot, "e")
        assert app.view.state.processes == before


async def test_an_engine_that_is_gone_is_dim_and_one_with_an_alert_is_marked():
    alerts = [alert("programs > 0")]
    async with monitor(Named("desk", 0), others=[studio("reconnecting")], alerts=alerts) as (app, pilot):
        await shown(app, pilot)
        desk, gone = app.view.engines
        assert (desk.is_gone, desk.rings, desk.is_shown) == (False, False, True)
        assert (gone.is_gone, gone.rings, gone.is_shown) == (True, True, False)
        assert "studio !" in screen_text(app).replace("  ", " ")
        assert any(text.startswith("studio: programs > 0: ") for text in toasts(app))


async def test_one_engine_has_no_tabs_and_no_key_for_others():
    async with monitor() as (app, pilot):
        assert not app.screen.query("#engines")
        await press(app, pilot, "question_mark")
        assert "The next engine" not in screen_text(app)


async def test_the_help_shows_the_key_for_several_engines():
    async with monitor(Named("desk", 0), others=[studio()], size=(120, 70)) as (app, pilot):
        await press(app, pilot, "question_mark")
        assert "several engines" in screen_text(app)
        assert " e  The next engine" in screen_text(app)


def plugins(**more):
    return Plugins([Plugin(**{"key": "W", "name": "tail", "help": "Follow its log", **more})])


async def told(app, pilot, text):
    """The command has ended, and this was said."""
    for worker in [worker for worker in app.workers if worker.name == "plugin"]:
        await worker.wait()
    await shown(app, pilot)
    assert any(text in toast for toast in toasts(app))


async def test_a_command_of_the_users_own_gets_the_row_and_the_engine(tmp_path):
    write = "import os, sys; open(sys.argv[1], 'w').write(' '.join([*sys.argv[2:], os.environ['PIE_URL']]))"
    command = (sys.executable, "-I", "-S", "-c", write, str(tmp_path / "out"), "{id}", "{program}")
    own = plugins(command=command, background=True)
    async with monitor(Named("desk", 120), others=[studio()], plugins=own) as (app, pilot):
        await press(app, pilot, "e", "2", "down", "W")
        row = app.screen.table.selected_item
        await told(app, pilot, "tail: done")
    assert (tmp_path / "out").read_text() == f"{row.id} {row.program} ws://studio:1"


async def test_a_command_that_fails_or_is_not_there_is_told():
    for more, text in (({"shell": "echo no >&2; exit 2"}, "tail: ended with 2: no"), ({"command": ("/no",)}, "/no")):
        async with monitor(plugins=plugins(background=True, **more)) as (app, pilot):
            await press(app, pilot, "W")
            await told(app, pilot, text)


async def test_a_command_asks_first_if_it_is_to_and_shows_what_will_run():
    async with monitor(plugins=plugins(command=("rm", "{id}"), confirm=True)) as (app, pilot):
        await press(app, pilot, "2", "W")
        assert isinstance(app.screen, ConfirmScreen)
        assert f"$ rm {app.view.programs[0].id}" in screen_text(app)
        await press(app, pilot, "n")
        assert not toasts(app)


async def test_a_terminal_that_cannot_be_given_away_says_so():
    async with monitor(plugins=plugins(shell="true")) as (app, pilot):
        await press(app, pilot, "W")
        assert "run it in the background" in toasts(app)[0]


@pytest.mark.parametrize(
    ("more", "refusal"),
    [({"read_only": True}, READ_ONLY), ({"browser": True}, "tail: it is not for browsers"), ({}, "no row is selected")],
)
async def test_a_command_that_may_not_run_says_why(monkeypatch, more, refusal):
    if more.pop("browser", False):
        monkeypatch.setattr("pie_mlx.tui.app.MonitorApp.is_web", True)
    own = plugins(command=("ls", "{id}"), background=True)
    async with monitor(StillDemo(0), plugins=own, **more) as (app, pilot):
        await press(app, pilot, "2", *(("slash", *"zzz", "enter") if "row" in refusal else ()), "W")
        assert refusal in toasts(app)[0]


async def test_a_browser_runs_what_is_meant_for_it(monkeypatch):
    monkeypatch.setattr("pie_mlx.tui.app.MonitorApp.is_web", True)
    async with monitor(plugins=plugins(shell="true", background=True, in_browser=True)) as (app, pilot):
        await press(app, pilot, "W")
        await told(app, pilot, "tail: done")


async def test_own_commands_are_in_the_help_of_their_screens_and_run_nowhere_else():
    own = Plugins([Plugin("W", shell="exit 1", screens=("market",), name="tail", help="Follow")], ("x.toml: no",))
    async with monitor(plugins=own, size=(120, 70)) as (app, pilot):
        assert "x.toml: no" in screen_text(app)
        await press(app, pilot, "4", "question_mark")
        assert "your own" in screen_text(app)
        assert " W  Follow" in screen_text(app)
        await press(app, pilot, "escape", "2", "W", "question_mark")
        assert "your own" not in screen_text(app)
        assert not toasts(app)
        assert [command.title for command in app.get_system_commands(app.screen_stack[-2])].count("tail") == 0
