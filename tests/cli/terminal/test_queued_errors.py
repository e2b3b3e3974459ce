"""Standard error that nobody reads, reads late, or has closed."""

import contextlib
import os
import sys

import pytest

from pie_mlx.cli.terminal.queued_errors import QUEUE_CHARACTERS, QueuedText, queued_errors


@pytest.fixture
def pipe():
    """Both ends of a pipe; a test may close one itself."""
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):  # the test closed it
            os.close(end)


def everything(reader, writer):
    """What was written, once nobody has the writer's end."""
    os.close(writer)
    with open(os.dup(reader), encoding="utf-8") as file:
        return file.read()


def test_all_that_was_written_arrives_in_order(pipe):
    reader, writer = pipe
    text = QueuedText(writer)
    lines = [f"line {number}\n" for number in range(1000)]
    for line in lines:
        print(line, end="", file=text)
    text.close()
    assert everything(reader, writer) == "".join(lines)


def test_a_writer_does_not_wait_for_a_reader_and_what_was_dropped_is_told(pipe):
    reader, writer = pipe
    text = QueuedText(writer)
    for _ in range(5):
        text.write("x" * (QUEUE_CHARACTERS // 2))
    text.write("told\n")
    read = []
    while not read or b"standard error" not in read[-1]:
        read.append(os.read(reader, 2**24))
    text.close()
    written = b"".join(read).decode()
    dropped = int(written.partition("pie: ")[2].partition(" ")[0])
    assert written.count("x") + written.count("told\n") * 5 + dropped == 5 * (QUEUE_CHARACTERS // 2) + 5
    assert dropped >= QUEUE_CHARACTERS // 2


def test_a_closed_reader_is_no_error(pipe):
    reader, writer = pipe
    os.close(reader)
    text = QueuedText(writer)
    text.write("nobody reads this\n")
    text.close()
    assert text.closed


def test_text_that_utf_8_cannot_encode_is_written_escaped(pipe):
    reader, writer = pipe
    text = QueuedText(writer)
    text.write("\ud800\n")
    text.close()
    assert everything(reader, writer) == "\\ud800\n"


def test_standard_error_is_itself_again_after_the_block(capfd):
    before = sys.stderr
    with queued_errors():
        print("queued", file=sys.stderr)
    assert sys.stderr is before
    assert capfd.readouterr().err == "queued\n"


def test_a_standard_error_that_is_no_file_stays_as_it_is(capsys):
    with queued_errors():
        print("direct", file=sys.stderr)
        assert capsys.readouterr().err == "direct\n"
