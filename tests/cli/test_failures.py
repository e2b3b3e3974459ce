import pytest

from pie_mlx.cli.failures import reason
from pie_mlx.events import ProcessFailed


@pytest.mark.parametrize(
    ("error_type", "message", "shown"),
    [
        ("ValueError", "no", "ValueError: no"),
        ("ProcessCancelledError", "Signal", "ProcessCancelledError: it was ended by 'pie kill' or another client"),
        ("ProcessCancelledError", "still running after 1 s", "ProcessCancelledError: still running after 1 s"),
        ("ValueError", "Signal", "ValueError: Signal"),
    ],
)
def test_the_word_for_clients_is_a_sentence_for_people(error_type, message, shown):
    assert reason(ProcessFailed("p", error_type, message)) == shown
