"""Clocks, random numbers, output and streams as components use them."""

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.wasi import cli, clocks, random
from pie_mlx.wasm.wasi.poll import Pollable, poll
from pie_mlx.wasm.wasi.streams import InputStream, OutputStream


def test_output_is_written_in_whole_characters(capsys):
    stream = cli.get_stdout()
    assert stream.check_write() > 0
    stream.write("é".encode()[:1])
    stream.blocking_write_and_flush("é!".encode()[1:])
    cli.get_stderr().write(b"err")
    assert capsys.readouterr() == ("é!", "err")


def test_there_is_no_input_argument_or_terminal(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://secret")
    assert cli.get_arguments() == []
    assert "http_proxy" not in dict(cli.get_environment())
    assert cli.initial_cwd() == "/scratch"
    assert cli.get_terminal_stdin() is cli.get_terminal_stdout() is cli.get_terminal_stderr() is None
    with pytest.raises(WitError):
        cli.get_stdin().blocking_read(1)


@pytest.mark.parametrize(("end", "code"), [(lambda: cli.exit((True, None)), 0), (lambda: cli.exit((False, None)), 1)])
def test_a_component_can_end_itself(end, code):
    with pytest.raises(SystemExit) as raised:
        end()
    assert raised.value.code == code


def test_timers_are_waited_for_in_any_order():
    soon, late = clocks.subscribe_duration(1), clocks.subscribe_duration(10**12)
    assert poll([late, soon]) == [1]
    assert not late.ready()
    del late
    clocks.subscribe_instant(0).block()


def test_waiting_for_nothing_is_an_error():
    with pytest.raises(InvalidArgumentError):
        poll([])


def test_random_numbers_differ_and_are_bounded():
    assert len({random.get_random_u64() for _ in range(9)}) == 9
    assert len(random.get_insecure_random_bytes(12)) == 12
    assert len(random.insecure_seed()) == 2
    with pytest.raises(InvalidArgumentError):
        random.get_random_bytes(1 << 40)


def test_streams_are_joined():
    pieces, written = [b"ab", b"cdef"], bytearray()
    source = InputStream(lambda size: pieces.pop(0) if pieces else None)
    sink = OutputStream(written.extend)
    assert (source.skip(2), sink.blocking_splice(source, 9)) == (2, 4)
    sink.blocking_write_zeroes_and_flush(2)
    assert bytes(written) == b"cdef\0\0"
    assert isinstance(sink.subscribe(), Pollable)
    with pytest.raises(WitError):
        sink.splice(source, 1)


def test_an_error_of_the_system_is_the_streams():
    def fail(data):
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(WitError) as raised:
        OutputStream(fail).write(b"x")
    kind, error = raised.value.value
    assert (kind, "Broken pipe" in error.to_debug_string()) == ("last-operation-failed", True)
