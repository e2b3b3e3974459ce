"""One program on a screen of its own."""

from pie_mlx.events import PassCompleted
from pie_mlx.tui.model import Record
from tests.tui.harness import monitor, press, screen_text, shown
from tests.tui.screens.test_tokens import opened


async def test_why_a_prompt_was_not_cached_stands_under_the_input_of_its_program():
    async with monitor(size=(120, 40)) as (app, pilot):
        process = await opened(app, pilot)
        await press(app, pilot, "escape", "enter")
        missed = PassCompleted(process, 1, 48, 0, 1, miss="token 6: evicted", miss_reason="evicted")
        app.inbox.extend([Record(app.view.state.seconds, missed)])
        await shown(app, pilot)
        assert "not cached: token 6: evicted" in screen_text(app)
