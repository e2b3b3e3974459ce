"""Every key of every screen."""

import asyncio
import shlex
from pathlib import Path

import click
import pytest
from textual.command import CommandPalette
from textual.screen import ModalScreen
from textual.widgets import Input

from pie_mlx.cli.main import pie
from pie_mlx.event_log import read_events
from pie_mlx.tui import commands, screens
from pie_mlx.tui.actions import ACTIONS, APP_WIDE, BY_ID, TABS, bindings, keys_table
from pie_mlx.tui.app import MonitorApp
from pie_mlx.tui.choosing import ChooseScreen
from pie_mlx.tui.dialogs import ConfirmScreen, PromptScreen
from pie_mlx.tui.keymap import Keymap, read_keymap
from pie_mlx.tui.model.facts import Facts, InstalledProgram
from pie_mlx.tui.own_commands import READ_ONLY
from pie_mlx.tui.preferences import Preferences
from pie_mlx.tui.screens.help import HelpScreen
from pie_mlx.tui.screens.process import ProcessScreen
from pie_mlx.tui.screens.tokens import TokensScreen
from pie_mlx.tui.source.recording import open_recording
from pie_mlx.tui.widgets.bars import ReplayBar
from pie_mlx.tui.widgets.palette import CYCLE
from pie_mlx.tui.widgets.table import Table
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown, still_recording, toasts

PLACES = (*TABS, "process", "tokens")
LEADING_AWAY = ("back", "open", "show_logs", "show_pages", "show_tokens")
OPENING = {"process": ("2", "enter"), "tokens": ("2", "T")}
STEERING = [action.id for action in ACTIONS if action.steers]


async def go(app, pilot, place):
    await press(app, pilot, *(OPENING.get(place) or str((TABS.index(place) + 1) % 10)))


async def test_every_key_of_every_screen_breaks_nothing():
    async with monitor() as (app, pilot):
        for place in PLACES:
            await go(app, pilot, place)
            for action in ACTIONS:
                if place in action.where and action.id not in LEADING_AWAY:
                    await press(app, pilot, action.keys.split(",")[0])
                    assert screen_text(app).count("\n") == app.size.height, action.id
                    if isinstance(app.screen, ModalScreen) or isinstance(app.focused, Input):
                        await press(app, pilot, "escape")
                    assert getattr(app.screen, "NAME", "") == place, action.id


async def test_the_keys_of_every_screen_work_on_each_of_them(tmp_path):
    everywhere = [BY_ID[name] for name in ("pause", "maximise", "theme", "screenshot", "save_recording")]
    async with monitor(size=(80, 24), save_directory=tmp_path) as (app, pilot):
        for place in PLACES:
            await go(app, pilot, place)
            before = app.theme
            for action in everywhere:
                await press(app, pilot, action.keys)
                assert getattr(app.screen, "NAME", "") == place, action.id
            assert app.view.paused
            assert app.theme != before
            await press(app, pilot, "space", *(["m"] if app.screen.maximized else []))
            for key, kind in (("question_mark", HelpScreen), ("colon", ChooseScreen), ("ctrl+p", CommandPalette)):
                await press(app, pilot, key)
                assert isinstance(app.screen, kind)
                await press(app, pilot, "escape")
            assert getattr(app.screen, "NAME", "") == place
    assert {file.suffix for file in tmp_path.iterdir()} == {".svg", ".events"}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_has_a_method_where_it_is_bound(action):
    anywhere = APP_WIDE & set(action.where)
    owners = [MonitorApp] if anywhere else [screen_of(name) for name in action.where]
    assert all(callable(getattr(owner, f"action_{action.id}", None)) for owner in owners)


def screen_of(name):
    return {"process": ProcessScreen, "tokens": TokensScreen}.get(name) or MonitorApp.MODES[name]


def test_no_key_means_two_things_on_a_screen():
    for place in PLACES:
        keys = [key for binding in (*bindings(place), *bindings("everywhere")) for key in binding.key.split(",")]
        assert len(keys) == len(set(keys)), place


def test_the_keys_in_the_documentation_are_those_of_the_table():
    page = Path(__file__).parents[2] / "docs" / "monitor.md"
    assert keys_table() in page.read_text(encoding="utf-8")


def test_every_screen_has_a_stylesheet():
    folder = Path(screens.__file__).parent
    assert {file.stem for file in folder.glob("*.tcss")} == {*TABS, "process", "tokens"}


async def test_digits_and_arrows_change_screens():
    async with monitor() as (app, pilot):
        for number, tab in enumerate(TABS, 1):
            await press(app, pilot, str(number % 10))
            assert app.current_mode == tab
        await press(app, pilot, "right")
        assert app.current_mode == "overview"
        await press(app, pilot, "left")
        assert app.current_mode == "engine"


async def test_arrows_move_the_selection_and_it_stays_with_its_program():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "down", "down")
        chosen = app.screen.selected_process()
        assert chosen == app.view.programs[2].id
        await press(app, pilot, "r")
        assert app.screen.selected_process() == chosen
        await press(app, pilot, "home")
        assert app.screen.selected_process() == app.screen.table.rows[0].id
        await press(app, pilot, "end", "pageup", "pagedown", "up")
        assert app.screen.selected_process() == app.screen.table.rows[-2].id


async def test_columns_sort_one_after_the_other():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "greater_than_sign", "greater_than_sign")
        names = [row.program for row in app.screen.table.rows]
        assert names == sorted(names)
        await press(app, pilot, "r")
        assert [row.program for row in app.screen.table.rows] == sorted(names, reverse=True)
        await press(app, pilot, "less_than_sign", "less_than_sign")
        assert [row.id for row in app.screen.table.rows] == [row.id for row in app.view.programs]


async def test_a_click_on_a_heading_sorts_and_one_on_a_row_selects():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2")
        await pilot.click("#programs", offset=(14, 1))
        names = [row.program for row in app.screen.table.rows]
        assert names == sorted(names)
        await pilot.click("#programs", offset=(14, 4))
        assert app.screen.selected_process() == app.screen.table.rows[2].id
        await pilot.click("#programs", offset=(14, 4), times=2)
        await pilot.pause()
        assert isinstance(app.screen, ProcessScreen)


async def test_a_filter_shows_what_contains_it_until_escape():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "slash", *"chat")
        assert {row.program for row in app.screen.table.rows} == {"chat@0.3.1"}
        await press(app, pilot, "enter")
        assert app.focused is app.screen.table
        await press(app, pilot, "escape")
        assert len(app.screen.table.rows) == len(app.view.programs)


async def test_a_filter_that_nothing_passes_says_so():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "slash", *"zzz")
        assert "nothing matches 'zzz'" in screen_text(app)


@pytest.mark.parametrize(("place", "table"), [("overview", "top"), ("market", "wallets"), ("pages", "tree")])
async def test_every_table_is_filtered_and_sorted(place, table):
    async with monitor() as (app, pilot):
        await go(app, pilot, place)
        rows = app.screen.query_one(f"#{table}", Table)
        rows.focus()
        await press(app, pilot, "slash", *"chat")
        assert rows.rows
        assert "chat" in " ".join(text for _, text in rows.fields())
        assert "/chat: " in screen_text(app)
        await press(app, pilot, "enter", "greater_than_sign")
        assert rows.order[0]
        await press(app, pilot, "escape")
        assert rows.filter == ""


async def test_a_tree_that_is_sorted_has_no_branches():
    async with monitor() as (app, pilot):
        await press(app, pilot, "5")
        assert "└─ #" in screen_text(app)
        await press(app, pilot, "less_than_sign")
        assert app.screen.forest.order == ("passes", True)
        assert "└─ #" not in screen_text(app)


async def test_the_order_of_a_table_is_kept_for_the_next_time(tmp_path):
    async with monitor(preferences=Preferences(tmp_path / "state.json")) as (app, pilot):
        await press(app, pilot, "2", "greater_than_sign", "greater_than_sign", "r")
        kept = app.screen.table.order
    async with monitor(preferences=Preferences(tmp_path / "state.json")) as (app, pilot):
        await press(app, pilot, "2")
        assert app.screen.table.order == kept == ("program", True)


def test_preferences_that_cannot_be_read_count_as_none(tmp_path):
    (tmp_path / "state.json").write_text("{")
    assert Preferences(tmp_path / "state.json").order("inferlets/programs") is None


async def test_a_colon_goes_to_a_screen_and_to_a_program():
    async with monitor() as (app, pilot):
        await press(app, pilot, "colon", *"mar", "tab")
        assert app.screen.field.value == "market"
        await press(app, pilot, "enter")
        assert app.current_mode == "market"
        wanted = app.view.programs[3]
        await press(app, pilot, "colon", *wanted.short_id, "enter")
        assert isinstance(app.screen, ProcessScreen)
        assert app.screen.selected_process() == wanted.id
        await press(app, pilot, "escape")
        assert (app.current_mode, app.screen.selected_process()) == ("inferlets", wanted.id)


async def test_a_letter_jumps_to_a_panel():
    async with monitor() as (app, pilot):
        await press(app, pilot, "4", "j")
        assert " c " in screen_text(app)
        await press(app, pilot, "c")
        assert app.focused.id == "evictions"


async def test_a_panel_that_a_small_terminal_cuts_off_is_read_on_the_whole_screen():
    async with monitor(size=(80, 24)) as (app, pilot):
        await press(app, pilot, "0")
        assert "all others" not in screen_text(app)
        app.screen.machine.focus()
        await press(app, pilot, "m")
        assert "all others" in await settled_text(app, pilot)


async def test_the_id_a_cell_or_the_row_is_copied():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2")
        row = app.screen.table.selected_item
        for name, text in (("id", row.id), ("user", row.username)):
            await press(app, pilot, "y", *name, "enter")
            assert app.clipboard == text
        await press(app, pilot, "y", "enter")
        assert app.clipboard.split("\t")[:3] == [row.short_id, row.program, row.username]


async def test_a_program_leads_to_its_logs_with_its_own_output_first_and_to_its_pages():
    async with monitor(StillDemo()) as (app, pilot):
        await press(app, pilot, "2", "slash", *"tool-agent", "enter", "L")
        lines = app.screen.table.rows
        process = app.screen.selected_process()
        assert {line.process for line in lines} == {process}
        assert [line.own for line in lines] == sorted((line.own for line in lines), reverse=True)
        assert {line.own for line in lines} == {True, False}
        await press(app, pilot, "2", "P")
        assert (app.current_mode, app.screen.selected_process()) == ("pages", process)
        await press(app, pilot, "7", "escape")
        assert len({line.process for line in app.screen.table.rows}) > 1


async def test_enter_opens_a_program_and_escape_leaves_it():
    async with monitor() as (app, pilot):
        for number in ("1", "2", "4", "5"):
            await press(app, pilot, number, "enter")
            assert isinstance(app.screen, ProcessScreen), number
            await press(app, pilot, "escape")
            assert app.current_mode == TABS[int(number) - 1]


async def test_a_digit_leaves_the_detail_view_too():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "enter", "4")
        assert app.current_mode == "market"
        assert not isinstance(app.screen, ProcessScreen)


@pytest.mark.parametrize("place", ["market", "process"])
async def test_kill_asks_first(place):
    async with monitor() as (app, pilot):
        await go(app, pilot, place)
        chosen = app.screen.selected_process()
        await press(app, pilot, "k")
        assert isinstance(app.screen, ConfirmScreen)
        assert f"pie kill {chosen[:8]}" in screen_text(app)
        await press(app, pilot, "n")
        assert app.view.state.processes[chosen].lives
        await press(app, pilot, "k", "y")
        assert app.view.state.processes[chosen].outcome == "killed"


async def test_suspend_takes_the_pages_of_the_selected_program():
    async with monitor() as (app, pilot):
        chosen = app.screen.selected_process()
        await press(app, pilot, "z", "y")
        contexts = [context for context in app.view.state.contexts.values() if context.process == chosen]
        assert {context.activity for context in contexts} == {"suspended"}


async def test_a_bid_must_be_a_number_of_0_or_more():
    async with monitor() as (app, pilot):
        chosen = app.screen.selected_process()
        await press(app, pilot, "b")
        field = app.screen.query_one("#answer", Input)
        problems = {"lots": "a bid is a number", "-1": "0 or more", "nan": "0 or more", "inf": "finite"}
        for text, problem in problems.items():
            field.value = text
            await press(app, pilot, "enter")
            assert problem in screen_text(app)
            assert isinstance(app.screen, PromptScreen)
        field.value = "0.75"
        await press(app, pilot, "enter")
        contexts = [context for context in app.view.state.contexts.values() if context.process == chosen]
        assert {context.bid for context in contexts} == {0.75}


async def test_how_long_a_bid_holds_is_said_before_and_after():  # B2
    async with monitor() as (app, pilot):
        await press(app, pilot, "b")
        assert "next pass, which bids anew" in screen_text(app)
        await press(app, pilot, "enter")
        assert any("next pass, which bids anew" in text for text in toasts(app))


async def test_a_program_that_has_ended_cannot_be_steered():
    async with monitor() as (app, pilot):
        await app.controller.kill(app.view.programs[0].id)
        await press(app, pilot, "2", "end", "k")
        assert not isinstance(app.screen, ConfirmScreen)
        assert any("has ended" in text for text in toasts(app))


async def test_a_message_goes_to_the_program_and_its_answer_is_shown():
    async with monitor() as (app, pilot):
        await press(app, pilot, "3", "i", *"hello", "enter")
        await press(app, pilot, "escape")
        assert "You said: hello" in screen_text(app)


async def test_a_message_can_be_sent_from_the_detail_view():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "enter", "i", *"hi", "enter")
        assert "You said: hi" in screen_text(app)


async def test_a_file_must_exist(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    async with monitor() as (app, pilot):
        await press(app, pilot, "3", "f", *"none", "enter")
        assert "there is no such file" in screen_text(app)
        app.screen.query_one("#answer", Input).value = str(tmp_path / "notes.txt")
        await press(app, pilot, "enter")
        assert "You said: notes.txt" in screen_text(app)


async def test_attach_says_that_it_is_done():
    async with monitor() as (app, pilot):
        await press(app, pilot, "3", "a")
        assert any("attached to" in text for text in toasts(app))


async def test_copy_puts_the_command_into_the_clipboard():
    async with monitor() as (app, pilot):
        chosen = app.screen.selected_process()
        await press(app, pilot, "c")
        assert app.clipboard == f"pie logs {chosen[:8]}"
        await press(app, pilot, "3", "c")
        assert app.clipboard == f"pie attach {app.screen.selected_process()[:8]}"


async def test_every_command_that_is_shown_is_one_of_pie():
    process = "12345678-90ab"
    written = [commands.kill(process), commands.logs(process), commands.attach(process), commands.run("a", {"b": 1}, 5)]
    async with monitor() as (app, pilot):
        await press(app, pilot, "k")
        written.append(app.screen.question.command)
        await press(app, pilot, "n", "z")
        assert not app.screen.question.command  # no verb suspends: only the monitor does
    for command in written:
        name, verb, *words = shlex.split(command)
        assert name == "pie"
        pie.get_command(click.Context(pie), verb).make_context(verb, words)


async def test_nothing_is_changed_in_read_only_mode():
    async with monitor(read_only=True) as (app, pilot):
        before = app.view.state
        await press(app, pilot, "k", "z", "b")
        assert toasts(app) == [READ_ONLY] * 3
        assert app.view.state == before
        assert not {BY_ID[name].label for name in STEERING} & {label for _, label in app.key_labels("overview")}


async def test_a_recording_says_that_it_cannot_be_steered():
    async with monitor(still_recording()) as (app, pilot):
        await press(app, pilot, "k", "z", "b")
        assert toasts(app) == ["a recording cannot be steered"] * 3


async def test_space_pauses_the_view_and_what_happened_meanwhile_is_there_afterwards():
    source = StillDemo()
    async with monitor(source) as (app, pilot):
        await press(app, pilot, "space")
        events = app.view.state.events
        source.tick(app.inbox)
        await press(app, pilot, "2")
        assert "PAUSED" in screen_text(app)
        assert app.view.state.events == events
        await press(app, pilot, "space")
        assert app.view.state.events > events


async def test_a_recording_is_paused_stepped_and_sought_by_keys():
    source = still_recording(0.5)
    async with monitor(source) as (app, pilot):
        ticks = app.view.state.ticks
        for key, expected in (("right_square_bracket", 1), ("left_square_bracket", 0)):
            await pilot.press(key)
            source.play(app.inbox, 0.0)
            await press(app, pilot, "1")
            assert app.view.state.ticks == ticks + expected
        place = source.playback.position_seconds
        await pilot.press("right_curly_bracket")
        assert source.playback.position_seconds == pytest.approx(place + 5)
        await pilot.press("left_curly_bracket", "left_curly_bracket")
        assert source.playback.position_seconds == pytest.approx(place - 5)
        await pilot.press("equals_sign", "plus", "minus")
        assert source.playback.speed == 2.0
        await pilot.press("space")
        assert source.playback.playing


async def test_a_click_on_the_bar_of_a_recording_seeks():
    source = still_recording(0.0)
    async with monitor(source) as (_, pilot):
        await pilot.click(ReplayBar, offset=(60, 0))
        assert 0.4 < source.playback.fraction < 0.6


async def test_a_click_on_a_tab_shows_its_screen():
    async with monitor() as (app, pilot):
        await pilot.click("#tabs", offset=(16, 0))
        await pilot.pause()
        assert app.current_mode == "inferlets"


async def test_the_level_and_the_end_of_the_log_are_chosen_by_keys():
    async with monitor() as (app, pilot):
        await press(app, pilot, "7")
        assert "info and up, following" in screen_text(app)
        await press(app, pilot, "l", "up")
        assert "warning and up, g follows" in screen_text(app)
        await press(app, pilot, "g", "l", "l")
        assert "debug and up, following" in screen_text(app)
        await press(app, pilot, "slash", *"suspended", "enter")
        assert all("suspended" in line.text for line in app.screen.table.rows)
        await press(app, pilot, "escape")


async def test_a_panel_takes_the_whole_screen_and_gives_it_back():
    async with monitor() as (app, pilot):
        await press(app, pilot, "m")
        assert "Clearing price" not in screen_text(app)
        await press(app, pilot, "m")
        assert "Clearing price" in screen_text(app)
        await press(app, pilot, "m", "escape")
        assert "Clearing price" in screen_text(app)


async def test_themes_follow_each_other():
    async with monitor() as (app, pilot):
        seen = []
        for _ in CYCLE:
            seen.append(app.theme)
            await press(app, pilot, "t")
        assert (tuple(seen), app.theme) == (CYCLE, CYCLE[0])


async def test_a_picture_of_the_screen_is_saved(tmp_path):
    async with monitor(save_directory=tmp_path) as (app, pilot):
        await press(app, pilot, "s")
        (picture,) = tmp_path.glob("pie-*.svg")
        assert picture.read_text(encoding="utf-8").startswith("<svg")


async def test_what_was_seen_is_saved_and_can_be_read_back(tmp_path):
    async with monitor(save_directory=tmp_path) as (app, pilot):
        await press(app, pilot, "w")
        (recording,) = tmp_path.glob("pie-*.events")
        assert len(read_events(recording).events) >= app.view.state.events


async def test_a_recording_is_saved_whole_wherever_it_stands(tmp_path):
    source = still_recording(0.2)
    async with monitor(source, save_directory=tmp_path) as (app, pilot):
        await press(app, pilot, "w")
        (copy,) = tmp_path.glob("pie-*.events")
        assert open_recording(copy).records == source.records


async def test_what_cannot_be_saved_is_told(tmp_path):
    async with monitor(save_directory=tmp_path / "missing") as (app, pilot):
        await press(app, pilot, "w", "s")
        assert len(toasts(app)) == 2
        assert all("No such file" in text for text in toasts(app))


async def test_help_lists_the_keys_of_the_screen():
    async with monitor() as (app, pilot):
        await press(app, pilot, "2", "question_mark")
        assert isinstance(app.screen, HelpScreen)
        assert BY_ID["reverse"].help in screen_text(app)
        await press(app, pilot, "escape")
        assert app.current_mode == "inferlets"


@pytest.mark.parametrize(("rows", "places"), [(60, {"everywhere", "inferlets"}), (24, {"inferlets"})])
async def test_help_cuts_no_line_on_the_narrowest_terminal(rows, places):
    async with monitor(size=(80, rows)) as (app, pilot):
        await press(app, pilot, "2", "question_mark")
        shown = await settled_text(app, pilot)
        listed = [action for action in ACTIONS if places & set(action.where)]
        assert [action.id for action in listed if action.help + " ⚠" * action.steers not in shown] == []


async def test_the_key_that_ends_a_program_is_named_on_the_narrowest_terminal():
    async with monitor(size=(80, 24)) as (app, pilot):
        await press(app, pilot, "2")
        assert "k kill" in await settled_text(app, pilot)


async def test_the_border_of_the_log_has_the_whole_text_of_the_selected_line():
    async with monitor(size=(109, 30)) as (app, pilot):
        await press(app, pilot, "7", "l")
        line = app.screen.table.selected_item
        title, *table = (await settled_text(app, pilot)).splitlines()[2:]
        assert line.text in title
        assert not any(line.text in row for row in table)


async def test_the_palette_runs_a_command_of_the_screen():
    async with monitor() as (app, pilot):
        commands = {command.title: command for command in app.get_system_commands(app.screen)}
        commands["Market"].callback()
        await pilot.pause()
        assert app.current_mode == "market"
        await press(app, pilot, "ctrl+p", "escape", "1")
        commands["Kill"].callback()
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)


async def test_q_leaves():
    async with monitor() as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert app.return_code == 0


async def test_a_form_is_made_from_the_parameters_and_launches():
    async with monitor() as (app, pilot):
        await press(app, pilot, "8")
        assert "prompt: it is required" in screen_text(app)
        await press(app, pilot, "enter", *"hi")
        assert '$ pie run deep-research@1.2.0 --input \'{"prompt": "hi"}\'' in screen_text(app)
        app.screen.query_one("#budget", Input).value = "none"
        await shown(app, pilot)
        assert "token budget: it is a number" in screen_text(app)
        app.screen.query_one("#budget", Input).value = "100"
        await shown(app, pilot)
        app.screen.go.press()
        await shown(app, pilot)
        assert isinstance(app.screen, ProcessScreen)
        assert "deep-research@1.2.0" in screen_text(app)


async def test_another_program_brings_another_form():
    async with monitor() as (app, pilot):
        await press(app, pilot, "8", "down")
        assert "Launch chat@0.3.1" in screen_text(app)


async def test_what_answers_requests_is_not_offered_for_a_launch():
    async with monitor() as (app, pilot):
        programs = (InstalledProgram("openai", "1.0.0", answers_requests=True), InstalledProgram("chat", "1.0.0"))
        app.inbox.facts(Facts((), programs))
        await press(app, pilot, "8")
        assert "chat" in screen_text(app)
        assert "openai" not in screen_text(app)


async def test_a_launch_that_is_refused_says_why():
    async with monitor(read_only=True) as (app, pilot):
        await press(app, pilot, "8", "enter", *"hi")
        app.screen.go.press()
        await shown(app, pilot)
        assert toasts(app) == [READ_ONLY]


async def test_keys_of_the_users_own_replace_the_defaults():
    async with monitor(keymap=Keymap({"kill": "x"})) as (app, pilot):
        await press(app, pilot, "k")
        assert not isinstance(app.screen, ConfirmScreen)
        await press(app, pilot, "x")
        assert isinstance(app.screen, ConfirmScreen)
        assert ("x", "kill") in app.key_labels("overview")


def test_a_keymap_tells_what_is_wrong_and_keeps_the_rest(tmp_path):
    (tmp_path / "keys.toml").write_text('kill = "x"\nfly = "y"\nbid = 3\n')
    keymap = read_keymap(tmp_path / "keys.toml")
    assert keymap.keys == {"kill": "x"}
    assert [problem.partition(": ")[2] for problem in keymap.problems] == [
        "there is no action 'fly'",
        'bid: write a key in quotes, e.g. "x" or "ctrl+k"',
    ]


def test_a_key_of_another_action_is_refused_by_name_unless_that_has_one_of_its_own(tmp_path):
    (tmp_path / "keys.toml").write_text('kill = "t"\nbid = "/,B"\nheat = "l"\ntheme = "W"\nsuspend = "m"\n')
    keymap = read_keymap(tmp_path / "keys.toml")
    assert keymap.keys == {"kill": "t", "heat": "l", "theme": "W"}  # `l` is of another screen
    assert [problem.partition(": ")[2] for problem in keymap.problems] == [
        "bid: the key '/,B' is that of 'filter'",
        "suspend: the key 'm' is that of 'maximise'",
    ]


@pytest.mark.parametrize("content", [b"kill = ", b"\xff\xfe"])
def test_a_keymap_that_cannot_be_read_is_a_problem_not_an_error(tmp_path, content):
    (tmp_path / "keys.toml").write_bytes(content)
    keymap = read_keymap(tmp_path / "keys.toml")
    assert (keymap.keys, len(keymap.problems)) == ({}, 1)


async def test_problems_of_the_keymap_stand_on_the_screen():
    async with monitor(keymap=read_keymap(Path("/nowhere/keys.toml"))) as (app, pilot):
        assert "/nowhere/keys.toml" in screen_text(app)
        del pilot


async def test_an_action_the_engine_refuses_is_told():
    class Refusing(StillDemo):
        async def kill(self, process):
            await asyncio.sleep(0)
            raise OSError("the connection was lost")

    async with monitor(Refusing()) as (app, pilot):
        await press(app, pilot, "k", "y")
        assert toasts(app) == ["the connection was lost"]


async def test_pages_are_coloured_by_their_last_use_or_by_owner():
    async with monitor() as (app, pilot):
        await press(app, pilot, "5")
        assert "Pool by owner" in screen_text(app)
        await press(app, pilot, "h")
        assert "used now" in screen_text(app)
        await press(app, pilot, "h")
        assert "used now" not in screen_text(app)
