import pytest

from pie_mlx.tui.model.text_filter import text_filter

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
