"""Parts of screens by themselves: while a terminal is resized, each is given whatever room is left."""

from itertools import product

import pytest

from pie_mlx.tui.model.context import Span
from pie_mlx.tui.model.process import Output
from pie_mlx.tui.widgets.bars import Heading, KeyBar, Place, ReplayBar, StatusBar, TabBar
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.chart import Chart, braille_rows, time_axis
from pie_mlx.tui.widgets.column import Column, laid_out
from pie_mlx.tui.widgets.page_map import PageMap
from pie_mlx.tui.widgets.share_bar import Share, ShareBar
from pie_mlx.tui.widgets.stats import Stat, StatRow, column_widths
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.timeline import Lane, Timeline
from pie_mlx.tui.widgets.transcript import Transcript

SHARES = [Share("own", 5, "main"), Share("free", 3, "faint")]
LANES = [Lane("#1", 0.0, 9.0, [Span("forward", 1.0, 2.0)]), Lane("tools", 3.0, 4.0, ())]
COLUMNS = [Column[str]("name", 4, str), Column[str]("text", 0, str)]
SHOWN = (
    (StatusBar(), [Heading("LIVE", "good", "demo", [[Piece("7 tok/s")]], "a notice")]),
    (TabBar([("a", "Overview"), ("b", "Logs")], "a"), None),
    (KeyBar(), [[("q", "quit"), ("k", "kill"), ("?", "help")]]),
    (ReplayBar(), [Place(True, 0.5, "00:01.0", "00:02.0", "1x")]),
    (Chart("Price", "warn", str, id="chart"), [[1.0, 2.0, 3.0], 2.5]),
    (ShareBar("Pool", id="pool"), [SHARES]),
    (PageMap(id="map"), [SHARES, SHARES]),
    (StatRow(id="figures"), [(Stat("tokens", "7", "tok/s", "good"), Stat("pages", "8", "", "main"))]),
    (Timeline(id="timeline"), [LANES, 0.0, 9.0]),
    (Transcript("Output", id="output"), [[Output("stdout", "one two\nthree", 0.0)]]),
    (Table[str](COLUMNS, str, title="Rows", id="table"), [["one", "two", "three"]]),
)


@pytest.mark.parametrize(("widget", "shown"), SHOWN, ids=[widget.id for widget, _ in SHOWN])
def test_a_widget_paints_in_any_room(widget, shown):
    if shown is not None:
        widget.show(*shown)
    for width, height in product(range(24), range(8)):
        assert isinstance(widget.paint(width, height), list)


def test_a_trend_without_room_has_no_rows():
    assert braille_rows([1.0, 2.0, 3.0], 0, 4, 3.0) == braille_rows([1.0, 2.0, 3.0], -5, 4, 3.0) == []


@pytest.mark.parametrize(
    ("needed", "width", "widths"),
    [
        ([5, 5, 5], 30, [10, 10, 10]),
        ([16, 5, 5], 30, [16, 7, 7]),
        ([40, 5, 8], 30, [17, 5, 8]),
        ([40, 40, 8], 30, [11, 11, 8]),
        ([5, 5], 0, [0, 0]),
        ([], 30, []),
    ],
)
def test_figures_have_the_room_they_need_and_are_cut_the_widest_first(needed, width, widths):
    assert column_widths(needed, width) == widths


def test_a_page_that_several_hold_is_hatched_and_each_says_whose_it_is():
    pages = PageMap(id="map")
    shares = [Share("a", 2, "owner1", text="of a"), Share("a", 1, "owner1", hatched=True, text="of both")]
    pages.show(shares, shares[:1])
    cells, *_ = pages.paint(6, 3)
    assert "".join(piece.text for piece in cells) == "■ ■ ▨ "
    assert [pages.text_at(x, 0) for x in (0, 2, 5, 6)] == ["of a", "of a", "of both", ""]
    large, *_, last = pages.paint(40, 8)[:-2]
    assert "▒" in large[1].text
    assert "░" in last[1].text


def test_columns_take_their_share_of_what_is_left():
    columns = [Column[str]("a", 4, str), Column[str]("b", 0, str), Column[str]("c", 0, str, share=2)]
    table = Table[str](columns, str, title="Rows", id="table")
    ((header, *_),) = [table.paint(37, 1)]
    title = "".join(piece.text for piece in header)
    assert [title.index(column.title) for column in columns] == [0, 5, 16]
    assert len(title) == 37


def test_columns_grow_into_free_width_and_leave_some_to_the_column_without_a_width():
    columns = [Column[str]("a", 4, str, most=30), Column[str]("b", 6, str, most=10), Column[str]("c", 0, str)]
    assert [room for _, room in laid_out(columns, 40)] == [4, 6, 27]
    assert [room for _, room in laid_out(columns, 60)] == [15, 10, 32]
    assert [room for _, room in laid_out(columns, 100)] == [30, 10, 57]


def test_a_time_axis_says_how_long_ago_at_whole_steps():
    axis = time_axis(60, 0.5)
    assert axis.split() == ["-30s", "-20s", "-10s", "now"]
    assert (axis.index("-20s"), axis.index("-10s"), len(axis)) == (20, 40, 60)


def test_a_table_stays_at_its_top_until_an_item_is_chosen():
    table = Table[str](COLUMNS, str, title="Rows", id="table")
    table.show(["one", "two"])
    table.show(["zero", "one", "two"])
    assert table.selected == "zero"
    table.select("one")
    table.show(["two", "zero", "one"])
    assert table.selected == "one"
