"""The pool page by page: what the map, the box of a page, and the tables below it show."""

import msgspec

from pie_mlx.errors import SessionClosedError
from pie_mlx.tui.model.pool_books import DiskModel, PageBook, PoolBooks, PoolGroup, StateSlot
from pie_mlx.tui.model.views.page_words import page_lines
from tests.tui.harness import StillDemo, monitor, press, screen_text, settled_text, shown
from tests.tui.stream import FORKED, RUNNING, after

STATE = after(*RUNNING, FORKED)
BOOKS = PoolBooks(
    (
        PoolGroup("held", 2, (1,), pages=((5, 2),)),
        PoolGroup("state", 1, (1,), pages=((9, 1),)),
        PoolGroup("cached", 1, pages=((2, 1),), stored=True),
        PoolGroup("free", 60, pages=((10, 60),)),
    ),
    (StateSlot(1, (9,), 40, (16, 32)),),
    (DiskModel("pie-tiny", 12, 3_000_000), DiskModel("", 1, 500)),
    "pie-tiny",
)


class Booked(StillDemo):
    """A source with books of its own."""

    books: PoolBooks | None = BOOKS

    async def pool(self, model=""):
        if self.books is None:
            raise SessionClosedError("there is no connection to an engine")
        return self.books

    async def page(self, number, model=""):
        return PageBook(number, "held", (1,), text=f"text of {number}")


async def test_the_title_the_disk_and_the_states_are_those_of_the_books():
    async with monitor(Booked(), size=(140, 40)) as (app, pilot):
        await press(app, pilot, "5")
        text = await settled_text(app, pilot)
    assert "3 used, 0 of them shared, 1 cached, 60 free, 1 also on disk" in text
    assert [line.split("│")[1].split() for line in text.splitlines() if "MB" in line] == [["pie-tiny", "12", "3MB"]]
    assert "(of another v" in text
    assert "#1 9                 40 16 32" in text


async def test_the_title_says_how_old_the_books_are():
    async with monitor(Booked(), size=(140, 40)) as (app, pilot):
        await press(app, pilot, "5")
        assert "Pool by owner: 3 used" in await settled_text(app, pilot)
        app.inbox.advance(app.view.state.seconds + 0.7)
        await shown(app, pilot)
        assert "Pool by owner, 0.7 s ago: 3 used" in screen_text(app)


async def test_the_cursor_of_the_map_shows_the_page_and_the_box_goes_with_the_focus():
    async with monitor(Booked(), size=(140, 40)) as (app, pilot):
        await press(app, pilot, "5")
        await settled_text(app, pilot)
        app.screen.map.focus()
        assert "“text of 5”" in await settled_text(app, pilot)
        for key, page in (("right", 6), ("right", 9), ("right", 2), ("left", 9)):
            await press(app, pilot, key)
            assert f"“text of {page}”" in await settled_text(app, pilot)
        app.screen.forest.focus()
        assert "“text of" not in await settled_text(app, pilot)


async def test_colours_tell_owner_last_use_or_what_also_lies_on_disk():
    async with monitor(Booked(), size=(140, 40)) as (app, pilot):
        await press(app, pilot, "5")
        await settled_text(app, pilot)
        for look in ("last use", "disk", "owner"):
            await press(app, pilot, "h")
            assert f"Pool by {look}:" in screen_text(app)
            assert ("■ also on disk 1" in screen_text(app)) == (look == "disk")


async def test_without_an_engine_the_map_is_what_events_tell():
    source = Booked()
    source.books = None
    async with monitor(source) as (app, pilot):
        await press(app, pilot, "5")
        pages = app.view.state.pages
        assert f"{pages.used} used, {pages.shared} of them shared, {pages.cached} cached" in screen_text(app)
        assert not app.screen.has_class("-tiers")


def test_a_page_says_all_that_is_known_of_it():
    page = PageBook(7, "held", (1, 2), 1, "ada", "ab" * 16, "cd" * 16, 32, 16, 95.0, 3.0, True, True, 8, "the text")
    assert page_lines(page, STATE) == [
        "page 7: full, held by #1 of chat@1.0.0 p, #2 of chat@1.0.0 p, 1 of others",
        "16 tokens from number 32 of their text, computed for ada",
        "key abababababab, after cdcdcdcdcdcd",
        "in the pool for 1:35, last used 3s ago, "
        "also in the disk cache, in the spill file, a state is kept after token 8",
        "“the text”",
    ]
    first = msgspec.structs.replace(page, first=0, text="", user="", stored=False, spilled=False, state_tokens=None)
    assert "key abababababab, after nothing: it is the first" in page_lines(first, STATE)
    assert page_lines(PageBook(3, "free"), STATE) == ["page 3: free"]
