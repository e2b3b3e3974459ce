"""What is kept of a server's standard error."""

import asyncio

from pie_mlx.runtime.mcp.stderr_tail import LINE_LIMIT, LINES, StderrTail


def test_the_last_lines_are_kept() -> None:
    tail = StderrTail()
    for number in range(LINES + 10):
        tail.data_received(f"line {number}\r\n".encode())
    assert tail.lines[0] == "line 10"
    assert len(tail.lines) == LINES


def test_a_line_may_come_in_pieces_and_end_without_a_newline() -> None:
    tail = StderrTail()
    for piece in (b"gr\xc3", b"\xbc\xc3\x9f\nla", b"st"):
        tail.data_received(piece)
    assert tail.lines == ("grüß", "last")


def test_a_line_without_end_and_bytes_that_are_no_text_are_bounded() -> None:
    tail = StderrTail()
    for _ in range(100):
        tail.data_received(b"\xff" * 10_000)
    assert tail.lines == ("\ufffd" * LINE_LIMIT,)


async def test_a_pipe_is_read_to_its_end() -> None:
    tail = StderrTail()
    with await tail.open() as end:
        end.write("one\ntwo\n")
    while len(tail.lines) < 2:  # noqa: ASYNC110 - nothing tells that a line has come
        await asyncio.sleep(0)
    assert tail.lines == ("one", "two")
    tail.close()
