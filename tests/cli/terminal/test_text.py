import pytest

from pie_mlx.cli.terminal.text import size, table


def test_columns_are_as_wide_as_their_widest_cell():
    assert table(("A", "B"), [("long", "x"), ("", "y")]) == "A     B\nlong  x\n      y"


@pytest.mark.parametrize(
    ("count_bytes", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 30, "5.0 GiB"), (1 << 60, "1048576.0 TiB")],
)
def test_sizes_are_shown_in_a_fitting_unit(count_bytes, shown):
    assert size(count_bytes) == shown
