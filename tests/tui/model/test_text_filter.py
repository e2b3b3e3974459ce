import pytest

from pie_mlx.tui.model.text_filter import best_first, text_filter

TEXTS = ("Reader of ada", "panel (grace)", "reader of alan")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("READER", (0, 2)),
        ("of a(da|lan)$", (0, 2)),
        ("(grace", (1,)),
        ("!reader", (1,)),
        ("!(grace", (0, 2)),
        ("~rdrl", (2,)),
        ("!~rdr", (1,)),
        ("~", (0, 1, 2)),
        ("!", ()),
        ("", (0, 1, 2)),
    ],
)
def test_a_filter_keeps_what_it_says(written, kept):
    assert tuple(place for place, text in enumerate(TEXTS) if text_filter(written)(text)) == kept


def test_what_begins_with_the_letters_comes_first_then_what_contains_them_then_what_has_them_in_order():
    names = ["maria rate", "empire", "xyz", "market"]
    assert best_first("mar", names, str) == ["maria rate", "market"]
    assert best_first("ire", names, str) == ["empire", "maria rate"]
    assert best_first("mae", names, str) == ["maria rate", "market"]
    assert best_first("et", ["elite", "market"], str) == ["market", "elite"]
