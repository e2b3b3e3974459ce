"""The tokens of one program: watched while they are shown, and what is known of the one under the cursor."""

import pytest

from pie_mlx.errors import ProcessError
from pie_mlx.events import DrawnToken, LikelyToken, TokensDrawn
from pie_mlx.tui.model import Record
from pie_mlx.tui.screens.tokens import RECORDED, TokensScreen
from pie_mlx.tui.source.recording import open_recording
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown, still_recording
from tests.tui.pictures import Goldens
from tests.tui.screens.test_screens import SIZES, resize

LIKELY = (LikelyToken(1, " yes", 0.75), LikelyToken(2, " no", 0.2))


async def opened(app, pilot):
    await press(app, pilot, "2", "T")
    return app.screen.selected_process()


def draw(app, process, first, *tokens, rejected=()):
    app.inbox.extend([Record(app.view.state.seconds, TokensDrawn(process, 1, first, tokens, rejected))])


async def test_the_tokens_of_the_demo_look_as_they_did(tmp_path):
    goldens, source = Goldens(tmp_path), StillDemo()
    async with monitor(source, size=SIZES[0]) as (app, pilot):
        await opened(app, pilot)
        for _ in range(260):
            source.tick(app.inbox)
        await settled_text(app, pilot)
        await press(app, pilot, "up", "left")
        for size in SIZES:
            await resize(app, pilot, size)
            goldens.compare_text(f"demo-tokens-{size[0]}x{size[1]}", await settled_text(app, pilot))
    goldens.check()


async def test_a_program_is_watched_while_its_tokens_are_shown():
    source = StillDemo()
    async with monitor(source) as (app, pilot):
        process = await opened(app, pilot)
        assert source.engine.watched == process
        await press(app, pilot, "escape")
        assert source.engine.watched == ""
        await press(app, pilot, "enter", "T")
        assert source.engine.watched == process
        await press(app, pilot, "1")
        assert (app.current_mode, source.engine.watched) == ("overview", "")


async def test_the_token_under_the_cursor_shows_its_alternatives_its_grammar_and_its_drafts():
    async with monitor() as (app, pilot):
        process = await opened(app, pilot)
        draw(app, process, 0, DrawnToken(1, " yes", 0.75, LIKELY, 43), DrawnToken(2, " no", 0.2, LIKELY, 1, True))
        draw(app, process, 2, DrawnToken(1, " yes", 0.75, LIKELY), rejected=(" no",))
        await shown(app, pilot)
        assert "▸ yes" in screen_text(app)
        assert "every token was allowed, rejected drafts: ' no'" in screen_text(app)
        await press(app, pilot, "left")
        assert "▸ no" in screen_text(app)
        assert "forced: nothing else was allowed, an accepted draft" in screen_text(app)
        await press(app, pilot, "home")
        assert "43 tokens were allowed" in screen_text(app)


async def test_the_cursor_follows_the_latest_token_until_it_is_moved():
    async with monitor() as (app, pilot):
        process = await opened(app, pilot)
        text = app.screen.text
        for first, keys in ((0, ()), (1, ("left",)), (2, ("end",)), (3, ())):
            draw(app, process, first, DrawnToken(first, f" {first}", 0.5))
            await shown(app, pilot)
            await press(app, pilot, *keys)
            assert text.token.drawn.token == (0 if first == 1 else first)
        await press(app, pilot, "g")
        draw(app, process, 4, DrawnToken(4, " 4", 0.5))
        await shown(app, pilot)
        assert (text.token.drawn.token, text.follows) == (3, False)


async def test_a_recording_that_is_saved_has_the_tokens_that_were_watched(tmp_path):
    async with monitor(save_directory=tmp_path) as (app, pilot):
        process = await opened(app, pilot)
        draw(app, process, 0, DrawnToken(1, " yes", 0.75, LIKELY))
        await shown(app, pilot)
        await press(app, pilot, "w")
        streams = app.view.state.streams
    (saved,) = tmp_path.iterdir()
    source = open_recording(saved)
    async with monitor(source) as (app, pilot):
        source.playback.seek_to(1.0)
        source.play(app.inbox, 0.0)
        await shown(app, pilot)
        assert app.view.state.streams == streams
        assert streams


async def test_missed_tokens_are_counted_where_they_would_stand():
    async with monitor() as (app, pilot):
        process = await opened(app, pilot)
        for first in (0, 9):
            draw(app, process, first, DrawnToken(1, " yes", 0.75))
        await shown(app, pilot)
        assert "yes[8 missed] yes" in screen_text(app)
        assert "8 missed, following" in screen_text(app)


@pytest.mark.parametrize("number", range(2))
async def test_where_tokens_cannot_be_watched_the_reason_stands_there(number):
    class Refusing(StillDemo):
        async def watch_tokens(self, process):
            raise ProcessError("its program does not show its tokens", hint="its manifest says so")

    source = (Refusing(), still_recording())[number]
    reason = ("its program does not show its tokens", RECORDED)[number]
    async with monitor(source) as (app, pilot):
        await opened(app, pilot)
        assert isinstance(app.screen, TokensScreen)
        assert reason in screen_text(app)
