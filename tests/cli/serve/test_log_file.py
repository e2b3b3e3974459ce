"""The log of a detached engine has a bound."""

import os

import pytest

from pie_mlx.cli.serve import log_file
from pie_mlx.cli.serve.log_file import APPENDING, LOG_NAME, OLD_LOG_NAME, begin_anew_if_long
from pie_mlx.cli.terminal.queued_errors import QueuedText

LINE = "x" * 9 + "\n"


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """Descriptors that write to the log, as standard output and standard error of the engine do."""
    monkeypatch.setattr(log_file, "MOST_BYTES", 5 * len(LINE))
    first = os.open(tmp_path / LOG_NAME, APPENDING, 0o600)
    both = first, os.dup(first)
    yield both
    for descriptor in both:
        os.close(descriptor)


def lines(path):
    return path.read_text().count("\n")


def test_a_log_that_is_too_long_goes_on_in_a_new_file_beside_the_old_one(tmp_path, outputs):
    for _ in range(14):
        os.write(outputs[1], LINE.encode())
        begin_anew_if_long(tmp_path, outputs)
    os.write(outputs[0], LINE.encode())
    assert sorted(os.listdir(tmp_path)) == [LOG_NAME, OLD_LOG_NAME]
    assert (lines(tmp_path / OLD_LOG_NAME), lines(tmp_path / LOG_NAME)) == (6, 3)
    assert (tmp_path / LOG_NAME).stat().st_mode & 0o777 == 0o600


def test_no_line_is_lost_between_two_files(tmp_path, outputs):
    said = [f"line {number:03}\n" for number in range(11)]
    with QueuedText(outputs[1], lambda: begin_anew_if_long(tmp_path, outputs)) as text:
        for line in said:
            text.write(line)
    assert (tmp_path / LOG_NAME).exists()
    found = [path.read_text() for path in (tmp_path / OLD_LOG_NAME, tmp_path / LOG_NAME) if path.exists()]
    assert "".join(found) == "".join(said)


def test_what_writes_to_another_file_stays_there(tmp_path, outputs):
    with (tmp_path / "mine.txt").open("a+", buffering=1) as file:
        file.write(LINE * 9)
        begin_anew_if_long(tmp_path, (outputs[0], file.fileno()))
        file.write(LINE)
    assert lines(tmp_path / "mine.txt") == 10
    assert not (tmp_path / OLD_LOG_NAME).exists()


def test_a_disk_that_refuses_a_new_file_leaves_the_log_as_it_is(tmp_path, outputs, monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "no space left")

    os.write(outputs[1], LINE.encode() * 9)
    with monkeypatch.context() as full:
        full.setattr(os, "open", refuse)
        begin_anew_if_long(tmp_path, outputs)
    os.write(outputs[1], LINE.encode())
    assert lines(tmp_path / LOG_NAME) == 10
