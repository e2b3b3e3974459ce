"""When a cassette is recorded, and when it is replayed."""

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.testing.cassettes import Cassette, CassetteError


async def greet(input):
    return f"hello {input['name']}"


@pytest.fixture
def play(scripted, tmp_path):
    def play(mode, program=greet, name="Ada"):
        cassette = Cassette(tmp_path / "greet.pie", mode)
        return cassette.run(program, {"name": name}, lambda path: scripted.run(program, {"name": name}, record=path))

    return play


def test_once_records_what_is_missing_and_replays_it_afterwards(play):
    assert not play("once").replayed
    again = play("once")
    assert (again.replayed, again.result) == (True, "hello Ada")


def test_all_records_again(play):
    assert not play("once").replayed
    assert not play("all").replayed


def test_none_records_nothing(play):
    with pytest.raises(InvalidArgumentError, match="no such cassette"):
        play("none")


def test_another_input_is_not_what_was_recorded(play):
    play("once")
    with pytest.raises(CassetteError, match=r"recorded with the input \{'name': 'Ada'\}, not \{'name': 'Bob'\}"):
        play("once", name="Bob")


def test_another_result_fails_with_a_diff(play):
    async def shout(input):
        return f"HELLO {input['name']}"

    play("once")
    with pytest.raises(CassetteError, match="the result differs"):
        play("once", shout)


def test_a_program_that_fails_leaves_no_cassette(play, tmp_path):
    async def fail(input):
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        play("once", fail)
    assert list(tmp_path.iterdir()) == []
