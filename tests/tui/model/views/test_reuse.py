"""What the engine saved, over the last minutes."""

from pie_mlx.events import PassCompleted, TickCompleted
from pie_mlx.tui.model.views.reuse import reuse_windows
from pie_mlx.tui.screens.engine import ahead_rows, miss_rows, prompt_rows
from tests.tui.stream import CREATED, LAUNCHED, STARTED, after


def texts(rows):
    return {row[0].text.strip(): [piece.text for piece in row[1:]] for row in rows}


def test_prompts_misses_drafts_and_steps_ahead_are_told_by_window():
    prompt = PassCompleted("p", 1, 48, 48, 1, loaded_tokens=16, miss="m", miss_reason="differs")
    draft = PassCompleted("p", 1, 0, 1, 1, guessed_tokens=4, guessed_right=1, forced_tokens=3)
    tick = TickCompleted(1, 3, 3, 0, 0.1, ahead=True, dropped=1)
    windows = reuse_windows(after(STARTED, LAUNCHED, CREATED, prompt, draft, tick))
    assert texts(prompt_rows(windows)) == {
        "tokens": ["96"] * 3,
        "from memory": ["33%"] * 3,
        "from disk": ["17%"] * 3,
        "replayed": ["0%"] * 3,
        "computed": ["50%"] * 3,
    }
    assert texts(miss_rows(windows)) == {"differs": ["1"] * 3}
    assert texts(ahead_rows(windows))["accepted"] == ["25%"] * 3
    assert texts(ahead_rows(windows))["forced"] == ["3"] * 3
    assert texts(ahead_rows(windows))["kept"] == ["75%"] * 3


def test_nothing_so_far_is_a_dot_and_no_percentage():
    windows = reuse_windows(after(STARTED))
    assert miss_rows(windows) == []
    assert {cell for cells in texts([*prompt_rows(windows), *ahead_rows(windows)]).values() for cell in cells} == {"·"}
