"""Counts, as people write them."""

from pie_mlx.plural import plural


def test_one_of_something_is_no_plural():
    assert [plural(number, "page") for number in (0, 1, 2, 1234)] == ["0 pages", "1 page", "2 pages", "1,234 pages"]


def test_a_verb_agrees():
    assert [plural(number, "entry is", "entries are") for number in (1, 2)] == ["1 entry is", "2 entries are"]
