import pytest

from pie_mlx.cli.options import Common
from pie_mlx.cli.run.failures import reason, report_failed
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


@pytest.mark.parametrize(
    ("error_type", "message", "hint"),
    [
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'notes.txt'", "as input"),
        ("PermissionError", "[Errno 13] Permission denied: '/etc/passwd'", "--allow-fs"),
        ("PermissionError", "[Errno 1] Operation not permitted", "starts no processes"),
        ("gaierror", "[Errno -3] Temporary failure in name resolution", "--allow-network"),
        ("URLError", "<urlopen error [Errno 1] Operation not permitted>", "--allow-network"),
        ("ModuleNotFoundError", "No module named 'numpyy'", "pie check"),
    ],
)
def test_what_the_walls_around_a_program_bring_about_is_explained(error_type, message, hint, capsys):
    report_failed("program 'p'", ProcessFailed("p", error_type, message), Common())
    assert hint in capsys.readouterr().err.partition("try: ")[2]


def test_other_errors_of_a_program_have_no_hint(capsys):
    report_failed("program 'p'", ProcessFailed("p", "ValueError", "no"), Common())
    assert capsys.readouterr().err == "pie: program 'p': ValueError: no\n"
